"""Lines that differ and lines that are merged; plain bytes, so that no line end is ever lost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import SequenceMatcher

from agent_tui.core.dataclass import dataclass
from agent_tui.core.revert_plan import Hunk

_MOST_BYTES = 1 << 20
_MOST_LINES = 20_000
_SLOW = 3_000


@dataclass(frozen=True, slots=True)
class Merged:
    """A three-way merge: where both sides changed the same lines, ``ours`` or ``theirs``."""

    ours: bytes
    theirs: bytes

    @property
    def conflict(self) -> bool:
        return self.ours != self.theirs


def is_text(*contents: bytes) -> bool:
    """Whether contents can be merged by lines."""
    return not any(
        b"\0" in content or len(content) > _MOST_BYTES or content.count(b"\n") > _MOST_LINES
        for content in contents
    )


def split_lines(content: bytes) -> list[bytes]:
    """Lines with their ends, split at newlines only."""
    lines = content.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def diff_lines(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int, int, int]]:
    """The places that differ, as (old start, old stop, new start, new stop)."""
    start = 0
    shortest = min(len(old), len(new))
    while start < shortest and old[start] == new[start]:
        start += 1
    end = 0
    while end < shortest - start and old[len(old) - 1 - end] == new[len(new) - 1 - end]:
        end += 1
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    if not middle_old and not middle_new:
        return []
    if min(len(middle_old), len(middle_new)) > _SLOW:  # one hunk, where finding more takes long
        return [(start, len(old) - end, start, len(new) - end)]
    matcher = SequenceMatcher(None, middle_old, middle_new, autojunk=False)
    return [
        (i1 + start, i2 + start, j1 + start, j2 + start)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def make_hunks(old: bytes, new: bytes, safe: bytes | None = None) -> tuple[Hunk, ...]:
    """What turns ``old`` into ``new``, piece by piece.

    What is not part of the way to ``safe`` too is marked as a conflict.
    """
    before, after = split_lines(old), split_lines(new)
    agreed = None if safe is None else _pieces(before, split_lines(safe))
    hunks = []
    for number, (i1, i2, j1, j2) in enumerate(diff_lines(before, after), 1):
        added = tuple(after[j1:j2])
        conflict = agreed is not None and (i1, i2, added) not in agreed
        hunks.append(Hunk(number, i1, i2, tuple(before[i1:i2]), added, conflict))
    return tuple(hunks)


def _pieces(old: list[bytes], new: list[bytes]) -> set[tuple[int, int, tuple[bytes, ...]]]:
    return {(i1, i2, tuple(new[j1:j2])) for i1, i2, j1, j2 in diff_lines(old, new)}


def apply_hunks(old: bytes, hunks: Sequence[Hunk], chosen: Collection[int]) -> bytes:
    """``old`` with the chosen hunks made."""
    lines = split_lines(old)
    for hunk in sorted(hunks, key=lambda hunk: hunk.start, reverse=True):
        if hunk.id in chosen:
            lines[hunk.start : hunk.stop] = hunk.added
    return b"".join(lines)


def merge_contents(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """Both changes of ``base`` together (diff3)."""
    if ours in (base, theirs):
        return Merged(theirs, theirs)
    if theirs == base:
        return Merged(ours, ours)
    lines, mine, yours = split_lines(base), split_lines(ours), split_lines(theirs)
    left, right = diff_lines(lines, mine), diff_lines(lines, yours)
    kept: list[bytes] = []
    taken: list[bytes] = []
    at = 0
    while left or right:
        start, stop, lefts, rights = _next_region(left, right)
        kept += lines[at:start]
        taken += lines[at:start]
        own = _side(lines, mine, lefts, start, stop)
        other = _side(lines, yours, rights, start, stop)
        agreed = other if not lefts else own
        clashes = bool(lefts and rights) and own != other
        kept += own if clashes else agreed
        taken += other if clashes else agreed
        at = stop
    return Merged(b"".join([*kept, *lines[at:]]), b"".join([*taken, *lines[at:]]))


_Diff = list[tuple[int, int, int, int]]


def _next_region(left: _Diff, right: _Diff) -> tuple[int, int, _Diff, _Diff]:
    """The next place of the base that a side changed; changes that touch are one region."""
    first = min((side[0] for side in (left, right) if side), key=lambda each: each[:2])
    start, stop = first[0], first[1]
    lefts: _Diff = []
    rights: _Diff = []
    grew = True
    while grew:
        grew = False
        for side, taken in ((left, lefts), (right, rights)):
            while side and side[0][0] <= stop:
                each = side.pop(0)
                taken.append(each)
                stop = max(stop, each[1])
                grew = True
    return start, stop, lefts, rights


def _side(
    base: list[bytes], side: list[bytes], changes: _Diff, start: int, stop: int
) -> list[bytes]:
    """What a side has in the place of ``base[start:stop]``."""
    found: list[bytes] = []
    at = start
    for i1, i2, j1, j2 in changes:
        found += base[at:i1]
        found += side[j1:j2]
        at = i2
    return found + base[at:stop]
