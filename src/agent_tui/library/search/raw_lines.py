"""The finished lines of a session's file, from a byte on, and what tells two of them apart."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from agent_tui.core.jsonl import MAX_LINE_BYTES
from agent_tui.importers.importer import SessionRef
from agent_tui.importers.lines import open_to_read

_BLOCK = 1 << 18
_LOOK_BACK = 64 << 10
_LINES_BACK = 50


def whole_lines(ref: SessionRef, start: int) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of every finished line from a place on; longer ones than we read are not."""
    with open_to_read(ref.path, _BLOCK) as file:
        file.seek(start)
        offset, is_cut = start, False
        while line := file.readline(MAX_LINE_BYTES + 1):
            is_whole = line[-1:] == b"\n"
            if not is_whole and len(line) <= MAX_LINE_BYTES:
                return  # being written: its end may come before the next look at it
            if is_whole and not is_cut and len(line) > 3:
                yield offset, line[:-1]
            offset += len(line)
            is_cut = not is_whole


def digest_of(line: bytes) -> int:
    """63 bits of a line's hash: what two logs of a session share is the same to the byte."""
    return int.from_bytes(blake2b(line, digest_size=8).digest()) >> 1 or 1


def lines_before(ref: SessionRef, place: int) -> Iterator[bytes]:
    """Some tens of the finished lines before a place, the last first, up to a long one."""
    start = max(0, place - _LOOK_BACK)
    with open_to_read(ref.path) as file:
        file.seek(start)
        before = file.read(place - start)
    lines = before.removesuffix(b"\n").rsplit(b"\n", _LINES_BACK)
    if start or len(lines) > _LINES_BACK:
        del lines[0]  # it may have begun before what was read
    yield from reversed(lines)
