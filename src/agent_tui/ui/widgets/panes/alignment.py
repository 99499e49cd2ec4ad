"""Where old messages and the new context stand beside each other, row by row.

The new context keeps its own order, which is that of the log that a compaction writes: the summary
first, then what is kept. A kept message stands beside itself as far as that order allows; those at
the end always do. Where the summary leaves no other its place, all of them stand together.

Rows are found by arithmetic: aligning ten thousand messages costs nothing.
"""

from __future__ import annotations

from bisect import bisect_left


class Alignment:
    """The rows of two columns: old messages at the left, the new context at the right.

    Args:
        count: how many old messages there are; 0 shows the new context alone.
        kept: the indices of those that stay, in order.
        lines: how many rows the summary takes.
        head: rows over everything else, for what no compaction touches.
    """

    def __init__(self, count: int, kept: list[int], lines: int, head: int = 0) -> None:
        self.head = head
        self.lines = lines
        self._kept = kept
        self._is_alone = not count
        going = count - len(kept)
        tail = len(kept) if self._is_alone else self._place_behind(going, len(kept))
        self._early = tail  # kept messages behind which others go
        self._before_tail = max(0, count - (len(kept) - tail))
        self._tail_row = max(self._before_tail, lines + self._early)
        # So many of the early ones cannot stand in their own rows, because the summary fills them.
        self._pushed = tail if self._is_alone else self._place_behind(lines, tail)
        is_together = self._pushed == self._early
        self._pushed_row = self._tail_row - self._pushed if is_together else lines
        self.rows = head + self._tail_row + len(kept) - tail

    def _place_behind(self, going: int, end: int) -> int:
        """The first kept message that has so many before it that go."""
        return bisect_left(range(end), going, key=lambda place: self._kept[place] - place)

    def old(self, row: int) -> int | None:
        """The old message in a row."""
        row -= self.head
        if row >= self._tail_row:
            return row - self._tail_row + self._before_tail
        return row if 0 <= row < self._before_tail else None

    def rest_below(self, row: int) -> int:
        """In the first row without an old message, how many of them come further down; else 0."""
        is_first = row - self.head == self._before_tail < self._tail_row
        return self.rows - self.head - self._tail_row if is_first else 0

    def line(self, row: int) -> int | None:
        """The line of the summary in a row."""
        return row - self.head if 0 <= row - self.head < self.lines else None

    def new(self, row: int) -> int | None:
        """The message of the new context in a row, by its index in the old one."""
        row -= self.head
        if row >= self._tail_row:
            return self._kept[self._early + row - self._tail_row]
        if self._pushed_row <= row < self._pushed_row + self._pushed:
            return self._kept[row - self._pushed_row]
        place = bisect_left(self._kept, row, self._pushed, self._early)
        is_beside_itself = place < self._early and self._kept[place] == row
        return row if is_beside_itself else None

    def row_of(self, message: int) -> int:
        """The row of an old message; in the new context alone, of what now stands for it."""
        if self._is_alone:
            place = bisect_left(self._kept, message)
            is_kept = self._kept[place : place + 1] == [message]
            return self.head + (self.lines + place if is_kept or not self.lines else 0)
        if message < self._before_tail:
            return self.head + message
        return self.head + message - self._before_tail + self._tail_row
