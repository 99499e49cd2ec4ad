"""Finding text in the conversation: in folded blocks and in those nobody has seen as well.

What compares text is imported at the first search, so that the first answer need not wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter

from rich.segment import Segment
from textual.strip import Strip

from agent_tui.ui.renderers.lines import Row
from agent_tui.ui.themes.palette import Palette
from agent_tui.ui.widgets.timeline.block_cursor import BlockCursor
from agent_tui.ui.widgets.timeline.drawn_blocks import Place

_SLICE_SECONDS = 0.004
_NEAR_RECORDS = 64
_HERE = "▶"


class FoundText(BlockCursor):
    """A timeline that goes to the blocks that hold a text and marks it in them."""

    newest_first = True

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._wanted = ""
        self._marks_match = False
        self._found: int | None = None
        self._row_in_found = 0
        self._known_rows: tuple[Sequence[Row], list[int]] = ((), [])

    async def find(self, text: str, tell: Callable[[list[int]], None]) -> list[int]:
        """The blocks that hold a text, the newest first; keys get through while it searches.

        Args:
            text: what to look for, capitals or not.
            tell: hears of what was found so far.
        """
        from agent_tui.ui.renderers.finding import wanted_words

        self._wanted, self._marks_match = wanted_words(text), False
        self._forget_found()
        found: list[int] = []
        began = perf_counter()
        for index in range(len(self._blocks) - 1, -1, -1):
            if self._holds_wanted(index):
                found.append(index)
            if perf_counter() - began > _SLICE_SECONDS:
                tell(found)
                await asyncio.sleep(0)
                began = perf_counter()
        return found

    def stop_finding(self) -> None:
        """Remove the marks."""
        self._wanted = ""
        self._forget_found()
        self.paint()

    def _forget_found(self) -> None:
        self._found, self._known_rows = None, ((), [])

    def show_match(self, place: int, text: str) -> None:
        """Bring a record of the log into view, given by its place there, and mark a text in it.

        The mark stays until the focus goes elsewhere. What a tool answered is shown with its call,
        before the record of the answer.
        """
        from agent_tui.ui.renderers.finding import wanted_words

        first = self._blocks.first_of_log
        index = first + place
        self._wanted, self._marks_match = wanted_words(text), True
        self._forget_found()
        near = range(min(index, len(self._blocks) - 1), max(first - 1, index - _NEAR_RECORDS), -1)
        holder = next((each for each in near if text and self._holds_wanted(each)), None)
        if holder is None:
            self.go_to_record(index)
        else:
            self.show_found(holder)

    def _holds_wanted(self, index: int) -> bool:
        from agent_tui.ui.renderers.finding import block_holds

        block = self._blocks.folded_block(index)
        return block is not None and block_holds(block, self._wanted)

    def on_blur(self) -> None:
        if self._marks_match:
            self._marks_match = False
            self.stop_finding()

    def show_found(self, index: int, *, last: bool = False) -> bool:
        """Bring the first or last row with the text in a block into view, opening the block.

        False where the text is in a part of it that no row shows, or the block is there no more.
        """
        if index >= len(self._blocks):
            return False
        if self._blocks.block(index) is None:
            self._blocks.fold_earlier()
        rows = self._rows_with_text(index)
        if not rows and not self._blocks.is_expanded(index):
            self._blocks.open_for_now(index)
            rows = self._rows_with_text(index)
        self._found = self._cursor = index
        self._row_in_found = len(rows) - 1 if rows and last else 0
        self._show_row_of_found()
        return bool(rows)

    def step_in_found(self, step: int) -> bool:
        """Go up (1) or down (-1) to the next row with the text in the same block, if one is."""
        row = self._row_in_found - step
        if (
            self._found_place is None
            or self._found is None
            or not 0 <= row < len(self._rows_with_text(self._found))
        ):
            return False
        self._row_in_found = row
        self._show_row_of_found()
        return True

    @property
    def place_in_found(self) -> tuple[int, int]:
        """Which row with the text in its block is shown, and how many it has."""
        there = self._found_place
        rows = () if there is None else self._rows_with_text(there[0])
        return self._row_in_found + 1, len(rows)

    def _show_row_of_found(self) -> None:
        place = self._found_place or (self._found or 0, 0)
        self.place(self._blocks.walk(place, -(self.view_height // 3)))

    @property
    def _found_place(self) -> Place | None:
        """The row where the reader is; rows are others after a resize, their order is not."""
        if self._found is None or self._found >= len(self._blocks):  # or a revert took it away
            return None
        rows = self._rows_with_text(self._found)
        return (self._found, rows[min(self._row_in_found, len(rows) - 1)]) if rows else None

    def _rows_with_text(self, index: int) -> list[int]:
        """The rows of a block that hold the text, from above."""
        rows = self._blocks.rows(index)
        if rows is not self._known_rows[0] or self._blocks.is_open(index):  # that one's rows grow
            from agent_tui.ui.renderers.finding import rows_with

            texts = ["".join(text for text, _, _ in row) for row in rows]
            self._known_rows = rows, sorted(rows_with(texts, self._wanted))
        return self._known_rows[1]

    def _compose_strips(self, palette: Palette) -> list[Strip]:
        strips = super()._compose_strips(palette)
        if not self._wanted:
            return strips
        from agent_tui.ui.renderers.finding import mark_text

        current = self._found_place
        marked = []
        for place, strip in zip(self._reading.view, strips, strict=True):
            is_current = place == current
            row = mark_text(strip, self._wanted, palette, current=is_current)
            if is_current:
                sign = Segment(_HERE, palette.attention)
                row = Strip([*row.crop(0, self._left), sign, *row.crop(self._left + 1)])
            marked.append(row)
        return marked
