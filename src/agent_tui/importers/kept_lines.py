"""Lines of files that are read again and again, kept so that only what was added is read.

A file that was replaced, truncated or rewritten is read from its beginning: one is known by its
inode, its first bytes and those before the place it was read up to. One that was written without
growing was rewritten in its middle.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

_HEAD = 4096
_END = 512
_LONGEST = 64 << 20
"""Of a longer file nothing is kept: its values would take too much memory."""

Value: TypeAlias = dict[str, Any] | bool
"""What a line holds: an object; True for a blank line, False for a damaged one."""


@dataclass(slots=True)
class KeptFile:
    """What was read of one file, up to ``offset``."""

    inode: int = 0
    size: int = 0
    changed_ns: int = 0
    offset: int = 0
    head: bytes = b""
    end: bytes = b""
    values: list[Value] = field(default_factory=list)

    def still_begins(self, descriptor: int) -> bool:
        """Whether an open file begins with what was read."""
        status = os.fstat(descriptor)
        return (
            status.st_ino == self.inode
            and status.st_size >= self.offset
            and (status.st_size > self.size or status.st_ctime_ns == self.changed_ns)
            and os.pread(descriptor, len(self.head), 0) == self.head
            and os.pread(descriptor, len(self.end), self.offset - len(self.end)) == self.end
        )

    def remember(self, descriptor: int, offset: int) -> None:
        """The file was read up to a place, which is the beginning of a line."""
        status = os.fstat(descriptor)
        self.inode, self.offset = status.st_ino, offset
        self.size, self.changed_ns = status.st_size, status.st_ctime_ns
        self.head = os.pread(descriptor, min(_HEAD, offset), 0)
        start = max(0, offset - _END)
        self.end = os.pread(descriptor, offset - start, start)


class KeptLines:
    """The lines of the files that were read inside ``used``; for one thread at a time.

    Attributes:
        bytes_read: how much was read there in all.
    """

    def __init__(self) -> None:
        self._files: dict[Path, KeptFile] = {}
        self.bytes_read = 0

    @contextmanager
    def used(self) -> Iterator[None]:
        """Everything that is read inside is kept, and what was kept is not read."""
        token = _KEPT.set(self)
        try:
            yield
        finally:
            _KEPT.reset(token)

    def find(self, path: Path, descriptor: int) -> KeptFile:
        """What is kept of an open file; nothing where it is another one by now."""
        kept = self._files.get(path)
        if kept is None or not kept.still_begins(descriptor):
            kept = self._files[path] = KeptFile()
        return kept

    def add(
        self, path: Path, kept: KeptFile, values: list[Value], descriptor: int, offset: int
    ) -> None:
        """Keep what was read of a file up to a place; nothing of one that is too long."""
        kept.values += values
        kept.remember(descriptor, offset)
        if offset > _LONGEST:
            self._files.pop(path, None)


_KEPT: ContextVar[KeptLines | None] = ContextVar("kept lines", default=None)


def lines_in_use() -> KeptLines | None:
    """What keeps lines here; None where nothing does."""
    return _KEPT.get()
