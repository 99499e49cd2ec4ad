"""Unified diffs for people, quick enough for whole files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from agent_tui.core.messages import DiffDisplay
from agent_tui.core.text import reveal

_CONTEXT = 3
_SLOW = 4_000


def show_diff(path: str, before: str, after: str) -> DiffDisplay:
    """The whole change of one file as a unified diff, invisible characters made visible."""
    lines = "\n".join(reveal(line) for line in _diff(path, before, after))
    return DiffDisplay(reveal(path), lines)


def count_changes(display: DiffDisplay) -> str:
    """A diff in short: ``+3 -1``."""
    lines = display.diff.split("\n")[2:]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return f"+{added} -{removed}"


def _diff(path: str, before: str, after: str) -> Iterator[str]:
    if _is_crlf(before) and _is_crlf(after):
        before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    old, new = _lines(before), _lines(after)
    yield f"--- {'a/' + path if before else '/dev/null'}"
    yield f"+++ b/{path}"
    skipped = _common_start(old, new)
    tail = _common_start(old[skipped:][::-1], new[skipped:][::-1])
    start = max(skipped - _CONTEXT, 0)
    cut = max(tail - _CONTEXT, 0)
    middle_old, middle_new = old[start : len(old) - cut], new[start : len(new) - cut]
    for group in _groups(middle_old, middle_new):
        yield _hunk_header(group, start)
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from _marked(" ", middle_old[i1:i2])
                continue
            yield from _marked("-", middle_old[i1:i2])
            yield from _marked("+", middle_new[j1:j2])


_Opcode = tuple[str, int, int, int, int]


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[list[_Opcode]]:
    """Hunks; where a minimal diff would take too long, one hunk replaces everything."""
    if old == new:
        return
    if min(len(old), len(new)) > _SLOW:
        yield [("replace", 0, len(old), 0, len(new))]
        return
    yield from SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT)


def _hunk_header(group: list[_Opcode], offset: int) -> str:
    first, last = group[0], group[-1]
    old = _range(first[1] + offset, last[2] + offset)
    new = _range(first[3] + offset, last[4] + offset)
    return f"@@ -{old} +{new} @@"


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _lines(text: str) -> list[str]:
    """Lines with their ends, split at newlines only: a form feed is no end of a line."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _is_crlf(text: str) -> bool:
    return text.count("\r\n") == text.count("\n")


def _common_start(old: Sequence[str], new: Sequence[str]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count
