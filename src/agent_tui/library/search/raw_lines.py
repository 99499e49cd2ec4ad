"""The finished lines of a session's file, from a byte on, and what tells two of them apart."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from agent_tui.core.jsonl import MAX_LINE_BYTES
from agent_tui.importers.importer import SessionRef

_BLOCK = 1 << 20


def whole_lines(ref: SessionRef, start: int) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of every finished line from a place on; longer ones than we read are not."""
    with ref.path.open("rb") as file:
        file.seek(start)
        offset, rest, left_out = start, b"", 0
        while block := file.read(_BLOCK):
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                if not left_out and len(line) > 2:
                    yield offset, line
                offset += left_out + len(line) + 1
                left_out = 0
            if len(rest) > MAX_LINE_BYTES:
                left_out, rest = left_out + len(rest), b""


def digest_of(line: bytes) -> int:
    """63 bits of a line's hash: what two logs of a session share is the same to the byte."""
    return int.from_bytes(blake2b(line, digest_size=8).digest()) >> 1 or 1
