"""Our requests as an OpenAI-compatible server wants them."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any, assert_never

import msgspec

from agent_tui.core.messages import (
    Content,
    MediaPart,
    Part,
    TextPart,
    ThinkPart,
    ToolCall,
    UnknownPart,
    text_of,
    thinking_of,
)
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.providers.base import ModelRequest, ToolSchema
from agent_tui.providers.bounds import LONGEST_ID
from agent_tui.providers.encoded_messages import EncodedMessages, sendable
from agent_tui.providers.server_events import encode_json

_CONVERSATIONS = 4
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_PLAIN_ID = re.compile(r"[!-~]+")
_EFFORTS = {"off": "minimal"}
_AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


@dataclass(slots=True)
class Quirks:
    """What a server was found to refuse or to want; learnt from its answers, kept between them."""

    stream_options: bool = True
    completion_tokens: bool = False
    reasoning_content: bool = False
    reasoning_effort: bool = True

    def learn(self, words: str) -> bool:
        """Take a lesson from a refusal; True when the request is worth another try."""
        if "stream_options" in words and self.stream_options:
            self.stream_options = False
        elif "max_completion_tokens" in words and not self.completion_tokens:
            self.completion_tokens = True
        elif "reasoning_effort" in words and self.reasoning_effort:
            self.reasoning_effort = False
        elif "reasoning_content" in words:
            self.reasoning_content = not self.reasoning_content
        else:
            return False
        return True


class ChatBodies:
    """Writes the bodies of requests; of a conversation only what was added is encoded again.

    Thread-safe: a body of megabytes is written off the event loop. ``level_of`` says how hard a
    model should think; None leaves that to the server.
    """

    def __init__(self, level_of: Callable[[str], str | None] = lambda _: None) -> None:
        self._level_of = level_of
        self._lock = threading.Lock()
        self._conversations: list[tuple[bool, EncodedMessages]] = []
        self._tools: tuple[ToolSchema, ...] = ()
        self._encoded_tools = b""

    def write(self, request: ModelRequest, quirks: Quirks) -> tuple[bytes, Collection[str]]:
        """The body of a request, and the ids of the calls in it."""
        with self._lock:
            conversation = self._find(request, quirks.reasoning_content)
            system = {"role": "system", "content": sendable(request.system_prompt)}
            first = encode_json(system) if request.system_prompt else b""
            messages = conversation.take(request.messages, first)
            fields: dict[str, Any] = {"model": request.model, "messages": msgspec.Raw(messages)}
            if request.tools:
                fields["tools"] = msgspec.Raw(self._encode_tools(request.tools))
        fields["stream"] = True
        if quirks.stream_options:
            fields["stream_options"] = {"include_usage": True}
        if request.max_output_tokens is not None:
            name = "max_completion_tokens" if quirks.completion_tokens else "max_tokens"
            fields[name] = request.max_output_tokens
        level = self._level_of(request.model)
        if level is not None and quirks.reasoning_effort:
            fields["reasoning_effort"] = _EFFORTS.get(level, level)
        return msgspec.json.encode(fields), conversation.call_ids

    def _find(self, request: ModelRequest, with_reasoning: bool) -> EncodedMessages:
        """What is known of a request's conversation; a request without tools is no part of one."""
        write = partial(write_message, with_reasoning=with_reasoning)
        if not request.tools:
            return EncodedMessages(write)
        known = self._conversations
        for place, (reasoning, conversation) in enumerate(known):
            if reasoning == with_reasoning and conversation.begins(request.messages):
                known.insert(0, known.pop(place))
                return conversation
        known.insert(0, (with_reasoning, EncodedMessages(write)))
        del known[_CONVERSATIONS:]
        return known[0][1]

    def _encode_tools(self, tools: tuple[ToolSchema, ...]) -> bytes:
        if self._tools is not tools:
            self._tools, self._encoded_tools = tools, encode_json(write_tools(tools))
        return self._encoded_tools


