"""The finished lines of a session's file, from a byte on, and what tells two of them apart."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from agent_tui.core.jsonl import MAX_LINE_BYTES
from agent_tui.importers.importer import SessionRef

_BLOCK = 1 << 18


def whole_lines(ref: SessionRef, start: int) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of every finished line from a place on; longer ones than we read are not."""
    with ref.path.open("rb", buffering=_BLOCK) as file:
        file.seek(start)
        offset, is_cut = start, False
        while line := file.readline(MAX_LINE_BYTES + 1):
            is_whole = line[-1:] == b"\n"
            if is_whole and not is_cut and len(line) > 3:
                yield offset, line[:-1]
            offset += len(line)
            is_cut = not is_whole


def digest_of(line: bytes) -> int:
    """63 bits of a line's hash: what two logs of a session share is the same to the byte."""
    return int.from_bytes(blake2b(line, digest_size=8).digest()) >> 1 or 1
