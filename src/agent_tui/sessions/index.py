"""Where each line of a big log begins and what role it has, without parsing it; the tail first.

Nine bytes a line: a log of a gigabyte is open in a few megabytes. Roles are read from the first
bytes of a line and are a hint for lists and jumps; ``read`` gives the records themselves.
"""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent_tui.core.jsonl import MAX_LINE_BYTES
from agent_tui.core.records import MESSAGE_ROLES
from agent_tui.sessions.disk import reading
from agent_tui.sessions.replay import Damage, Item, parse_item

ROLES = (
    "",
    *MESSAGE_ROLES,
    "_session",
    "_system_prompt",
    "_checkpoint",
    "_usage",
    "_compaction",
    "_revert",
    "_head",
    "_branch_summary",
    "_label",
    "_title",
    "_model",
    "_approval",
    "_turn_end",
)
"""What a role code stands for; 0 is a blank line or a role that the first bytes do not tell."""

_BLOCK = 256 << 10  # what a processor core keeps at hand
_PREFIX = 14
_CODES = {
    f'{{"role":{space}"{role}"'.encode()[:_PREFIX]: code
    for code, role in enumerate(ROLES)
    if code
    for space in ("", " ")
}
_ROLE = re.compile(rb'"role"\s*:\s*"([a-z_]{1,20})"')
_BY_NAME = {role.encode(): code for code, role in enumerate(ROLES)}
_LOOK = 300
_ERROR = b'"is_error":true'
_NO_ERROR = (b'"interrupted":true', b'"rejected":true')
_CARRIED = max(map(len, (_ERROR, *_NO_ERROR))) - 1
_TURN_END = ROLES.index("_turn_end")
_FAILED = b'{"role":"_turn_end","end":"failed"'


