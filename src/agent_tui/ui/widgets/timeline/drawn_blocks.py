"""Blocks as one column of rows: drawn when they are wanted, measured, and walked through."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

from rich.segment import Segment

from agent_tui.core.messages import DiffDisplay
from agent_tui.ui.blocks import (
    AssistantBlock,
    Block,
    BranchBlock,
    CheckpointBlock,
    CompactionBlock,
    EarlierHeadBlock,
    LabelBlock,
    RevertBlock,
    ToolBlock,
)
from agent_tui.ui.renderers.block import draw_block
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.drawing import Drawing, assemble
from agent_tui.ui.renderers.languages import Languages
from agent_tui.ui.renderers.lines import Row
from agent_tui.ui.renderers.long_text import is_long
from agent_tui.ui.widgets.timeline.folds import Folds
from agent_tui.ui.widgets.timeline.heights import Heights
from agent_tui.ui.widgets.timeline.open_answer import OpenAnswer
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
_LONG = 5_000
"""Characters from which on colouring code would be felt: it is done in a thread then."""


class DrawnBlocks(ABC):
    """What is drawn of blocks that somebody else keeps.

    Attributes:
        heights: rows of each block; exact for those that were drawn.
        answer: the answer being written; nothing stands below it.
        folds: which blocks are open.
    """

    def __init__(self) -> None:
        self.heights = Heights(0, self._estimate)
        self.answer: OpenAnswer | None = None
        self.folds = Folds(self.entry)
        self._cache = RowCache()
        self._rough: set[int] = set()
        self._canvas: Canvas | None = None
        self._width = 0

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def block(self, index: int) -> Block | None:
        """The block at an index; None where a record shows nothing."""

    @abstractmethod
    def entry(self, index: int) -> str:
        """The id of the entry that a block shows; empty where it has none."""

    @abstractmethod
    def _estimate(self, index: int) -> int:
        """How many rows a block may take that was not drawn yet."""

    def is_open(self, index: int) -> bool:
        """Whether an index is that of the answer being written: the last one."""
        return self.answer is not None and index == len(self) - 1

    def draw_on(self, canvas: Canvas, width: int, *, whole: bool = False) -> None:
        """Draw for another width or in other colours from now on.

        ``whole``: with all rows that the open answer has, though that may take longer than a frame.
        """
        self._canvas, self._width = canvas, width
        self._lay_out(whole=whole)

    def redraw(self) -> None:
        """Draw everything again; it takes the same rows."""
        self._cache.clear()
        self._rough.clear()
        if self.answer is not None and self._canvas is not None:
            self.answer.place(self._canvas, self._width)

    def measure_open(self) -> int:
        """Take over the open answer's rows; returns how many came."""
        if self.answer is None:
            return 0
        place = len(self) - 1
        change = len(self.answer.rows) - self.heights[place]
        self.heights.set_exact(place, len(self.answer.rows))
        return change

    def is_expanded(self, index: int) -> bool:
        """Whether a block is opened up, by itself or with all others."""
        return self.folds.is_open(index)

    def toggle(self, index: int) -> None:
        """A reader opens or folds a block."""
        self.folds.choose(index, shown=not self.is_expanded(index))
        self._show_fold(index)

    def open_for_now(self, index: int) -> None:
        """Open a block in which something is to be shown."""
        self.folds.open_for_now(index)
        self._show_fold(index)

    def _show_fold(self, index: int) -> None:
        if self.answer is not None and self.is_open(index):
            self.answer.expanded = self.is_expanded(index)
            self.redraw()
        self._forget(index)

    def show_all(self, *, shown: bool) -> None:
        """A reader opens all blocks, or folds them."""
        self.folds.set_all(shown=shown)
        self._lay_out()

    def show_usually(self, *, shown: bool) -> None:
        """Show blocks open or folded that no reader has opened or folded by themselves."""
        if shown != self.folds.all_open:
            self.folds.set_usual(shown=shown)
            self._lay_out()

    def rows(self, index: int, *, active: bool = False) -> list[Row]:
        """The rows of a block, exactly as many as ``height`` says."""
        if self.answer is not None and self.is_open(index):
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
        glance = isinstance(block, AssistantBlock) and is_long(block.text)
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

    def _keep(self, index: int, rows: list[Row]) -> None:
        """Take rows that are drawn already for those of a block."""
        self._cache.forget(index)
        self._cache.put((index, self.is_expanded(index), False), rows)
        self.heights.set_exact(index, len(rows))

    def _forget(self, index: int) -> None:
        self._cache.forget(index)
        self.heights.set_exact(index, 0)
        self.heights.set_exact(index, len(self.rows(index)))

    def _lay_out(self, *, whole: bool = False) -> None:
        self._cache.clear()
        self._rough.clear()
        count = len(self)
        step = max(1, count // _SAMPLE)
        sample = [self._estimate(index) for index in range(0, count, step)]
        guess = sum(sample) / len(sample) if sample else 1.0
        self.heights = Heights(count, self._estimate, guess)
        if self.answer is not None and self._canvas is not None:
            self.answer.place(self._canvas, self._width, whole=whole)
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