def write_tools(tools: tuple[ToolSchema, ...]) -> list[dict[str, Any]]:
    """The tools as function declarations."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in tools
    ]


def write_message(message: Message, with_reasoning: bool) -> dict[str, Any] | None:
    """A message, of a history that was repaired: each call with its result.

    Thinking is never sent as text; ``with_reasoning`` sends that of tool-calling turns as
    ``reasoning_content``, which some servers demand and others refuse.
    """
    match message:
        case UserMessage():
            return {"role": "user", "content": _write_content(message.content)}
        case AssistantMessage():
            return _write_answer(message, with_reasoning)
        case ToolMessage():
            return {
                "role": "tool",
                "tool_call_id": _sendable_id(message.tool_call_id),
                "content": _plain_content(message.content),
            }
        case _:
            assert_never(message)


def _write_answer(message: AssistantMessage, with_reasoning: bool) -> dict[str, Any] | None:
    """An assistant turn; None for one that holds nothing but thinking: servers refuse it."""
    text = _plain_content(message.content)
    if not message.tool_calls:
        return {"role": "assistant", "content": text} if text else None
    fields: dict[str, Any] = {
        "role": "assistant",
        "content": text,
        "tool_calls": [_write_call(call) for call in message.tool_calls],
    }
    thinking = thinking_of(message.content)
    if with_reasoning and thinking:
        fields["reasoning_content"] = sendable(thinking)
    return fields


def _write_call(call: ToolCall) -> dict[str, Any]:
    arguments = sendable(call.arguments) or "{}"
    # Of a name that no tool can have, servers refuse every request in which it is.
    name = _FOREIGN.sub("_", call.name)[:_LONGEST_NAME] or "unnamed_tool"
    return {
        "id": _sendable_id(call.id),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _sendable_id(own: str) -> str:
    """An id that a server can read, the same for a call and its result."""
    if len(own) <= LONGEST_ID and _PLAIN_ID.fullmatch(own):
        return own
    return f"call_{hashlib.sha256(own.encode('utf-8', 'replace')).hexdigest()[:24]}"


def _plain_content(content: Content) -> str:
    """Text for the roles that may hold nothing else; what cannot be sent is named."""
    if isinstance(content, str):
        return sendable(content)
    said = (
        text_of((part,)) or _name_part(part) for part in content if not isinstance(part, ThinkPart)
    )
    return sendable("".join(said))


def _write_content(content: Content) -> str | list[dict[str, Any]]:
    """A user's content: a string where it is all text, which every server understands."""
    if isinstance(content, str):
        return sendable(content)
    parts = [part for part in content if not isinstance(part, ThinkPart)]
    if all(isinstance(part, TextPart) for part in parts):
        return sendable(text_of(content))
    return [_write_part(part) for part in parts]


def _write_part(part: Part) -> dict[str, Any]:
    match part:
        case TextPart(text):
            return {"type": "text", "text": sendable(text)}
        case MediaPart(kind="audio_url", url=url) if url.startswith("data:"):
            return _write_audio(url)
        case MediaPart(kind=kind, url=url):
            return {"type": kind, kind: {"url": url}}
        case ThinkPart() | UnknownPart():
            return {"type": "text", "text": _name_part(part)}
        case _:
            assert_never(part)


def _write_audio(url: str) -> dict[str, Any]:
    kind, _, data = url.removeprefix("data:").partition(";base64,")
    audio_format = _AUDIO_FORMATS.get(kind, kind.rpartition("/")[2])
    return {"type": "input_audio", "input_audio": {"data": data, "format": audio_format}}


def _name_part(part: Part) -> str:
    """Words in place of a part that this role or this server cannot hold."""
    if isinstance(part, MediaPart):
        return f"[{part.kind.removesuffix('_url')}]"
    if isinstance(part, UnknownPart):
        return f"[a part of type {part.fields.get('type', 'unknown')!s:.40}]"
    return ""
