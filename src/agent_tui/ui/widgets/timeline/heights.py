"""How many rows each of very many blocks takes, known exactly only where someone has looked.

Blocks are kept in chunks. A chunk that nobody has visited is one number, a guess; the heights of
its blocks are estimated when it is first visited, and made exact one by one as they are drawn. A
million blocks that were never looked at cost four thousand guesses.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate

CHUNK = 256
_EXACT = 1 << 31

Estimate = Callable[[int], int]


class Heights:
    """Rows of blocks ``0 .. len - 1``, found by row in about O(sqrt(n)) at worst.

    Args:
        count: how many blocks there are.
        estimate: a cheap guess of one block's rows.
        guess: rows of an average block, for chunks that were not visited.
    """

    def __init__(self, count: int, estimate: Estimate, guess: float = 4.0) -> None:
        self._count = count
        self._estimate = estimate
        chunks = -(-count // CHUNK)
        self._rows: list[array[int] | None] = [None] * chunks
        self._sums = [round(guess * CHUNK)] * chunks
        if count % CHUNK:
            self._sums[-1] = round(guess * (count % CHUNK))
        self._tops: list[int] | None = None

    def __len__(self) -> int:
        return self._count

    @property
    def total(self) -> int:
        """All rows, as far as they are known."""
        return self._starts()[-1]

    def __getitem__(self, index: int) -> int:
        return self._chunk(index // CHUNK)[index % CHUNK] & ~_EXACT

    def is_exact(self, index: int) -> bool:
        """Whether a block's rows were counted rather than estimated."""
        rows = self._rows[index // CHUNK]
        return rows is not None and bool(rows[index % CHUNK] & _EXACT)

    def set_exact(self, index: int, rows: int) -> None:
        """Set the rows of a block that was drawn."""
        chunk = self._chunk(index // CHUNK)
        change = rows - (chunk[index % CHUNK] & ~_EXACT)
        chunk[index % CHUNK] = rows | _EXACT
        if change:
            self._sums[index // CHUNK] += change
            self._tops = None

    def append(self, rows: int, *, exact: bool = False) -> None:
        """One more block at the end."""
        self.extend(1)
        if exact:
            self.set_exact(self._count - 1, rows)

    def extend(self, count: int) -> None:
        """More blocks at the end, their rows to be estimated when visited."""
        for _ in range(count):
            number, place = divmod(self._count, CHUNK)
            if place == 0:
                self._rows.append(array("I"))
                self._sums.append(0)
            rows = self._chunk(number) if self._rows[number] is None else self._rows[number]
            assert rows is not None
            guess = self._estimate(self._count)
            rows.append(guess)
            self._sums[number] += guess
            self._count += 1
        self._tops = None

    def truncate(self, count: int) -> None:
        """Forget the blocks from ``count`` on."""
        if count >= self._count:
            return
        keep = -(-count // CHUNK)
        if count % CHUNK:
            last = self._chunk(keep - 1)
            del last[count % CHUNK :]
            self._sums[keep - 1] = sum(rows & ~_EXACT for rows in last)
        del self._rows[keep:]
        del self._sums[keep:]
        self._count = count
        self._tops = None

    def top(self, index: int) -> int:
        """The row at which a block begins (``len`` gives the end)."""
        number, place = divmod(index, CHUNK)
        before = 0
        if place:
            before = sum(rows & ~_EXACT for rows in self._chunk(number)[:place])
        return self._starts()[number] + before

    def locate(self, row: int) -> tuple[int, int]:
        """The block that a row belongs to, and the row inside it; clamped to what there is."""
        if not self._count:
            return 0, 0
        starts = self._starts()
        number = min(max(0, bisect_right(starts, max(0, row)) - 1), len(self._rows) - 1)
        inside = max(0, row) - starts[number]
        chunk = self._chunk(number)
        ends = list(accumulate(rows & ~_EXACT for rows in chunk))
        place = min(bisect_right(ends, inside), len(chunk) - 1)
        before = ends[place - 1] if place else 0
        return number * CHUNK + place, max(
            0, min(inside - before, self[number * CHUNK + place] - 1)
        )

    def first_from(self, row: int) -> int:
        """The first block that begins at a row or below it; about, in a chunk nobody visited."""
        starts = self._starts()
        number = max(0, bisect_right(starts, row) - 1)
        if number >= len(self._rows):
            return self._count
        rows, inside = self._rows[number], row - starts[number]
        first = number * CHUNK
        if rows is None:
            blocks = min(CHUNK, self._count - first)
            return first - (-inside * blocks // max(1, self._sums[number]))
        tops = list(accumulate((rows & ~_EXACT for rows in rows), initial=0))
        return first + bisect_left(tops, inside)

    def _starts(self) -> list[int]:
        if self._tops is None:
            self._tops = list(accumulate(self._sums, initial=0))
        return self._tops

    def _chunk(self, number: int) -> array[int]:
        rows = self._rows[number]
        if rows is None:
            first = number * CHUNK
            stop = min(first + CHUNK, self._count)
            rows = array("I", map(self._estimate, range(first, stop)))
            self._rows[number] = rows
            self._sums[number] = sum(rows)
            self._tops = None
        return rows
