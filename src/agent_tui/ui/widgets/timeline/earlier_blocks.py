"""What a compaction took out of the context, kept on screen above what is in it now.

It is dimmed, and folds into one row. Checkpoints are left out: nothing leads back there but undo.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent_tui.core.records import Record, is_message
from agent_tui.ui.blocks import Block, CheckpointBlock, EarlierBlock, EarlierHeadBlock, Landmark
from agent_tui.ui.widgets.timeline.record_view import RecordBlocks

_NO_WAY_BACK = ("prompt", "step")
"""Checkpoints, which are left out of what was before."""


class EarlierBlocks:
    """The blocks of earlier records and, behind them, those of the records of now.

    Attributes:
        first: the index of the first record of now.
        folded: whether only the row over the earlier ones is shown.
    """

    def __init__(
        self, earlier: Sequence[Record], now: Sequence[Record], losses: Mapping[int, int]
    ) -> None:
        self._earlier = RecordBlocks(earlier, losses)
        self._now = RecordBlocks(now, losses)
        self.first = len(earlier) + 1 if earlier else 0
        self._messages = sum(map(is_message, earlier))
        self.folded = True

    def __len__(self) -> int:
        return self.first + len(self._now)

    def record(self, index: int) -> Record | None:
        """The record of a block that is in the context; None for an earlier one."""
        return self._now.record(index - self.first) if index >= self.first else None

    def entry(self, index: int) -> str:
        """The id of the entry of a block; empty where it has none."""
        if index >= self.first:
            return self._now.entry(index - self.first)
        return self._earlier.entry(index - 1) if index else ""

    def block(self, index: int) -> Block | None:
        """What stands at an index; None where a record shows nothing."""
        return None if self.folded and 0 < index < self.first else self.folded_block(index)

    def folded_block(self, index: int) -> Block | None:
        """What stands at an index, or would if the earlier ones were not folded."""
        if index >= self.first:
            return self._now.block(index - self.first)
        if index == 0:
            return EarlierHeadBlock(self._messages, self.folded)
        inner = self._earlier.block(index - 1)
        if inner is None or isinstance(inner, CheckpointBlock):
            return None
        return EarlierBlock(inner)

    def landmarks(self, first: int, stop: int) -> Iterator[tuple[int, Landmark]]:
        """What the scroll bar shows of a slice."""
        if not self.folded:
            earlier = self._earlier.landmarks(max(0, first - 1), max(0, min(stop, self.first) - 1))
            yield from ((index + 1, kind) for index, kind in earlier if kind not in _NO_WAY_BACK)
        now = self._now.landmarks(max(0, first - self.first), max(0, stop - self.first))
        yield from ((index + self.first, kind) for index, kind in now)

    def estimate(self, index: int, width: int) -> int:
        """A guess of how many rows a record takes, without looking far."""
        if index >= self.first:
            return self._now.estimate(index - self.first, width)
        if index == 0:
            return 2
        return 0 if self.folded else self._earlier.estimate(index - 1, width)
