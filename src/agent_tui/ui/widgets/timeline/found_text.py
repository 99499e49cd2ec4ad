"""Finding text in the conversation: in folded blocks and in those nobody has seen as well.

What compares text is imported when somebody looks for one: no first answer waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter

from textual.strip import Strip

from agent_tui.ui.themes.palette import Palette
from agent_tui.ui.widgets.timeline.block_cursor import BlockCursor

_SLICE_SECONDS = 0.004
_NEAR_RECORDS = 64


class FoundText(BlockCursor):
    """A timeline that goes to the blocks that hold a text and marks it in them."""

    newest_first = True

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._wanted = ""
        self._marks_match = False

    async def find(self, text: str, tell: Callable[[list[int]], None]) -> list[int]:
        """The blocks that hold a text, the newest first; keys get through while it searches.

        Args:
            text: what to look for, capitals or not.
            tell: hears of what was found so far.
        """
        from agent_tui.ui.renderers.finding import wanted_words

        self._wanted, self._marks_match = wanted_words(text), False
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
        """Mark nothing any longer."""
        self._wanted = ""
        self.paint()

    def show_match(self, index: int, text: str) -> None:
        """Bring a record into view and mark a text in it, until the focus goes elsewhere.

        What a tool answered is shown with its call, before the record of the answer.
        """
        from agent_tui.ui.renderers.finding import wanted_words

        self._wanted, self._marks_match = wanted_words(text), True
        near = range(min(index, len(self._blocks) - 1), max(-1, index - _NEAR_RECORDS), -1)
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

    def show_found(self, index: int) -> bool:
        """Bring the text in a block into view, opening the block where it is folded away.

        False where the text is in a part of it that no row shows.
        """
        if self._blocks.block(index) is None:
            self._blocks.fold_earlier()
        offset = self._row_with_text(index)
        if offset is None and not self._blocks.is_expanded(index):
            self._blocks.toggle(index)
            offset = self._row_with_text(index)
        self._cursor = index
        self._following = False
        self.place(self._blocks.walk((index, offset or 0), -(self.view_height // 3)))
        return offset is not None

    def _row_with_text(self, index: int) -> int | None:
        from agent_tui.ui.renderers.finding import rows_with

        rows = ["".join(text for text, _, _ in row) for row in self._blocks.rows(index)]
        return min(rows_with(rows, self._wanted), default=None)

    def _compose_strips(self, palette: Palette) -> list[Strip]:
        strips = super()._compose_strips(palette)
        if not self._wanted:
            return strips
        from agent_tui.ui.renderers.finding import mark_text

        return [mark_text(strip, self._wanted) for strip in strips]
