"""Our requests as Anthropic's Messages API wants them.

Rules for a history that was written at another provider: thinking is sent only as it was signed
there, never as text; ids and names of calls are respelt where this API refuses them; arguments
that are no object are sent as an empty one; what has no place is named in words.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_never

import msgspec

from agent_tui.config.settings import ThinkingLevel
from agent_tui.core.messages import (
    Content,
    MediaPart,
    Part,
    TextPart,
    ThinkPart,
    ToolCall,
    UnknownPart,
)
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.providers.base import ModelRequest, ToolSchema
from agent_tui.providers.encoded_messages import common_length, sendable
from agent_tui.providers.server_events import encode_json

REDACTED = "redacted:"
"""Before what a server encrypted whole in place of a thought."""
_BUDGETS = {"low": 4_096, "medium": 10_000, "high": 24_000}
_FIXED_BUDGET = re.compile(
    r"claude-(?:[123]\b|instant|(?:sonnet|opus|haiku)-(?:3|4)(?:-[0-5])?(?!\d|-[6-9]))"
)
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_DATA_URL = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,(.*)", re.DOTALL)
_MARK = b',"cache_control":{"type":"ephemeral"}}'
_MARKED_TURNS = 2
_MARKABLE = (b'{"type":"text"', b'{"type":"image"', b'{"type":"tool_')


@dataclass(slots=True)
class Quirks:
    """What a server was found to refuse; learnt from its answers, kept between them."""

    signatures: bool = True
    thinking: bool = True
    budget: bool | None = None
    cache_marks: bool = True

    def learn(self, words: str) -> bool:
        """Take a lesson from a refusal; True when the request is worth another try."""
        if "signature" in words and self.signatures:
            self.signatures = False
        elif "cache_control" in words and self.cache_marks:
            self.cache_marks = False
        elif re.search(r"thinking|budget_tokens|output_config|effort|adaptive", words):
            if not self.thinking:
                return False
            if self.budget is None:
                self.budget = "budget_tokens" not in words and "enabled" not in words
            else:
                self.thinking = False
        else:
            return False
        return True


class AnthropicBodies:
    """Writes the bodies of requests; of a conversation only what was added is encoded again.

    Thread-safe: a body of megabytes is written off the event loop.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[Any, ...] = ()
        self._messages: tuple[Message, ...] = ()
        self._pieces: list[_Piece] = []

    def write(
        self, request: ModelRequest, quirks: Quirks, level: ThinkingLevel | None, most: int
    ) -> bytes:
        """The body of a request.

        Args:
            request: what to send.
            quirks: what this server refuses.
            level: how hard to think; None leaves thinking out.
            most: how many tokens the model can answer at most.
        """
        with self._lock:
            pieces = self._encode(request, quirks)
        fields: dict[str, Any] = {"model": request.model, "stream": True}
        most = min(most, request.max_output_tokens or most)
        thinks = level not in (None, "off") and quirks.thinking and _may_think(request, quirks)
        if thinks and level is not None:
            fields |= _thinking_fields(request.model, level, quirks, most)
        fields["max_tokens"] = most
        if request.system_prompt.strip():
            fields["system"] = [_marked_text(request.system_prompt, marked=quirks.cache_marks)]
        if request.tools:
            fields["tools"] = write_tools(request.tools)
        fields["messages"] = msgspec.Raw(_join(pieces, marks=quirks.cache_marks))
        return msgspec.json.encode(fields)

    def _encode(self, request: ModelRequest, quirks: Quirks) -> list[_Piece]:
        key = (request.model, quirks.signatures, bool(request.tools))
        if key != self._key:
            self._key, self._messages, self._pieces = key, (), []
        kept = common_length(self._messages, request.messages)
        del self._pieces[kept:]
        for message in request.messages[kept:]:
            blocks = write_blocks(
                message, request.model, signed=quirks.signatures, with_tools=bool(request.tools)
            )
            role = "assistant" if isinstance(message, AssistantMessage) else "user"
            self._pieces.append(_Piece(role, tuple(map(encode_json, blocks))))
        self._messages = request.messages
        return self._pieces


@dataclass(frozen=True, slots=True)
class _Piece:
    """The encoded blocks of one message."""

    role: str
    blocks: tuple[bytes, ...]


def _join(pieces: list[_Piece], *, marks: bool) -> bytes:
    """The messages: neighbours of one role are one; the last turns of the user are marked."""
    turns: list[tuple[str, list[bytes]]] = []
    for piece in pieces:
        if not piece.blocks:
            continue
        if turns and turns[-1][0] == piece.role:
            turns[-1][1].extend(piece.blocks)
        else:
            turns.append((piece.role, list(piece.blocks)))
    users = [blocks for role, blocks in turns if role == "user"]
    for blocks in users[-_MARKED_TURNS:] if marks else ():
        if blocks[-1].startswith(_MARKABLE):
            blocks[-1] = blocks[-1][:-1] + _MARK
    rows = (b'{"role":"%s","content":[%s]}' % (r.encode(), b",".join(b)) for r, b in turns)
    return b"[" + b",".join(rows) + b"]"


