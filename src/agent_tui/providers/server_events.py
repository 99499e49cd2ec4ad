"""Server-sent events: the bytes of a stream, cut into the data of each event."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import field
from typing import Any

import msgspec

from agent_tui.core.dataclass import dataclass
from agent_tui.core.long_texts import lift_long_texts, put_back
from agent_tui.providers.bounds import MOST_EVENT_BYTES, TooMuch


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event; ``name`` is empty where the server gave none."""

    name: str
    data: bytes


@dataclass(slots=True)
class EventReader:
    """Takes bytes as they arrive, cut anywhere, and gives the events that they complete.

    Raises TooMuch for a line or an event that has no end.
    """

    _name: str = ""
    _data: list[bytes] = field(default_factory=list)
    _line: list[bytes] = field(default_factory=list)
    _after_return: bool = False
    _waiting: int = 0

    def feed(self, data: bytes) -> Iterator[ServerEvent]:
        """The events that end in these bytes."""
        if not data:
            return
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]
        self._after_return = data.endswith(b"\r")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._waiting += len(data)
        if self._waiting > MOST_EVENT_BYTES:
            raise TooMuch(f"an event of more than {MOST_EVENT_BYTES // 1_000_000} MB")
        first, *lines = data.split(b"\n")
        self._line.append(first)
        for started in lines:
            whole = self._line[0] if len(self._line) == 1 else b"".join(self._line)
            self._line = [started]
            yield from self._take(whole)

    def close(self) -> Iterator[ServerEvent]:
        """The last event, where the stream ended without the blank line behind it."""
        return self._end()

    def _take(self, line: bytes) -> Iterator[ServerEvent]:
        if not line:
            yield from self._end()
        elif line.startswith(b"data:"):
            self._data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
        elif line.startswith(b"event:"):
            self._name = line[6:].strip().decode("utf-8", "replace")

    def _end(self) -> Iterator[ServerEvent]:
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            yield ServerEvent(self._name, data)
        self._name, self._data, self._waiting = "", [], 0


def decode_json(data: bytes) -> Any:
    """What a server wrote as JSON; bytes that are no UTF-8 are replaced, NaN is understood.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    try:
        return msgspec.json.decode(data)
    except ValueError:  # rare: the slower and more patient reader decides
        return json.loads(data.decode("utf-8", "replace"))


def encode_json(value: Any) -> bytes:
    """JSON in UTF-8, also of texts with half surrogate pairs and of very long ones."""
    bare, texts = lift_long_texts(value)
    return b"".join(put_back(_encode_value(bare), texts, _encode_value))


def _encode_value(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value).encode()
