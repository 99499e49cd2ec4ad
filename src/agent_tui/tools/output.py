"""What a program printed, kept in constant memory: the beginning, the end, and how much between."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable

from agent_tui.core.text import clean

_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_RECENT_BYTES = 4_000
_TELL_SECONDS = 0.1
_RETURNS = re.compile(r"\r+\n?")


class BoundedOutput:
    """Takes any amount of output and keeps at most ``limit`` bytes of it."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit // 3
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.total_bytes = 0

    def feed(self, data: bytes) -> bool:
        """Take more; always wants more, since only the end tells how a command went."""
        self.total_bytes += len(data)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data[-self._tail_limit :])
            self._tail_bytes += len(self._tail[-1])
            self._drop_oldest()
        return True

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
        return f"{readable(head)}\n[… {missing:,} bytes not shown …]\n{readable(tail)}"


class ToldOutput(BoundedOutput):
    """Output whose last rows are told while it comes, some times a second.

    Make it on the event loop; ``feed`` is called in a thread, ``tell`` on the loop.
    """

    def __init__(self, limit: int, tell: Callable[[str], None] | None) -> None:
        super().__init__(limit)
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


def readable(data: bytes) -> str:
    """Program output as text: wrong bytes replaced, colours dropped, other escapes made visible."""
    text = _COLOUR.sub("", data.decode("utf-8", "replace"))
    return clean(_RETURNS.sub("\n", text))
