"""The keys of a list, pressed while a field beside it has the focus."""

from __future__ import annotations

from textual import events

from agent_tui.ui.widgets.lists.rows import Rows

_KEYS = {"up": -1, "down": 1, "pageup": -1, "pagedown": 1}


def take_list_key(event: events.Key, rows: Rows, *, wraps: bool = False) -> None:
    """Move the cursor of a list where the key means that; else leave the key to the field.

    ``wraps``: behind the last row comes the first.
    """
    step = _KEYS.get(event.key)
    if step is None:
        return
    event.stop()
    event.prevent_default()
    if event.key.startswith("page"):
        rows.action_page(step)
    elif wraps and rows.count:
        rows.cursor = (rows.cursor + step) % rows.count
    else:
        rows.action_move(step)
