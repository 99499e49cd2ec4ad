"""What a program printed, kept in constant memory: the beginning, the end, and how much between."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable

from agent_tui.core.shell import left_out_line
from agent_tui.core.text import clean, format_count
from agent_tui.tools.blobs import LARGEST_BLOB_BYTES, Blob, BlobFolder

_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_RECENT_BYTES = 4_000
_TELL_SECONDS = 0.1
_RETURNS = re.compile(r"\r+\n?")


class BoundedOutput:
    """Takes any amount of output and keeps at most ``limit`` bytes of it.

    More than that is kept in a blob, where there are any.
    """

    def __init__(self, limit: int, blobs: BlobFolder | None = None) -> None:
        self._limit = limit
        self._blobs = blobs
        self._blob: Blob | None = None
        self._kept = ""
        self._head_limit = limit // 3
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._breaks = 0
        self.total_bytes = 0

    def feed(self, data: bytes) -> bool:
        """Take more; always wants more, since only the end tells how a command went."""
        self._keep(data)
        self.total_bytes += len(data)
        self._breaks += data.count(b"\n")
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data[-self._tail_limit :])
            self._tail_bytes += len(self._tail[-1])
            self._drop_oldest()
        return True

    def _keep(self, data: bytes) -> None:
        if self._blob is None and self._blobs and self.total_bytes + len(data) > self._limit:
            self._blob, self._blobs = self._blobs.begin(), None
            if self._blob is not None:
                self._blob.write(bytes(self._head) + b"".join(self._tail))
        if self._blob is not None:
            self._blob.write(data)

    def finish(self) -> None:
        """Nothing more comes: name what is kept of it all."""
        if self._blob is not None:
            part = f" first {LARGEST_BLOB_BYTES:,} bytes" if self._blob.is_full else " whole output"
            path, self._blob = self._blob.finish(), None
            self._kept = f"; the{part}: read_file {path}" if path else ""

    def _drop_oldest(self) -> None:
        while self._tail_bytes - len(self._tail[0]) >= self._tail_limit:
            self._tail_bytes -= len(self._tail.popleft())

    def text(self) -> str:
        """What was kept, decoded and made safe to show; a line tells what is missing."""
        tail = b"".join(self._tail)[-self._tail_limit :]
        if len(self._head) + len(tail) == self.total_bytes:
            return readable(bytes(self._head) + tail)
        head = bytes(self._head[: self._head.rfind(b"\n") + 1] or self._head)
        cut = tail.find(b"\n") + 1
        tail = tail[cut:] or tail
        missing = self.total_bytes - len(head) - len(tail)
        lines = self._breaks - head.count(b"\n") - tail.count(b"\n")
        note = left_out_line(lines, missing, self._kept)
        return "\n".join([readable(head.removesuffix(b"\n")), note, readable(tail)])


class ToldOutput(BoundedOutput):
    """Output whose last rows are told while it comes, some times a second.

    Make it on the event loop; ``feed`` is called in a thread, ``tell`` on the loop.
    """

    def __init__(
        self,
        limit: int,
        tell: Callable[[str], None] | None,
        blobs: BlobFolder | None = None,
    ) -> None:
        super().__init__(limit, blobs)
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._recent = b""
        self._is_asked = False

    def feed(self, data: bytes) -> bool:
        if self._tell is not None:
            self._recent = (self._recent + data)[-_RECENT_BYTES:]
            if not self._is_asked:
                self._is_asked = True
                self._loop.call_soon_threadsafe(self._loop.call_later, _TELL_SECONDS, self._say)
        return super().feed(data)

    def _say(self) -> None:
        self._is_asked = False
        if self._tell is not None:
            self._tell(readable(self._recent))

    def close(self) -> None:
        """Tell nothing more."""
        self._tell = None
        self.finish()


def readable(data: bytes) -> str:
    """Program output as text: wrong bytes replaced, colours dropped, other escapes made visible."""
    text = _COLOUR.sub("", data.decode("utf-8", "replace"))
    return clean(_RETURNS.sub("\n", text))


def cut_text(text: str, limit: int, blobs: BlobFolder | None) -> str:
    """The beginning of a text that is too long, how much is missing, and where the whole is."""
    more = len(text) - limit
    if more <= 0:
        return text
    path = blobs.keep(text) if blobs else ""
    where = f"; the whole text: read_file {path}" if path else ""
    return f"{text[:limit]}\n[… {format_count(more, 'more character')}{where}]"
