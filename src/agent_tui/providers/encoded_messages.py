"""Conversations as the JSON of a request: a message is encoded once, however often it is sent."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeAlias

from agent_tui.core.records import AssistantMessage, Message
from agent_tui.providers.server_events import encode_json

WriteMessage: TypeAlias = Callable[[Message], dict[str, Any] | None]
"""A message as an API wants it; None for one that must not be sent."""


class EncodedMessages:
    """The messages of one conversation; a request costs the encoding of what was added to it."""

    def __init__(self, write: WriteMessage) -> None:
        self._write = write
        self._messages: tuple[Message, ...] = ()
        self._pieces: list[bytes] = []
        self._call_ids: set[str] = set()

    @property
    def call_ids(self) -> Collection[str]:
        """The ids of all calls in it."""
        return self._call_ids

    def begins(self, messages: tuple[Message, ...]) -> bool:
        """Whether these may be the same conversation, grown or changed at its end."""
        return self._messages[:1] == messages[:1]

    def take(self, messages: tuple[Message, ...], first: bytes = b"") -> bytes:
        """The messages as one JSON array, behind an element that is already encoded."""
        kept = common_length(self._messages, messages)
        if kept < len(self._messages):
            del self._pieces[kept:]
            self._call_ids = set()
            self._note_calls(messages[:kept])
        added = messages[kept:]
        self._pieces += map(self._encode, added)
        self._note_calls(added)
        self._messages = messages
        array = b"".join((b"[", first, *self._pieces, b"]"))
        return array if first or array[1:2] != b"," else b"[" + array[2:]

    def _encode(self, message: Message) -> bytes:
        """A message with a comma before it."""
        fields = self._write(message)
        return b"" if fields is None else b"," + encode_json(fields)

    def _note_calls(self, messages: tuple[Message, ...]) -> None:
        for message in messages:
            if isinstance(message, AssistantMessage):
                self._call_ids.update(call.id for call in message.tool_calls)


def sendable(text: str) -> str:
    """Half surrogate pairs cannot be sent: they are replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def common_length(old: tuple[Message, ...], new: tuple[Message, ...]) -> int:
    """How many messages two histories have in common at their beginning.

    Histories mostly grow: that is seen in one comparison, which does not look into messages that
    are the same objects. Elsewhere the place is found by halving.
    """
    low, high = 0, min(len(old), len(new))
    if old[:high] == new[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
