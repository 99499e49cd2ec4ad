"""The timeline's contents without a screen: blocks, their rows, and finding one by the other.

Blocks ``0 .. recorded - 1`` are those of the records; live ones follow, for what happens now; then
the answer that is being written, and below everything the prompts that wait for their turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from agent_tui.core.records import ModelRecord, Record
from agent_tui.ui.blocks import (
    AssistantBlock,
    Block,
    Landmark,
    NoticeBlock,
    ShellBlock,
    ToolBlock,
    landmark_of,
)
from agent_tui.ui.renderers.drawing import GUTTER, MARGIN_RIGHT
from agent_tui.ui.renderers.lines import Row
from agent_tui.ui.widgets.timeline.drawn_blocks import DrawnBlocks
from agent_tui.ui.widgets.timeline.open_answer import OpenAnswer
from agent_tui.ui.widgets.timeline.record_view import RecordBlocks

if TYPE_CHECKING:
    from agent_tui.ui.widgets.timeline.earlier_blocks import EarlierBlocks

_LOOK = 16
"""Records that may have been written while the session was opened."""
_AROUND = 500
"""Records by which a compaction may move those that it keeps, counted from the end."""
_NEAR = 64
"""Records among which a call is searched for whose effects became known after its turn."""


class BlockList(DrawnBlocks):
    """Very many blocks as one column of rows.

    Attributes:
        recorded: how many blocks come from records.
        unmapped: the first block whose landmark is to be looked up (again).
        is_left_open: whether what left the context is shown for as long as the reader is in it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.recorded = self.unmapped = 0
        self.is_left_open = False
        self._losses: dict[int, int] = {}
        self._source: RecordBlocks | EarlierBlocks = RecordBlocks(())
        self._earlier: Sequence[Record] = ()
        self._live: list[Block] = []

    def __len__(self) -> int:
        return self._live_end + (self.answer is not None)

    @property
    def _live_end(self) -> int:
        """One past the last live block: where the open answer is."""
        return self.recorded + len(self._live)

    def load(self, records: Sequence[Record], earlier: Sequence[Record] = ()) -> None:
        """Show these records; above them, folded, those that are in the context no more."""
        self.is_left_open = False
        self._earlier, self._losses = earlier, {}
        self._source = self._blocks_of(records)
        self.recorded = len(self._source)
        self._live, self.answer = [], None
        self.unmapped = 0
        self.folds.forget_places()
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
        self.folds.move(moved)
        self.unmapped = 0
        self._lay_out()
        return moved

    def load_earlier(self, records: Sequence[Record], earlier: Sequence[Record]) -> int:
        """Show earlier records above those that are shown, folded; how many blocks come before.

        Nothing is done, and 0 returned, while blocks are shown that no record tells but notices.
        """
        is_still = all(isinstance(block, NoticeBlock) for block in self._live)
        if self._earlier or self.answer is not None or not is_still:
            return 0
        self._earlier = earlier
        self._source = self._blocks_of(records)
        self.recorded = len(self._source)
        self.folds.move(self.first_of_log)
        self.unmapped = 0
        self._lay_out()
        return self.first_of_log

    def _blocks_of(self, records: Sequence[Record]) -> RecordBlocks | EarlierBlocks:
        if self._earlier:
            from agent_tui.ui.widgets.timeline.earlier_blocks import EarlierBlocks  # only then

            return EarlierBlocks(self._earlier, records, self._losses)
        return RecordBlocks(records, self._losses)

    @property
    def first_of_log(self) -> int:
        """The index of the log's first record: behind those that it does not hold any longer."""
        return 0 if isinstance(self._source, RecordBlocks) else self._source.first

    def record(self, index: int) -> Record | None:
        """The record of a block; None for a live one, and for one that left the context."""
        return self._source.record(index) if index < self.recorded else None

    def entry(self, index: int) -> str:
        return self._source.entry(index) if index < self.recorded else ""

    def find_entry(self, entry: str, from_end: int) -> int | None:
        """Where an entry is that stood so far from the last record, in another log.

        Looked for among the records around there, then among those that left the context.
        """
        first, about = self.first_of_log, self.recorded - from_end
        around = range(max(first, about - _AROUND), min(self.recorded, about + _AROUND))
        places = chain(around, range(1, first)) if entry else ()
        return next((index for index in places if self.entry(index) == entry), None)

    def folded_block(self, index: int) -> Block | None:
        """The block at an index, whether or not it is folded away with those before it."""
        source = self._source
        if not isinstance(source, RecordBlocks) and index < self.recorded:
            return source.folded_block(index)
        return self.block(index)

    def fold_earlier(self) -> None:
        """Fold what is not in the context any longer, or show it again."""
        self.is_left_open = False
        if not isinstance(self._source, RecordBlocks):
            self._source.folded = not self._source.folded
            self.unmapped = 0
            self._lay_out()

    def settle(self, records: Sequence[Record] | None = None) -> dict[int, int]:
        """Show what was recorded meanwhile in place of the live blocks; where each of these is."""
        self.close_answer()
        if records is not None:
            self._source = self._blocks_of(records)
        first, gained = self.recorded, len(self._source) - self.recorded
        if gained <= 0:
            return {}
        before = [
            (block, self.is_expanded(index), self.rows(index), index in self._rough)
            for index, block in enumerate(self._live, first)
        ]
        self.folds.forget_from(first)
        notices = self._last_notices()
        told = [self._source.block(n) for n in range(first, len(self._source)) if notices]
        self._live = [
            notice
            for notice in notices
            if notice not in told
            and not (isinstance(notice, AssistantBlock) and replace(notice, unsaved=False) in told)
        ]
        self.recorded = len(self._source)
        for index in range(max(0, first - _LOOK), first):
            if isinstance(self.record(index), ModelRecord):
                self._forget(index)  # of several the last one tells
        self._renew(first)
        return self._recognise(first, before)

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

    def _recognise(
        self, first: int, before: list[tuple[Block, bool, list[Row], bool]]
    ) -> dict[int, int]:
        """Records that look as their live blocks did stay open or folded, and need no drawing."""
        moved: dict[int, int] = {}
        live = first
        for index in range(first, self.recorded):
            block = self._source.block(index)
            place = next((n for n, (live, *_) in enumerate(before) if live == block), None)
            if block is None or place is None:
                continue
            _, expanded, rows, rough = before[place]
            del before[: place + 1]
            live += place + 1
            moved[live - 1] = index
            if expanded != self.is_expanded(index):
                self.folds.choose(index, shown=expanded)
            if rough:
                self._rough.add(index)
            self._keep(index, rows)
        return moved

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
        if landmark_of(block) != landmark_of(self._live[index - self.recorded]):
            self.unmapped = min(self.unmapped, index)
        self._live[index - self.recorded] = block
        self._forget(index)

    def tell_losses(self, archive: int, count: int) -> None:
        """A compaction, known by its archive, has so many losses: its record does not tell."""
        self._losses[archive] = count
        self.redraw()

    def redraw_call(self, call: str) -> None:
        """A record came that says more of a call, or of a command, near the end of the records."""
        for index in range(self.recorded - 1, max(-1, self.recorded - _NEAR), -1):
            block = self._source.block(index)
            is_tool = isinstance(block, ToolBlock) and block.call_id == call
            if is_tool or (isinstance(block, ShellBlock) and block.command == call):
                self._forget(index)
                return

    def remove(self, index: int) -> None:
        """A live block is gone; those after it move up."""
        del self._live[index - self.recorded]
        self.folds.forget_from(index)
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

    def block(self, index: int) -> Block | None:
        """The block at an index; None where a record shows nothing."""
        if index < self.recorded:
            return self._source.block(index)
        if index < self._live_end:
            return self._live[index - self.recorded]
        if self.answer is not None and index == self._live_end:
            return self.answer.block
        raise IndexError(index)

    def landmarks(self, first: int, stop: int) -> Iterator[tuple[int, Landmark]]:
        """What the scroll bar shows of the blocks of a slice, by index."""
        yield from self._source.landmarks(first, min(stop, self.recorded))
        for index in range(max(first, self.recorded), min(stop, self._live_end)):
            if kind := landmark_of(self._live[index - self.recorded]):
                yield index, kind

    def _renew(self, first: int) -> None:
        """The blocks from an index on are others now: know their rows again."""
        self.unmapped = min(self.unmapped, first)
        known = len(self.heights)
        for index in range(first, max(known, len(self))):
            self._cache.forget(index)
        self.heights.truncate(first)
        self.heights.extend(len(self) - first)
        for index in range(max(first, self.recorded), len(self)):
            self.height(index)
        self.measure_open()

    def _estimate(self, index: int) -> int:
        if index < self.recorded:
            return self._source.estimate(index, max(8, self._width - GUTTER - MARGIN_RIGHT))
        return 2
