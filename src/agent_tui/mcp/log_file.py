"""What a server says beside the protocol, kept in a file of bounded size, never on the screen."""

from __future__ import annotations

import os
from pathlib import Path

_LARGEST = 1_000_000


class LogFile:
    """Takes bytes until it is full; begins again with each start of its server."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._room = _LARGEST
        self._last = b""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
        self._descriptor = os.open(path, flags, 0o600)

    def write(self, data: bytes) -> None:
        """Take a piece; what finds no room, or no disk, is dropped."""
        self._last = (self._last + data)[-2_000:]
        kept = data[: self._room]
        self._room -= len(kept)
        if kept:
            try:
                os.write(self._descriptor, kept)
            except OSError:
                self._room = 0

    @property
    def last_line(self) -> str:
        """The last line that says something: often why a server ended."""
        lines = self._last.decode("utf-8", "replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
