"""Lines of files that are read again and again, kept so that only what was added is parsed.

A file that was replaced, truncated or changed anywhere in what was read is read from its beginning:
one is known by a checksum of the lines that are kept, at a fraction of the time that parsing them
took.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

_BLOCK = 1 << 20
_LONGEST = 64 << 20
"""Of a longer file nothing is kept: its values would take too much memory."""

Value: TypeAlias = dict[str, Any] | bool
"""What a line holds: an object; True for a blank line, False for a damaged one."""


@dataclass(slots=True)
class KeptFile:
    """A file's first lines: those up to ``offset``, whose bytes have a checksum.

    ``values`` are what they hold, unless only the checksum is kept.
    """

    offset: int = 0
    checksum: int = 0
    is_parsed: bool = True
    values: list[Value] = field(default_factory=list)

    def add(self, line: bytes, value: Value) -> None:
        """One more line was read whole, the next one of the file."""
        self.values.append(value)
        self._pass(line, b"\n")

    def pass_lines(self, descriptor: int) -> None:
        """Take the checksum of the lines of an open file, as far as any would be kept."""
        held: list[bytes] = []
        place = self.offset
        while place < _LONGEST and (block := os.pread(descriptor, _BLOCK, place)):
            place += len(block)
            lines, end, rest = block.rpartition(b"\n")
            if end:
                self._pass(*held, lines, end)
                held.clear()
            held.append(rest)

    def _pass(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.offset += len(piece)
            self.checksum = crc32(piece, self.checksum)

    def still_begins(self, descriptor: int) -> bool:
        """Whether an open file begins with what was read."""
        if os.fstat(descriptor).st_size < self.offset:
            return False
        offset = checksum = 0
        while block := os.pread(descriptor, min(_BLOCK, self.offset - offset), offset):
            checksum = crc32(block, checksum)
            offset += len(block)
        return (offset, checksum) == (self.offset, self.checksum)


class KeptLines:
    """The lines of the files that were read inside ``used``; for one thread at a time.

    Attributes:
        bytes_read: how much was read and parsed there in all.
        was_rewritten: whether, the last time, one of the files no longer began as it did before.
    """

    def __init__(self) -> None:
        self._files: dict[Path, KeptFile] = {}
        self.bytes_read = 0
        self.was_rewritten = False

    @contextmanager
    def used(self) -> Iterator[None]:
        """Everything that is read inside is kept, and what was kept is not parsed again."""
        self.was_rewritten = False
        token = _KEPT.set(self)
        try:
            yield
        finally:
            _KEPT.reset(token)

    def find(self, path: Path, descriptor: int) -> KeptFile:
        """What is kept of an open file; nothing where it is another one by now."""
        kept = self._files.get(path)
        if kept is not None and not kept.still_begins(descriptor):
            self.was_rewritten, kept = True, None
        if kept is None or not kept.is_parsed:
            kept = self._files[path] = KeptFile()
        return kept

    def watch(self, path: Path, descriptor: int) -> None:
        """Keep of an open file only what tells whether it is rewritten."""
        kept = self._files[path] = KeptFile(is_parsed=False)
        kept.pass_lines(descriptor)

    def drop_if_long(self, path: Path) -> None:
        """Keep nothing of a file that is too long."""
        if path in self._files and self._files[path].offset > _LONGEST:
            del self._files[path]


_KEPT: ContextVar[KeptLines | None] = ContextVar("kept lines", default=None)


def lines_in_use() -> KeptLines | None:
    """What keeps lines here; None where nothing does."""
    return _KEPT.get()
