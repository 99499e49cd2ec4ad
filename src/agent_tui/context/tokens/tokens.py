"""How many tokens things are: exact by tiktoken where the model's ranks are known and loaded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, assert_never

from agent_tui.context.cache import CacheStatistics, new_count_cache
from agent_tui.context.tokens.counting import CountingProcess, counting_process
from agent_tui.context.tokens.estimate import estimate_tokens, quick_token_count
from agent_tui.context.tokens.media import count_media
from agent_tui.core.messages import (
    MediaPart,
    TextPart,
    ThinkPart,
    UnknownPart,
    thinking_of,
)
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage

if TYPE_CHECKING:
    from agent_tui.providers.base import ToolSchema

MESSAGE_TOKENS = 4  # the role and the marks around a message
CALL_TOKENS = 8  # the id of a call and the marks around it
SCHEMA_TOKENS = 8
NAMED_MEDIA_TOKENS = 4  # media in answers and results are sent as a word that names them
EXACT_LIMIT_CHARS = 200_000
_SAMPLE_CHARS, _SAMPLES = 20_000, 8
_PATIENCE_SECONDS = 0.015
_CHARS_AT_ONCE = 500_000


class TokenCounter:
    """Counts everything that a request sends, for one model.

    Until ``warm`` has loaded the ranks, and for models whose encoding is not known, counts are
    estimates (``exact`` is False). Counts are remembered by content: a text is counted once.

    Args:
        model: the model's name, by which its encoding is found.
        thinking_sent: whether the reasoning of tool-calling turns is sent back to the model.
    """

    def __init__(self, model: str = "", *, thinking_sent: bool = True) -> None:
        self.model = model
        self._thinking_sent = thinking_sent
        self._process: CountingProcess | None = None
        self._counts = new_count_cache()

    @property
    def exact(self) -> bool:
        """Whether counts are the model's own."""
        return self._process is not None

    @property
    def statistics(self) -> CacheStatistics:
        """How the memory of counts is doing."""
        return self._counts.statistics

    def warm(self) -> None:
        """Have exact counts from now on, where the model's encoding is known; blocks for 0.5 s."""
        from agent_tui.providers.catalog import encoding_of

        name = encoding_of(self.model)
        if name is not None and self._process is None:
            process = counting_process(name)
            if process.start():
                self._counts.clear()
                self._process = process

    def close(self) -> None:
        """End the process that counts; counts that are known stay exact."""
        if self._process is not None:
            self._process.stop()

    def count_text(self, text: str) -> int:
        """The tokens of a text; on the event loop, a guess where an exact count would take long."""
        key = _key_of(text)
        found = self._counts.get(key)
        if found is None:
            counts = self._count_exactly((text,))
            found = counts[0] if counts else _estimate(text)
            if counts or not self.exact:
                self._counts.put(key, found)
        return found

    def _count_exactly(self, texts: Sequence[str]) -> list[int]:
        """The model's own counts; empty where they are not to be had now.

        A text that would hold things up is counted in samples, and scaled.
        """
        if self._process is None:
            return []
        samples = [sample for text in texts for sample in _samples(text)]
        patience = _PATIENCE_SECONDS if _on_event_loop() else None
        counts = self._process.count(samples, patience)
        if len(counts) != len(samples):
            return []
        counted = iter(counts)
        return [_whole_count(text, list(islice(counted, len(_samples(text))))) for text in texts]

    def count_message(self, message: Message) -> int:
        """The tokens that a message adds to a request."""
        return MESSAGE_TOKENS + sum(tokens for _, tokens in self.count_parts(message))

    def count_messages(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of each message."""
        if self._process is not None and len(messages) > 1:
            self._count_ahead(messages)
        return [self.count_message(message) for message in messages]

    def _count_ahead(self, messages: Sequence[Message]) -> None:
        """Have all texts of many messages counted in few questions."""
        wanted: dict[str, None] = {}
        for message in messages:
            self._parts(message, lambda text: wanted.setdefault(text) or 0)
        waiting = [text for text in wanted if text and not self._counts.holds(_key_of(text))]
        for some in _in_portions(waiting, _CHARS_AT_ONCE):
            for text, tokens in zip(some, self._count_exactly(some), strict=False):
                self._counts.put(_key_of(text), tokens)

    def quick_message_count(self, message: Message) -> int:
        """About the tokens of a message: rough, quick, and right on average over many."""
        content = message.content
        if not isinstance(content, str):
            return self.count_message(message)
        tokens = MESSAGE_TOKENS + quick_token_count(content)
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                tokens += CALL_TOKENS + len(call.name) // 4 + quick_token_count(call.arguments)
        return tokens

    def count_tools(self, tools: Iterable[ToolSchema]) -> int:
        """The tokens that the declarations of tools add to a request."""
        return sum(self.count_tool(tool) for tool in tools)

    def count_tool(self, tool: ToolSchema) -> int:
        """The tokens of one declaration."""
        schema = json.dumps(tool.parameters, ensure_ascii=False, separators=(",", ":"))
        return (
            SCHEMA_TOKENS
            + self.count_text(tool.name)
            + self.count_text(tool.description)
            + self.count_text(schema)
        )

    def count_parts(self, message: Message) -> list[tuple[str, int]]:
        """What a message is made of: (``text``, ``thinking``, ``calls`` or ``media``, tokens)."""
        return self._parts(message, self.count_text)

    def _parts(self, message: Message, count: Callable[[str], int]) -> list[tuple[str, int]]:
        match message:
            case UserMessage() | ToolMessage():
                return _count_content(message, count, thinking=False)
            case AssistantMessage():
                thinking = self._thinking_sent and bool(message.tool_calls)
                parts = _count_content(message, count, thinking=thinking)
                for call in message.tool_calls:
                    tokens = CALL_TOKENS + count(call.name) + count(call.arguments)
                    parts.append(("calls", tokens))
                return parts
            case _:
                assert_never(message)


def _count_content(
    message: Message, count: Callable[[str], int], *, thinking: bool
) -> list[tuple[str, int]]:
    content = message.content
    if isinstance(content, str):
        return [("text", count(content))]
    counted = []
    for part in content:
        match part:
            case TextPart(text):
                counted.append(("text", count(text)))
            case MediaPart():
                sent = isinstance(message, UserMessage)
                counted.append(("media", count_media(part) if sent else NAMED_MEDIA_TOKENS))
            case ThinkPart():
                pass
            case UnknownPart(fields):
                counted.append(("text", count(str(fields.get("type", "")))))
            case _:
                assert_never(part)
    reasoning = thinking_of(content) if thinking else ""
    if reasoning:
        counted.append(("thinking", count(reasoning)))
    return counted


def _in_portions(texts: Iterable[str], most_chars: int) -> Iterator[list[str]]:
    portion: list[str] = []
    chars = 0
    for text in texts:
        portion.append(text)
        chars += len(text)
        if chars > most_chars:
            yield portion
            portion, chars = [], 0
    if portion:
        yield portion


def _samples(text: str) -> tuple[str, ...]:
    """The text, or of a long one pieces from all over it."""
    if len(text) <= EXACT_LIMIT_CHARS:
        return (text,)
    step = (len(text) - _SAMPLE_CHARS) / (_SAMPLES - 1)
    starts = (round(number * step) for number in range(_SAMPLES))
    return tuple(text[start : start + _SAMPLE_CHARS] for start in starts)


def _key_of(text: str) -> str:
    """By what a count is remembered: looking all through megabytes would hold things up."""
    if len(text) <= EXACT_LIMIT_CHARS:
        return text
    return f"{len(text)} characters: {''.join(_samples(text))}"


def _whole_count(text: str, counts: Sequence[int]) -> int:
    """The tokens of a text whose samples were counted."""
    if len(counts) == 1:
        return counts[0]
    return round(sum(counts) * len(text) / (_SAMPLES * _SAMPLE_CHARS))


def _estimate(text: str) -> int:
    return _whole_count(text, [estimate_tokens(sample) for sample in _samples(text)])


def _on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
