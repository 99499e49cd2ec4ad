"""Finding text in the conversation: in folded blocks and in those nobody has seen as well."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agent_tui.ui.blocks import plain_text
from agent_tui.ui.themes.palette import Palette
from agent_tui.ui.widgets.timeline.block_cursor import BlockCursor

_SLICE_SECONDS = 0.004
_NEAR_RECORDS = 64
_MARK = Style(reverse=True)


class FoundText(BlockCursor):
    """A timeline that goes to the blocks that hold a text and marks it in them."""

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
        self._wanted, self._marks_match = text.lower(), False
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
        self._wanted, self._marks_match = text.lower(), True
        near = range(min(index, len(self._blocks) - 1), max(-1, index - _NEAR_RECORDS), -1)
        holder = next((each for each in near if text and self._holds_wanted(each)), None)
        if holder is None:
            self.go_to_record(index)
        else:
            self.show_found(holder)

    def _holds_wanted(self, index: int) -> bool:
        block = self._blocks.block(index)
        return block is not None and self._wanted in plain_text(block).lower()

    def on_blur(self) -> None:
        if self._marks_match:
            self._marks_match = False
            self.stop_finding()

    def show_found(self, index: int) -> None:
        """Bring the text in a block into view, opening the block where it is folded away."""
        offset = self._row_with_text(index)
        if offset is None and not self._blocks.is_expanded(index):
            self._blocks.toggle(index)
            offset = self._row_with_text(index)
        self._cursor = index
        self._following = False
        self.place(self._blocks.walk((index, offset or 0), -(self.view_height // 3)))

    def _row_with_text(self, index: int) -> int | None:
        for offset, row in enumerate(self._blocks.rows(index)):
            if self._wanted in "".join(text for text, _, _ in row).lower():
                return offset
        return None

    def _compose_strips(self, palette: Palette) -> list[Strip]:
        strips = super()._compose_strips(palette)
        return [self._marked(strip) for strip in strips] if self._wanted else strips

    def _marked(self, strip: Strip) -> Strip:
        text = strip.text.lower()
        start = text.find(self._wanted)
        if start < 0:
            return strip
        first = cell_len(text[:start])
        last = first + cell_len(self._wanted)
        found = Segment.apply_style(strip.crop(first, last), post_style=_MARK)
        after = strip.crop(last)
        return Strip.join([strip.crop(0, first), Strip(found), self._marked(after)])
