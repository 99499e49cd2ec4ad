"""Histories in which pictures are named instead of shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from agent_tui.core.messages import MediaPart, TextPart
from agent_tui.core.records import Message
from agent_tui.tools.image_file import UNSEEN

REFUSED = "[A picture that the server refused.]"


class NamedImages:
    """Histories for a model that cannot see; only what was added to the last one is read.

    Args:
        which: the URLs of the pictures to name; all of them where it is None.
        said: what stands in the place of each.
    """

    def __init__(self, which: Collection[str] | None = None, said: str = UNSEEN) -> None:
        self._which = which
        self._said = TextPart(said)
        self._history: tuple[Message, ...] = ()
        self._told: tuple[Message, ...] = ()

    def told(self, history: tuple[Message, ...]) -> tuple[Message, ...]:
        """A history in which each picture is named instead of shown."""
        known = len(self._history)
        if history[:known] != self._history:
            known = 0
        added = (self._name(each) for each in history[known:])
        self._told = (*self._told[:known], *added)
        self._history = history
        return self._told

    def _name(self, message: Message) -> Message:
        if isinstance(message.content, str) or not any(map(self._is_named, message.content)):
            return message
        parts = tuple(self._said if self._is_named(part) else part for part in message.content)
        return replace(message, content=parts)

    def _is_named(self, part: object) -> bool:
        if not isinstance(part, MediaPart) or part.kind != "image_url":
            return False
        return self._which is None or part.url in self._which


def image_urls(history: Iterable[Message]) -> Iterator[str]:
    """The pictures of a history."""
    for message in history:
        if not isinstance(message.content, str):
            for part in message.content:
                if isinstance(part, MediaPart) and part.kind == "image_url":
                    yield part.url
