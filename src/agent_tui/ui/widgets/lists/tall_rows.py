"""A list whose items take several rows each: the cursor goes from one item to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from textual import events
from textual.content import Content

from agent_tui.ui.widgets.lists.rows import Rows

DrawLine: TypeAlias = Callable[[int, int, int], Content]
"""Gives a line of an item from the item's index, the line's, and the width in cells."""


class TallRows(Rows):
    """A virtual list of items; the lines of one are one row to the cursor and to the mouse.

    Args:
        draw: gives the text of a line of an item.
        lines: how many lines an item has.
        gap: whether a blank one follows them.
        empty: what to say where there is nothing.
    """

    def __init__(
        self,
        draw: DrawLine,
        *,
        lines: int,
        gap: bool = False,
        empty: Content | None = None,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(empty=empty, id=id)
        self._draw_line = draw
        self._lines = lines
        self._height = lines + gap

    @property
    def item(self) -> int:
        """The index of the item under the cursor."""
        return self.cursor // self._height

    def show_items(self, count: int, *, item: int | None = None) -> None:
        """Show a new number of items, all drawn again; the cursor stays where possible."""
        self.show_rows(count * self._height, cursor=None if item is None else item * self._height)

    def draw_row(self, index: int, width: int) -> Content:
        item, line = divmod(index, self._height)
        return self._draw_line(item, line, width) if line < self._lines else Content("")

    def steps_over(self, index: int) -> bool:
        return index % self._height != 0

    def _row_state(self, index: int) -> str:
        item, line = divmod(index, self._height)
        return super()._row_state(item * self._height) if line < self._lines else ""

    def _index_at(self, event: events.MouseEvent) -> int:
        offset = event.get_content_offset(self)
        index = -1 if offset is None else offset.y + round(self.scroll_y)
        item, line = divmod(index, self._height)
        return item * self._height if 0 <= index < self.count and line < self._lines else -1

    def _show_cursor(self) -> None:
        height, top = self.scrollable_content_region.height, round(self.scroll_y)
        if height and self.cursor < top:
            self._scroll_now(self.cursor)
        elif height and self.cursor + self._lines > top + height:
            self._scroll_now(self.cursor + self._lines - height)
