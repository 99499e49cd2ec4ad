"""The timeline's contents without a screen: blocks, their rows, and finding one by the other.

Blocks ``0 .. recorded - 1`` are those of the records; live ones follow, for what happens now; then
the answer that is being written, and below everything the prompts that wait for their turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rich.segment import Segment

from agent_tui.core.messages import DiffDisplay
from agent_tui.core.records import Record
from agent_tui.ui.blocks import (
    AssistantBlock,
    Block,
    BranchBlock,
    CheckpointBlock,
    CompactionBlock,
    EarlierHeadBlock,
    LabelBlock,
    NoticeBlock,
    RevertBlock,
    ToolBlock,
)
from agent_tui.ui.renderers.block import draw_block
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.drawing import GUTTER, MARGIN_RIGHT, Drawing, assemble
from agent_tui.ui.renderers.languages import Languages
from agent_tui.ui.renderers.lines import Row
from agent_tui.ui.renderers.long_text import GLANCE_CHARS
from agent_tui.ui.widgets.timeline.earlier_blocks import EarlierBlocks
from agent_tui.ui.widgets.timeline.heights import Heights
from agent_tui.ui.widgets.timeline.open_answer import OpenAnswer
from agent_tui.ui.widgets.timeline.record_view import RecordBlocks
from agent_tui.ui.widgets.timeline.row_cache import RowCache

Place = tuple[int, int]
"""A row of the timeline: a block and a row inside it."""

Drawn = tuple[int, Block, list[Row], Canvas]
"""A block at an index, its rows, and what they were drawn on."""

_MARKERS = (
    CheckpointBlock,
    CompactionBlock,
    RevertBlock,
    BranchBlock,
    LabelBlock,
    EarlierHeadBlock,
)
_SAMPLE = 48
_LOOK = 16
"""Records that may have been written while the session was opened."""
_LONG = 5_000
"""Characters from which on colouring code would be felt: it is done in a thread then."""


class BlockList:
    """Very many blocks as one column of rows.

    Attributes:
        heights: rows of each block; exact for those that were drawn.
        recorded: how many blocks come from records.
        answer: the answer being written; nothing stands below it.
    """

    def __init__(self) -> None:
        self.heights = Heights(0, self._estimate)
        self.recorded = 0
        self.answer: OpenAnswer | None = None
        self.show_all = False
        self._source: RecordBlocks | EarlierBlocks = RecordBlocks(())
        self._earlier: Sequence[Record] = ()
        self._live: list[Block] = []
        self._toggled: set[int] = set()
        self._cache = RowCache()
        self._rough: set[int] = set()
        self._canvas: Canvas | None = None
        self._width = 0

    def __len__(self) -> int:
        return self._live_end + (self.answer is not None)

    @property
    def _live_end(self) -> int:
        """One past the last live block: where the open answer is."""
        return self.recorded + len(self._live)

    def load(self, records: Sequence[Record], earlier: Sequence[Record] = ()) -> None:
        """Show these records; above them, dimmed, those that are in the context no more."""
        self._earlier = earlier
        self._source = self._blocks_of(records)
        self.recorded = len(self._source)
        self._live, self.answer = [], None
        self._toggled.clear()
        self._lay_out()

    def load_whole(self, records: Sequence[Record]) -> int | None:
        """Show records of which the end is shown; how many come before that.

        None where the end is not found in them, or something is shown below it: nothing is done.
        """
        known = self.recorded
        last = self.record(known - 1) if known and known == len(self) else None
        latest = range(len(records) - 1, max(-1, len(records) - _LOOK), -1)
        place = next((index for index in latest if records[index] == last), None)
        if place is None or last is None or place + 1 < known:
            return None
        moved = place + 1 - known
        self._source, self.recorded = self._blocks_of(records), len(records)
        self._toggled = {index + moved for index in self._toggled}
        self._lay_out()
        return moved

    def _blocks_of(self, records: Sequence[Record]) -> RecordBlocks | EarlierBlocks:
        return EarlierBlocks(self._earlier, records) if self._earlier else RecordBlocks(records)

    def record(self, index: int) -> Record | None:
        """The record of a block; None for a live one, and for one that left the context."""
        return self._source.record(index) if index < self.recorded else None

    def fold_earlier(self) -> None:
        """Fold what is not in the context any longer, or show it again."""
        if isinstance(self._source, EarlierBlocks):
            self._source.folded = not self._source.folded
            self._lay_out()

    def settle(self, records: Sequence[Record] | None = None) -> None:
        """Show what was recorded meanwhile in place of the live blocks."""
        self.close_answer()
        if records is not None:
            self._source = self._blocks_of(records)
        first, gained = self.recorded, len(self._source) - self.recorded
        if gained <= 0:
            return
        before = [
            (block, self.is_expanded(index), self.rows(index), index in self._rough)
            for index, block in enumerate(self._live, first)
        ]
        self._toggled = {index for index in self._toggled if index < first}
        notices = self._last_notices()
        told = [self._source.block(n) for n in range(first, len(self._source)) if notices]
        self._live = [
            notice
            for notice in notices
            if notice not in told
            and not (isinstance(notice, AssistantBlock) and replace(notice, unsaved=False) in told)
        ]
        self.recorded = len(self._source)
        self._renew(first)
        self._recognise(first, before)

    def _last_notices(self) -> list[Block]:
        """What the program said last; where no record tells it, it stays for now.

        An answer that could not be saved stays too.
        """
        notices: list[Block] = []
        while self._live and (
            isinstance(self._live[-1], NoticeBlock)
            or (isinstance(self._live[-1], AssistantBlock) and self._live[-1].unsaved)
        ):
            notices.insert(0, self._live.pop())
        return notices

    def keep_unsaved(self) -> None:
        """The last live answer is in no record: ``settle`` leaves it where it is."""
        for place in range(len(self._live) - 1, -1, -1):
            block = self._live[place]
            if isinstance(block, AssistantBlock):
                self._live[place] = replace(block, unsaved=True)
                return

    def _recognise(self, first: int, before: list[tuple[Block, bool, list[Row], bool]]) -> None:
        """Records that look as their live blocks did stay open or folded, and need no drawing."""
        for index in range(first, self.recorded):
            block = self._source.block(index)
            place = next((n for n, (live, *_) in enumerate(before) if live == block), None)
            if block is None or place is None:
                continue
            _, expanded, rows, rough = before[place]
            del before[: place + 1]
            if expanded != self.is_expanded(index):
                self._toggled.add(index)
            if rough:
                self._rough.add(index)
            self._keep(index, rows)

    def draw_on(self, canvas: Canvas, width: int) -> None:
        """Draw for another width or in other colours from now on."""
        self._canvas, self._width = canvas, width
        self._lay_out()

    def redraw(self) -> None:
        """Draw everything again; it takes the same rows."""
        self._cache.clear()
        self._rough.clear()
        if self.answer is not None and self._canvas is not None:
            self.answer.place(self._canvas, self._width)

    def append(self, block: Block) -> int:
        """Add a live block; returns its index.

        It closes an open answer, except a notice: that is not part of the conversation, and stands
        above the answer that continues.
        """
        if not isinstance(block, NoticeBlock):
            self.close_answer()
        self._live.append(block)
        self._renew(self._live_end - 1)
        return self._live_end - 1

    def replace(self, index: int, block: Block) -> None:
        """A live block changed."""
        self._live[index - self.recorded] = block
        self._forget(index)

    def remove(self, index: int) -> None:
        """A live block is gone; those after it move up."""
        del self._live[index - self.recorded]
        self._toggled = {place for place in self._toggled if place < index}
        self._renew(index)

    def open_answer(self) -> OpenAnswer:
        """The answer being written; a new one where there is none."""
        if self.answer is None:
            self.answer = OpenAnswer()
            if self._canvas is not None:
                self.answer.place(self._canvas, self._width)
            self._renew(self._live_end)
        return self.answer

    def close_answer(self) -> None:
        """The answer is complete: it becomes a block like any other, with the same rows."""
        if self.answer is None:
            return
        answer, self.answer = self.answer, None
        answer.end_thinking()
        self._live.append(answer.block)
        index = self._live_end - 1
        if not answer.is_behind:
            self._keep(index, answer.finish())
        elif answer.shows_its_end:  # that is enough until a thread has drawn it whole
            self._keep(index, answer.rows)
            self._rough.add(index)
        else:
            self._forget(index)

    def measure_open(self) -> int:
        """Take over the open answer's rows; returns how many came."""
        if self.answer is None:
            return 0
        change = len(self.answer.rows) - self.heights[self._live_end]
        self.heights.set_exact(self._live_end, len(self.answer.rows))
        return change

    def block(self, index: int) -> Block | None:
        """The block at an index; None where a record shows nothing."""
        if index < self.recorded:
            return self._source.block(index)
        if index < self._live_end:
            return self._live[index - self.recorded]
        if self.answer is not None and index == self._live_end:
            return self.answer.block
        raise IndexError(index)

    def is_expanded(self, index: int) -> bool:
        """Whether a block is opened up, by itself or with all others."""
        return (index in self._toggled) != self.show_all

    def toggle(self, index: int) -> None:
        """Open or fold a block."""
        self._toggled ^= {index}
        if self.answer is not None and index == self._live_end:
            self.answer.expanded = self.is_expanded(index)
            self.redraw()
        self._forget(index)

    def toggle_all(self) -> None:
        """Open all blocks, or fold them."""
        self.show_all = not self.show_all
        self._toggled.clear()
        self._lay_out()

    def rows(self, index: int, *, active: bool = False) -> list[Row]:
        """The rows of a block, exactly as many as ``height`` says."""
        if self.answer is not None and index == self._live_end:
            return self.answer.rows
        active = active and is_marker(self.block(index))  # nothing else looks different
        key = (index, self.is_expanded(index), active)
        rows = self._cache.get(key)
        if rows is None:
            rows = self._draw(index, active=active)
            self._cache.put(key, rows)
        return rows

    def height(self, index: int) -> int:
        """How many rows a block takes; draws it where that is not known."""
        if not self.heights.is_exact(index):
            self.heights.set_exact(index, len(self.rows(index)))
        return self.heights[index]

    def walk(self, place: Place, rows: int) -> Place:
        """The place some rows below (or above) another, every block on the way counted exactly."""
        index, offset = place
        if not len(self):
            return 0, 0
        offset += rows
        while offset < 0 and index > 0:
            index -= 1
            offset += self.height(index)
        while offset >= self.height(index) and index < len(self) - 1:
            offset -= self.height(index)
            index += 1
        return index, max(0, min(offset, self.height(index) - 1))

    def span(self, place: Place, height: int) -> list[Place]:
        """The places of ``height`` rows from one on; fewer at the end."""
        index, offset = place
        places: list[Place] = []
        while len(places) < height and index < len(self):
            rows = self.height(index)
            stop = min(rows, offset + height - len(places))
            places.extend([(index, row) for row in range(offset, stop)])
            index, offset = index + 1, 0
        return places

    def end(self, height: int) -> Place:
        """The place from which the last ``height`` rows show."""
        last = len(self) - 1
        return self.walk((last, self.height(last)), -height) if last >= 0 else (0, 0)

    @property
    def has_rough(self) -> bool:
        """Whether a long block was drawn without its colours, or only its ends."""
        return bool(self._rough)

    def next_rough(self) -> Callable[[], Drawn] | None:
        """How to draw, in a thread, a long block that was drawn in a hurry."""
        canvas, width = self._canvas, self._width
        index = next(iter(self._rough), None)
        block = self.block(index) if index is not None and index < len(self) else None
        if index is None or block is None or canvas is None:
            self._rough.clear()
            return None
        expanded = self.is_expanded(index)

        def draw() -> Drawn:
            pictures = canvas.pictures and canvas.pictures.decoding()
            whole = replace(canvas, pictures=pictures)
            drawing = draw_block(block, whole, expanded=expanded, active=False)
            return index, block, assemble(drawing, width, canvas.palette.base), canvas

        return draw

    def refine(self, index: int, block: Block, rows: list[Row], canvas: Canvas) -> int:
        """Take over what ``next_rough`` drew, if the block is still the same and drawn alike.

        Returns how many rows it takes more than before.
        """
        self._rough.discard(index)
        if index >= len(self) or self.block(index) != block or canvas is not self._canvas:
            return 0
        before = self.heights[index]
        self._keep(index, rows)
        return len(rows) - before

    def _draw(self, index: int, *, active: bool) -> list[Row]:
        block = self.block(index)
        canvas = self._canvas
        if block is None or canvas is None:
            return []
        glance = isinstance(block, AssistantBlock) and len(block.text) > GLANCE_CHARS
        expanded = self.is_expanded(index)
        if glance or _has_long_code(block, expanded=expanded):
            self._rough.add(index)
            canvas = replace(canvas, languages=Languages())
        drawing = draw_block(block, canvas, expanded=expanded, active=active, glance=glance)
        if canvas.pictures is not None and canvas.pictures.is_missing:
            canvas.pictures.is_missing = False
            self._rough.add(index)
        rows = assemble(drawing, self._width, canvas.palette.base)
        if glance and self.heights.is_exact(index) and drawing.gap >= 0:
            self._fill_gap(rows, drawing, self.heights[index])
        return rows

    def _fill_gap(self, rows: list[Row], drawing: Drawing, height: int) -> None:
        """Where it is known how tall a block is when it is drawn whole, nothing has to move."""
        assert self._canvas is not None
        missing = height - len(rows)
        if missing > 0:
            blank: Row = (Segment(" " * self._width, self._canvas.palette.base),)
            place = drawing.space + drawing.gap + 1
            rows[place:place] = [blank] * missing

    def _renew(self, first: int) -> None:
        """The blocks from an index on are others now: know their rows again."""
        known = len(self.heights)
        for index in range(first, max(known, len(self))):
            self._cache.forget(index)
        self.heights.truncate(first)
        self.heights.extend(len(self) - first)
        for index in range(max(first, self.recorded), len(self)):
            self.height(index)
        self.measure_open()

    def _keep(self, index: int, rows: list[Row]) -> None:
        """Take rows that are drawn already for those of a block."""
        self._cache.forget(index)
        self._cache.put((index, self.is_expanded(index), False), rows)
        self.heights.set_exact(index, len(rows))

    def _forget(self, index: int) -> None:
        self._cache.forget(index)
        self.heights.set_exact(index, 0)
        self.heights.set_exact(index, len(self.rows(index)))

    def _estimate(self, index: int) -> int:
        if index < self.recorded:
            return self._source.estimate(index, max(8, self._width - GUTTER - MARGIN_RIGHT))
        return 2

    def _lay_out(self) -> None:
        self._cache.clear()
        self._rough.clear()
        count = len(self)
        step = max(1, count // _SAMPLE)
        sample = [self._estimate(index) for index in range(0, count, step)]
        guess = sum(sample) / len(sample) if sample else 1.0
        self.heights = Heights(count, self._estimate, guess)
        if self.answer is not None and self._canvas is not None:
            self.answer.place(self._canvas, self._width)
            self.measure_open()


def _has_long_code(block: Block, *, expanded: bool) -> bool:
    match block:
        case AssistantBlock(text=text):
            return len(text) > _LONG and "```" in text
        case ToolBlock(display=DiffDisplay(diff=diff)):
            return expanded and len(diff) > _LONG
        case _:
            return False


def is_marker(block: Block | None) -> bool:
    """Whether a block leads somewhere when it is pressed."""
    return isinstance(block, _MARKERS)
