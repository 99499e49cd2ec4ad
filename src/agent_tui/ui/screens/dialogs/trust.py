"""The question whether what a folder ships for agents may be used."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from textual import events

from agent_tui.core.text import reveal
from agent_tui.ui.screens.dialogs.answer_guard import AnswerGuard
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.widgets.lists.rows import Rows

_MOST_SHOWN = 8


class TrustScreen(ConfirmScreen):
    """Is dismissed with True when the folder is trusted; Esc and Enter leave it untrusted."""

    def __init__(self, folder: str, shipped: Sequence[str]) -> None:
        names = "\n".join(f"  {reveal(name)}" for name in shipped[:_MOST_SHOWN])
        more = f"\n  and {len(shipped) - _MOST_SHOWN} more" if len(shipped) > _MOST_SHOWN else ""
        super().__init__(
            "Trust this folder?",
            f"{reveal(folder)} ships files that tell the agent what to do:\n{names}{more}\n"
            "Without trust everything works, and none of them is used.",
            "Trust the folder",
            "Continue without",
        )
        self._guard = AnswerGuard()
        self._press_counts = False

    def on_mount(self) -> None:
        self.query_one(Rows).cursor = 1
        self.call_after_refresh(lambda: self._guard.show(monotonic()))

    def on_key(self, event: events.Key) -> None:
        """A key that was on its way before the question was seen is no answer to it."""
        if not self._guard.accepts(event.time, monotonic()):
            event.stop()
            event.prevent_default()

    def _forward_event(self, event: events.Event) -> None:
        if isinstance(event, events.MouseDown):
            self._press_counts = self._guard.accepts(event.time, monotonic())
        elif isinstance(event, events.Click) and not self._press_counts:
            return
        super()._forward_event(event)
