"""The todo list over the prompt: one row for each item, or one row for all."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from agent_tui.core.text import first_line
from agent_tui.core.todo import TodoItem, TodoState

MARKS: dict[TodoState, str] = {"done": "✓", "doing": "◐", "open": "○"}
STYLES: dict[TodoState, str] = {"done": "$muted", "doing": "$user bold", "open": "$foreground"}
_MOST_ROWS = 8
_LOW = 20
_WIDEST = 112
"""As wide as the conversation, which stands above it."""
_EDGE = 1
"""What its scroll bar takes there."""


class TodoPanel(Widget, can_focus=False):
    """The list with its state; a click folds it into one row. Hidden while there is nothing to do.

    Where the screen is low it is folded anyway.
    """

    ALLOW_SELECT = False

    folded: reactive[bool] = reactive(default=False)

    def __init__(self) -> None:
        super().__init__()
        self.items: tuple[TodoItem, ...] = ()
        self.display = False

    def show_items(self, items: Sequence[TodoItem]) -> None:
        """Show this list."""
        self.items = tuple(items)
        self.display = bool(items)
        self.fit()

    def drop_done(self) -> None:
        """Another turn begins: hide a list on which everything is done."""
        if all(item.state == "done" for item in self.items):
            self.show_items(())

    def watch_folded(self) -> None:
        self.fit()

    def fit(self) -> None:
        """Take as many rows as there are items to show."""
        self.styles.height = 1 + len(self._shown())
        self.refresh(layout=True)

    def _shown(self) -> range:
        """Which of the items have rows: all, or those around what is done now."""
        height = self.app.size.height
        if self.folded or height < _LOW:
            return range(0)
        most = min(_MOST_ROWS, height // 4)
        now = next((n for n, item in enumerate(self.items) if item.state != "done"), 0)
        first = max(0, min(now - 1, len(self.items) - most))
        return range(first, min(len(self.items), first + most))

    def render(self) -> Content:
        shown = self._shown()
        room = self.size.width - _EDGE
        width = min(_WIDEST, room)
        margin = " " * (_EDGE + (room - width) // 2)
        rows = [self._head(width, len(shown)), *(self._row(index, width) for index in shown)]
        return Content("\n").join([Content.assemble(margin, row) for row in rows])

    def _head(self, width: int, shown: int) -> Content:
        done = sum(item.state == "done" for item in self.items)
        count = f"{done} of {len(self.items)} done"
        hidden = len(self.items) - shown
        now = next((item.text for item in self.items if item.state == "doing"), "")
        about = f" · {first_line(now, 400)}" if not shown and now else ""
        more = f" · {hidden} not shown" if shown and hidden else ""
        head = Content.assemble(("  To do  ", "$user"), (f"{count}{more}", "$muted"), about)
        hint = "/todo to unfold" if not shown else "/todo to fold"
        room = width - len(hint) - 3
        head = head.truncate(max(0, room), ellipsis=True)
        gap = " " * max(0, width - head.cell_length - len(hint) - 2)
        return Content.assemble(head, gap, (hint if room > 30 else "", "$faint"))

    def _row(self, index: int, width: int) -> Content:
        item = self.items[index]
        text = first_line(item.text, 400)
        row = Content.assemble((f"  {MARKS[item.state]} ", "$ok"), (text, STYLES[item.state]))
        return row.truncate(width, ellipsis=True)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.folded = not self.folded