class LogIndex:
    """The lines of one log file, found as far as ``grow`` has been.

    Attributes:
        path: the file.
        size: bytes of the file when it was opened or last grown.
        scanned: bytes whose lines are found.
        inode: which file it was; a log that was replaced has another one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.scanned = 0
        self._starts = array("Q", [0])
        self._roles = bytearray(1)
        self._errors = array("Q")
        self._last_head = b""
        self._last_end = b""
        self._last_fails = False
        with reading(path) as (_, status):
            self.size = status.st_size
            self.inode = status.st_ino

    def __len__(self) -> int:
        return len(self._starts) - (self._starts[-1] == self.scanned)

    @property
    def is_complete(self) -> bool:
        """Whether every line that was in the file is found."""
        return self.scanned >= self.size

    def span(self, line: int) -> tuple[int, int]:
        """Offset and length of a line, its newline included."""
        start = self._starts[line]
        return start, self._end(line) - start

    def _end(self, line: int) -> int:
        return self._starts[line + 1] if line + 1 < len(self._starts) else self.scanned

    def role(self, line: int) -> str:
        """The role of a line as its first bytes tell; empty when they do not."""
        return ROLES[self._roles[line]]

    def lines_of(self, role: str) -> Iterator[int]:
        """The numbers of all lines of a role, ascending."""
        code = _BY_NAME[role.encode()]
        line = self._roles.find(code)
        while line >= 0:
            yield line
            line = self._roles.find(code, line + 1)

    def errors(self, first: int, stop: int) -> Sequence[int]:
        """The lines of a stretch that tell of a failed call or turn; a hint, as roles are."""
        found = self._errors[bisect_left(self._errors, first) : bisect_left(self._errors, stop)]
        last = len(self._starts) - 1
        if first <= last < stop and self._is_last_failed:
            found.append(last)  # it may still go on
        return found

    def count(self, role: str) -> int:
        """How many lines of a role are found."""
        return self._roles.count(_BY_NAME[role.encode()])

    def count_messages(self) -> int | None:
        """How many lines are messages; None where only some of them are on the active path."""
        if self.count("_head"):  # of several branches only a reader can tell which is active
            return None
        return self.count_in_all_branches()

    def count_in_all_branches(self) -> int:
        """How many lines are messages, on the active path or not."""
        return sum(map(self.count, MESSAGE_ROLES))

    def grow(self, most_bytes: int = 1 << 62) -> bool:
        """Find the lines of the next bytes, new ones at the end included; whether any is left."""
        with reading(self.path) as (descriptor, status):
            self.size = max(self.size, status.st_size)
            end = min(self.size, self.scanned + most_bytes)
            while self.scanned < end:
                block = os.pread(descriptor, min(_BLOCK, end - self.scanned), self.scanned)
                if not block:
                    break
                self._take(block)
        return not self.is_complete

    def _take(self, block: bytes) -> None:
        base = self.scanned
        first = len(self._starts)
        if len(self._last_head) < _LOOK:  # the block before broke this line off
            self._last_head += block[: _LOOK - len(self._last_head)]
            self._roles[-1] = _code(self._last_head)
        find, known = block.find, _CODES.get
        add_start, add_role = self._starts.append, self._roles.append
        end = find(b"\n")
        self._add_to_last(block[: end if end >= 0 else len(block)])
        if end >= 0 and self._is_last_failed:
            self._errors.append(first - 1)
        at = end + 1
        while at:
            add_start(base + at)
            add_role(known(block[at : at + _PREFIX], 0))
            at = find(b"\n", at) + 1
        self.scanned += len(block)
        if end < 0:
            return
        line = self._roles.find(0, first)
        while line >= 0:
            start = self._starts[line] - base
            self._roles[line] = _code(block[start : start + _LOOK])
            line = self._roles.find(0, line + 1)
        start = self._starts[-1] - base
        failed = {*self._failed_calls(block, base, first), *self._failed_turns(block, base, first)}
        self._errors.extend(sorted(failed))
        self._last_head = block[start : start + _LOOK]
        self._last_end, self._last_fails = b"", False
        self._add_to_last(block[start:])

    @property
    def _is_last_failed(self) -> bool:
        return self._last_fails or self._last_head.startswith(_FAILED)

    def _add_to_last(self, piece: bytes) -> None:
        """Judge the last line by one more piece of it; a sign may lie across two pieces."""
        piece = self._last_end + piece
        self._last_fails = _tells_failure(piece, self._last_fails)
        self._last_end = piece[-_CARRIED:]

    def _failed_calls(self, block: bytes, base: int, first: int) -> Iterator[int]:
        """Calls that failed, of the lines that the block holds whole."""
        last = self._starts[-1] - base
        at = block.find(_ERROR, self._starts[first] - base, last)
        while at >= 0:
            end = block.find(b"\n", at)
            if _tells_failure(block[at:end]):
                yield bisect_right(self._starts, base + at) - 1
            at = block.find(_ERROR, end, last)

    def _failed_turns(self, block: bytes, base: int, first: int) -> Iterator[int]:
        """Turns that failed, of the lines that the block holds whole."""
        last = len(self._starts) - 1
        line = self._roles.find(_TURN_END, first, last)
        while line >= 0:
            if block.startswith(_FAILED, self._starts[line] - base):
                yield line
            line = self._roles.find(_TURN_END, line + 1, last)

    def read(self, start: int, stop: int) -> list[Item]:
        """The records and the damage of lines ``start`` to ``stop``; blank lines are left out."""
        stop = min(stop, len(self))
        if start >= stop:
            return []
        offset = self._starts[start]
        with reading(self.path) as (descriptor, _):
            return _read_span(descriptor, offset, self._end(stop - 1) - offset)


def read_tail(path: Path, most: int) -> list[Item]:
    """The last records of a log, at most so many, found from its end: no index is needed."""
    with reading(path) as (descriptor, status):
        start = _find_tail(descriptor, status.st_size, most)
        items = _read_span(descriptor, start, status.st_size - start)
    return items[-most:]


def _find_tail(descriptor: int, size: int, most: int) -> int:
    """Where the last ``most`` lines begin: blocks are read backwards until enough ends are seen."""
    position = size
    missing = most + 1
    while position > 0:
        start = max(0, position - _BLOCK)
        block = os.pread(descriptor, position - start, start)
        found = block.count(b"\n")
        if found >= missing:
            at = len(block)
            for _ in range(missing):
                at = block.rfind(b"\n", 0, at)
            return start + at + 1
        missing -= found
        position = start
    return 0


def _read_span(descriptor: int, offset: int, length: int) -> list[Item]:
    if length > 2 * MAX_LINE_BYTES:
        return [Damage(offset, length, f"{length:,} bytes are more than are read at once")]
    data = os.pread(descriptor, length, offset)
    items = []
    for line in data.split(b"\n"):
        size = min(len(line) + 1, length)
        item = parse_item(line, offset, size)
        if item is not None:
            items.append(item)
        offset += size
        length -= size
    return items


def _tells_failure(piece: bytes, before: bool = False) -> bool:
    """Whether a line tells of a failed call: by its last sign, or as the pieces before it told."""
    at = piece.rfind(_ERROR)
    if at < 0 and not before:
        return False
    return not any(piece.find(sign, max(at, 0)) >= 0 for sign in _NO_ERROR)


def _code(head: bytes) -> int:
    code = _CODES.get(head[:_PREFIX])
    if code is None:
        found = _ROLE.search(head.partition(b"\n")[0])
        code = _BY_NAME.get(found.group(1), 0) if found else 0
    return code
