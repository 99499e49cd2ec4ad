"""How many tokens things are: exact by tiktoken where the model's ranks are known and loaded."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, assert_never

from agent_tui.context.cache import CacheStatistics, new_count_cache
from agent_tui.context.tokens.estimate import estimate_tokens, glance_tokens
from agent_tui.context.tokens.media import count_media
from agent_tui.core.messages import (
    MediaPart,
    TextPart,
    ThinkPart,
    ToolCall,
    UnknownPart,
    thinking_of,
)
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage

if TYPE_CHECKING:
    import tiktoken

    from agent_tui.providers.base import ToolSchema

MESSAGE_TOKENS = 4  # the role and the marks around a message
CALL_TOKENS = 8  # the id of a call and the marks around it
SCHEMA_TOKENS = 8
NAMED_MEDIA_TOKENS = 4  # media in answers and results are sent as a word that names them
EXACT_LIMIT_CHARS = 200_000
_SAMPLE_CHARS = 50_000


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
        self._encoding: tiktoken.Encoding | None = None
        self._counts = new_count_cache()

    @property
    def exact(self) -> bool:
        """Whether counts are the model's own."""
        return self._encoding is not None

    @property
    def statistics(self) -> CacheStatistics:
        """How the memory of counts is doing."""
        return self._counts.statistics

    def warm(self) -> None:
        """Load the ranks of the model's encoding, where it has one. Run it in a thread (0.3 s)."""
        from agent_tui.context.tokens.ranks import load_encoding
        from agent_tui.providers.catalog import encoding_of

        name = encoding_of(self.model)
        if name is not None and self._encoding is None:
            encoding = load_encoding(name)
            self._counts.clear()
            self._encoding = encoding

    def count_text(self, text: str) -> int:
        """The tokens of a text."""
        found = self._counts.get(text)
        if found is None:
            encoding = self._encoding
            found = estimate_tokens(text) if encoding is None else _count_exactly(encoding, text)
            self._counts.put(text, found)
        return found

    def count_message(self, message: Message) -> int:
        """The tokens that a message adds to a request."""
        return MESSAGE_TOKENS + sum(tokens for _, tokens in self.count_parts(message))

    def count_messages(self, messages: Iterable[Message]) -> list[int]:
        """The tokens of each message."""
        return [self.count_message(message) for message in messages]

    def glance_message(self, message: Message) -> int:
        """About the tokens of a message: rough, quick, and right on average over many."""
        content = message.content
        if not isinstance(content, str):
            return self.count_message(message)
        tokens = MESSAGE_TOKENS + glance_tokens(content)
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                tokens += CALL_TOKENS + len(call.name) // 4 + glance_tokens(call.arguments)
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
        match message:
            case UserMessage() | ToolMessage():
                return self._count_content(message, thinking=False)
            case AssistantMessage():
                thinking = self._thinking_sent and bool(message.tool_calls)
                parts = self._count_content(message, thinking=thinking)
                for call in message.tool_calls:
                    parts.append(("calls", self._count_call(call)))
                return parts
            case _:
                assert_never(message)

    def _count_call(self, call: ToolCall) -> int:
        return CALL_TOKENS + self.count_text(call.name) + self.count_text(call.arguments)

    def _count_content(self, message: Message, *, thinking: bool) -> list[tuple[str, int]]:
        content = message.content
        count = self.count_text
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


def _count_exactly(encoding: tiktoken.Encoding, text: str) -> int:
    """Encode a text; of one that would hold things up, encode three samples and scale."""
    if len(text) <= EXACT_LIMIT_CHARS:
        return len(encoding.encode_ordinary(text))
    middle = len(text) // 2
    samples = (
        text[:_SAMPLE_CHARS],
        text[middle : middle + _SAMPLE_CHARS],
        text[-_SAMPLE_CHARS:],
    )
    exact = sum(len(encoding.encode_ordinary(sample)) for sample in samples)
    guessed = sum(estimate_tokens(sample) for sample in samples)
    return round(estimate_tokens(text) * exact / guessed) if guessed else estimate_tokens(text)
