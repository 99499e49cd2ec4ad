"""A reply while it arrives: deltas gather into the message that will be written."""

from __future__ import annotations

from dataclasses import field
from time import monotonic
from typing import assert_never

from agent_tui.core.dataclass import dataclass
from agent_tui.core.events import (
    ReplyEnded,
    StreamPart,
    TextDelta,
    ThinkDelta,
    ToolCallBegan,
    ToolCallDelta,
)
from agent_tui.core.messages import Content, Part, TextPart, ThinkPart, ToolCall
from agent_tui.core.records import AssistantMessage
from agent_tui.core.usage import Usage


@dataclass(slots=True)
class _CallDraft:
    id: str
    name: str
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _ThoughtDraft:
    text: list[str] = field(default_factory=list)
    signature: str | None = None


@dataclass(slots=True)
class Reply:
    """Everything of one answer that has arrived so far."""

    text: list[str] = field(default_factory=list)
    thoughts: list[_ThoughtDraft] = field(default_factory=list)
    usage: Usage | None = None
    finish_reason: str = ""
    _calls: dict[int, _CallDraft] = field(default_factory=dict)
    _thinking_since: float | None = None
    _thought_seconds: float = 0.0

    def add(self, part: StreamPart) -> None:
        """Take in the next part of the stream."""
        self._time(part)
        match part:
            case TextDelta(text):
                self.text.append(text)
            case ThinkDelta(text, encrypted):
                self._think(text, encrypted)
            case ToolCallBegan(index, call_id, name):
                self._calls[index] = _CallDraft(call_id, name)
            case ToolCallDelta(index, arguments):
                self._calls[index].arguments.append(arguments)
            case ReplyEnded(finish_reason, usage):
                self.finish_reason, self.usage = finish_reason, usage
            case _:
                assert_never(part)

    def _time(self, part: StreamPart) -> None:
        """Measure how long thinking takes: until something else comes."""
        if isinstance(part, ThinkDelta):
            if self._thinking_since is None:
                self._thinking_since = monotonic()
        elif self._thinking_since is not None:
            self._thought_seconds += monotonic() - self._thinking_since
            self._thinking_since = None

    def _think(self, text: str, encrypted: str | None) -> None:
        """Continue a thought; a signature closes it, and the next one is another."""
        if not self.thoughts or self.thoughts[-1].signature is not None:
            self.thoughts.append(_ThoughtDraft())
        self.thoughts[-1].text.append(text)
        self.thoughts[-1].signature = encrypted

    @property
    def is_empty(self) -> bool:
        """Whether nothing worth keeping has arrived: thinking alone is not an answer."""
        return not self._calls and not _has_words(self.text)

    @property
    def has_started(self) -> bool:
        """Whether anything has arrived that a person may have seen."""
        return bool(self.text or self.thoughts or self._calls)

    @property
    def has_words(self) -> bool:
        """Whether an interrupted reply is worth keeping: text or thinking, more than blanks."""
        return _has_words(self.text) or any(_has_words(each.text) for each in self.thoughts)

    def message(self, *, turn: int, model: str, with_calls: bool = True) -> AssistantMessage:
        """The message to be written; an interrupted reply leaves its half-written calls out."""
        calls = tuple(
            ToolCall(draft.id, draft.name, "".join(draft.arguments))
            for _, draft in sorted(self._calls.items())
        )
        return AssistantMessage(
            self._content(),
            calls if with_calls else (),
            model=model,
            turn=turn,
            thinking_seconds=round(self._thought_seconds, 1),
        )

    def _content(self) -> Content:
        text = "".join(self.text)
        thoughts = (ThinkPart("".join(each.text), each.signature) for each in self.thoughts)
        parts: list[Part] = [each for each in thoughts if each.think or each.encrypted]
        if not parts:
            return text
        if text:
            parts.append(TextPart(text))
        return tuple(parts)


def _has_words(pieces: list[str]) -> bool:
    """Whether there is more than blanks, seen without joining megabytes."""
    return any(piece and not piece.isspace() for piece in pieces)
