"""A list whose rows stand in groups, each under a head row that the cursor steps over."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from textual.content import Content

from agent_tui.ui.widgets.lists.rows import DrawRow, Rows


class GroupedRows(Rows):
    """A virtual list of items; without groups, or with only one, it has no head rows.

    Args:
        draw: gives the text of an item from its index and the width in cells.
        empty: what is said where there are no items.
    """

    def __init__(
        self,
        draw: DrawRow,
        *,
        empty: Content,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(empty=empty, id=id)
        self._draw_item = draw
        self._names: list[str] = []
        self._heads: list[int] = []  # the rows of the heads, from the top

    @property
    def item(self) -> int:
        """The index of the item under the cursor."""
        return self.cursor - bisect_right(self._heads, self.cursor)

    def show_groups(self, count: int, groups: Sequence[tuple[str, int]], item: int) -> None:
        """Show so many items, the cursor on one of them.

        ``groups``: the name of each with its first item, from the top.
        """
        shown = groups if len(groups) > 1 else ()
        self._names = [name for name, _ in shown]
        self._heads = [first + before for before, (_, first) in enumerate(shown)]
        self.show_rows(count + len(self._heads), cursor=self._row_of(item))

    def draw_row(self, index: int, width: int) -> Content:
        head = bisect_left(self._heads, index)
        if head < len(self._heads) and self._heads[head] == index:
            return Content.styled(f"  {self._names[head]}", "bold $muted")
        return self._draw_item(index - head, width)

    def _row_of(self, item: int) -> int:
        row = item
        for head in self._heads:
            if head > row:
                break
            row += 1
        return row

    def steps_over(self, index: int) -> bool:
        place = bisect_left(self._heads, index)
        return place < len(self._heads) and self._heads[place] == index
