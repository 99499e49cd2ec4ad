"""One message in the form of OpenAI's chat completions, as several agents write it."""

from __future__ import annotations

from typing import Any

from agent_tui.core.messages import (
    Content,
    MediaPart,
    Part,
    TextPart,
    ThinkPart,
    ToolCall,
    UnknownPart,
)
from agent_tui.core.origins import Origin
from agent_tui.core.records import (
    AssistantMessage,
    Record,
    Stamp,
    SystemPrompt,
    ToolMessage,
    UserMessage,
)
from agent_tui.importers import fields

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def message_of(value: dict[str, Any], stamp: Stamp) -> Record | None:
    """The record of one message; None where its role is not known."""
    content = _content(value.get("content"))
    match value.get("role"):
        case "system" | "developer":
            return SystemPrompt(fields.text_of_parts(value.get("content")), stamp)
        case "user":
            origin: Origin = "reminder" if value.get("injected") is True else "human"
            return UserMessage(content, origin, stamp=stamp)
        case "assistant":
            return _assistant(value, content, stamp)
        case "tool" | "function":
            call = fields.text(value, "tool_call_id") or fields.text(value, "name")
            failed = value.get("is_error") is True
            return ToolMessage(call, content, is_error=failed, stamp=stamp)
        case _:
            return None


def _assistant(value: dict[str, Any], content: Content, stamp: Stamp) -> AssistantMessage:
    thinking = fields.text(value, "reasoning_content") or fields.text(value, "reasoning")
    if thinking:
        said: tuple[Part, ...] = (TextPart(content),) if isinstance(content, str) else content
        content = (ThinkPart(thinking), *(part for part in said if part != TextPart("")))
    calls = [_call(call) for call in fields.array(value, "tool_calls") if isinstance(call, dict)]
    if old := fields.table(value, "function_call"):
        calls.append(ToolCall(fields.text(old, "name"), *_named(old)))
    return AssistantMessage(content, tuple(calls), fields.text(value, "model") or None, stamp=stamp)


def _call(call: dict[str, Any]) -> ToolCall:
    return ToolCall(fields.text(call, "id"), *_named(fields.table(call, "function") or call))


def _named(function: dict[str, Any]) -> tuple[str, str]:
    arguments = fields.arguments_text(function.get("arguments"))
    return fields.text(function, "name"), arguments


def _content(content: Any) -> Content:
    if not isinstance(content, list):
        return fields.text_of_parts(content)
    return tuple(_part(part) for part in content)


def _part(part: Any) -> Part:
    if isinstance(part, str):
        return TextPart(part)
    match fields.text(part, "type"):
        case "text" | "input_text" | "output_text" if isinstance(part.get("text"), str):
            return TextPart(part["text"])
        case "image_url":
            url = part["image_url"]
            url = url if isinstance(url, str) else fields.text(url, "url")
            return MediaPart("image_url", url) if url else UnknownPart(part)
        case "thinking" | "reasoning" if said := fields.text(part, "thinking"):
            return ThinkPart(said)
        case _:
            return UnknownPart(part if isinstance(part, dict) else {"value": part})
