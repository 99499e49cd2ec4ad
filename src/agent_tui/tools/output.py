"""What a program printed, kept in constant memory: the beginning, the end, and how much between."""

from __future__ import annotations

import re
from collections import deque

from agent_tui.core.text import clean

_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
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


def readable(data: bytes) -> str:
    """Program output as text: wrong bytes replaced, colours dropped, other escapes made visible."""
    text = _COLOUR.sub("", data.decode("utf-8", "replace"))
    return clean(_RETURNS.sub("\n", text))
