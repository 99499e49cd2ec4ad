"""The agent's list of what is to do, on screen as soon as there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.core.records import Record
    from agent_tui.core.todo import TodoItem
    from agent_tui.ui.conversation.panes import Panes
    from agent_tui.ui.widgets.panes.todo_panel import TodoPanel


def show_todo(panes: Panes, items: Sequence[TodoItem]) -> None:
    """Show a list over the prompt, or beside the conversation; an empty one shows nothing."""
    if panes.side is not None:
        panes.side.panel.show_todo(items)
    panel = todo_panel(panes)
    if panel is None and items:
        from agent_tui.ui.widgets.panes.todo_panel import TodoPanel

        panel = TodoPanel()
        panes.prompt_box.screen.mount(panel, before=panes.prompt_box)
    if panel is not None:
        panel.show_items(items)


def show_last_todo(panes: Panes, path: Sequence[Record]) -> None:
    """Show the list that is in force where a path ends."""
    from agent_tui.core.todo import last_todo

    show_todo(panes, last_todo(path))


def todo_panel(panes: Panes) -> TodoPanel | None:
    """The panel, if there has been a list."""
    found = panes.prompt_box.screen.query("TodoPanel")
    if not found:
        return None
    from agent_tui.ui.widgets.panes.todo_panel import TodoPanel

    return found.first(TodoPanel)