def _may_think(request: ModelRequest, quirks: Quirks) -> bool:
    """Whether thinking can be on: a turn with calls under way must begin with a signed thought."""
    for message in reversed(request.messages):
        if isinstance(message, UserMessage):
            return True
        if isinstance(message, AssistantMessage) and message.tool_calls:
            thoughts = _thoughts(message, request.model) if quirks.signatures else ()
            return any(True for _ in thoughts)
    return True


def _thinking_fields(model: str, level: ThinkingLevel, quirks: Quirks, most: int) -> dict[str, Any]:
    """How this model is told to think: a budget for older ones, an effort for all others."""
    by_budget = _FIXED_BUDGET.search(model) is not None
    if quirks.budget is not None:
        by_budget = quirks.budget
    if not by_budget:
        adaptive = {"type": "adaptive", "display": "summarized"}
        return {"thinking": adaptive, "output_config": {"effort": level}}
    budget = min(_BUDGETS[level], most // 2)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= 1_024 else {}


def write_tools(tools: tuple[ToolSchema, ...]) -> list[dict[str, Any]]:
    """The tools as this API declares them."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        for tool in tools
    ]


def write_blocks(
    message: Message, model: str, *, signed: bool = True, with_tools: bool = True
) -> list[dict[str, Any]]:
    """The content blocks of a message; none for one that must not be sent."""
    match message:
        case UserMessage():
            return list(_write_content(message.content))
        case AssistantMessage():
            return list(_write_answer(message, model, signed=signed, with_tools=with_tools))
        case ToolMessage():
            content = list(_write_content(message.content))
            if not with_tools:
                return content
            result: dict[str, Any] = {
                "type": "tool_result",
                "tool_use_id": call_id(message.tool_call_id),
                "content": content,
            }
            return [result | ({"is_error": True} if message.is_error else {})]
        case _:
            assert_never(message)


def _write_answer(
    message: AssistantMessage, model: str, *, signed: bool, with_tools: bool
) -> Iterator[dict[str, Any]]:
    said = [block for block in _write_content(message.content) if block["type"] == "text"]
    if not said and not message.tool_calls:
        return
    if signed:
        yield from _thoughts(message, model)
    yield from said
    for call in message.tool_calls:
        yield _write_call(call) if with_tools else _text(f"[called {call.name}]")


def _thoughts(message: AssistantMessage, model: str) -> Iterator[dict[str, Any]]:
    """The thoughts that were signed by a model whose signatures this one knows."""
    if isinstance(message.content, str) or not _is_kin(message.model or "", model):
        return
    for part in message.content:
        if not isinstance(part, ThinkPart) or not part.encrypted:
            continue
        if part.encrypted.startswith(REDACTED):
            yield {"type": "redacted_thinking", "data": part.encrypted.removeprefix(REDACTED)}
        else:
            thought = sendable(part.think)
            yield {"type": "thinking", "thinking": thought, "signature": part.encrypted}


def _is_kin(writer: str, model: str) -> bool:
    return writer == model or ("claude" in writer and "claude" in model)


def _write_call(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = {}
    name = _FOREIGN.sub("_", call.name)[:128] or "unnamed_tool"
    fields = arguments if isinstance(arguments, dict) else {}
    return {"type": "tool_use", "id": call_id(call.id), "name": name, "input": fields}


def call_id(own: str) -> str:
    """An id as this API allows it, the same for a call and its result."""
    if own and not _FOREIGN.search(own):
        return own
    return f"call_{hashlib.sha256(own.encode('utf-8', 'replace')).hexdigest()[:24]}"


def _write_content(content: Content) -> Iterator[dict[str, Any]]:
    parts = (TextPart(content),) if isinstance(content, str) else content
    for part in parts:
        block = _write_part(part)
        if block is not None:
            yield block


def _write_part(part: Part) -> dict[str, Any] | None:
    match part:
        case TextPart(text):
            return _text(text) if text.strip() else None
        case ThinkPart():
            return None
        case MediaPart(kind="image_url", url=url):
            return _write_image(url)
        case MediaPart(kind=kind):
            return _text(f"[{kind.removesuffix('_url')}]")
        case UnknownPart(fields):
            return _text(f"[a part of type {fields.get('type', 'unknown')!s:.40}]")
        case _:
            assert_never(part)


def _write_image(url: str) -> dict[str, Any]:
    if match := _DATA_URL.fullmatch(url):
        source = {"type": "base64", "media_type": match[1], "data": match[2]}
    elif url.startswith("https://"):
        source = {"type": "url", "url": url}
    else:
        return _text("[image]")
    return {"type": "image", "source": source}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": sendable(text)}


def _marked_text(text: str, *, marked: bool) -> dict[str, Any]:
    return _text(text) | ({"cache_control": {"type": "ephemeral"}} if marked else {})
