"""One item of a Codex session as ours: what was said to the model, and what it said."""

from __future__ import annotations

import json
import re
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
    Message,
    Stamp,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.usage import Usage
from agent_tui.importers import fields

_INJECTED = (
    "<user_instructions>",
    "<environment_context>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<skill>",
    "<subagent_notification>",
    "<user_shell_command>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
)
"""How messages in the user's name begin that Codex wrote."""

_CALLS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "tool_call"}
)
_RESULTS = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "tool_search_output",
        "tool_result",
        "function_result",
        "mcp_tool_call_output",
    }
)
_LONGEST_HEAD = 400
_EXIT = re.compile(
    r"\A(?:(?!Output:\n)[^\n]*\n)*?(?:Exit code: |Process exited with code )(-?\d+)\s*(?:\n|\Z)"
)
"""How a command ended, in the lines that Codex puts before its output."""

_SERVER_SIDE = frozenset({"web_search_call", "image_generation_call", "file_search_call"})


def item_of(item: dict[str, Any], stamp: Stamp) -> Message | None:
    """The message, or the part of an answer, that an item is; None where it is not known."""
    kind, role = fields.text(item, "type"), fields.text(item, "role")
    if kind in ("message", "") and role:
        content = _content(item.get("content", item.get("message")))
        if role == "assistant":
            parts = (TextPart(content),) if isinstance(content, str) else content
            return AssistantMessage(parts, stamp=stamp)
        return UserMessage(content, _origin(role, content), stamp=stamp)
    if kind == "reasoning":
        return AssistantMessage(_thinking(item), stamp=stamp)
    if kind in _CALLS:
        return AssistantMessage((), (_call(item, kind),), stamp=stamp)
    if kind in _SERVER_SIDE:
        return AssistantMessage((UnknownPart(item),), stamp=stamp)
    if kind in _RESULTS:
        return _result(item, stamp)
    if kind == "agent_message":
        return UserMessage(_content(item.get("content")), "agent", stamp=stamp)
    return None


def _origin(role: str, content: Content) -> Origin:
    said = content if isinstance(content, str) else _first_text(content)
    if role != "user" or said.lstrip().startswith(_INJECTED):
        return "reminder"
    return "human"


def _first_text(parts: tuple[Part, ...]) -> str:
    return next((part.text for part in parts if isinstance(part, TextPart)), "")


def _content(content: Any) -> Content:
    if not isinstance(content, list):
        return fields.text_of_parts(content)
    parts = [_part(part) for part in content if not _is_empty_image(part)]
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return tuple(parts)


def _is_empty_image(part: Any) -> bool:
    return fields.text(part, "type") == "input_image" and not part.get("image_url")


def _part(part: Any) -> Part:
    if isinstance(part, str):
        return TextPart(part)
    kind = fields.text(part, "type")
    if kind in ("input_text", "output_text", "text", "summary_text", "reasoning_text"):
        return TextPart(fields.text(part, "text"))
    if kind == "input_image" and fields.text(part, "image_url"):
        return MediaPart("image_url", part["image_url"])
    return UnknownPart(part if isinstance(part, dict) else {"value": part})


def _thinking(item: dict[str, Any]) -> tuple[Part, ...]:
    said = [fields.text(part, "text") for part in fields.array(item, "summary")]
    said += [fields.text(part, "text") for part in fields.array(item, "content")]
    encrypted = fields.text(item, "encrypted_content") or None
    return (ThinkPart("\n\n".join(text for text in said if text), encrypted),)


def _call(item: dict[str, Any], kind: str) -> ToolCall:
    name = fields.text(item, "name") or fields.text(item.get("function"), "name")
    if space := fields.text(item, "namespace"):
        name = f"{space}__{name}"
    given = item.get("arguments", item.get("input", item.get("action")))
    arguments = fields.arguments_text(given)
    if kind == "custom_tool_call" and not arguments.lstrip().startswith("{"):
        arguments = json.dumps({"input": given}, ensure_ascii=False)
    return ToolCall(call_id(item), name or kind.removesuffix("_call"), arguments)


def call_id(item: dict[str, Any]) -> str:
    """The id that joins a call and its result."""
    return fields.text(item, "call_id") or fields.text(item, "id")


def _result(item: dict[str, Any], stamp: Stamp) -> ToolMessage:
    output = item.get("output", item.get("result", item.get("tools")))
    told = _told_in(output)
    if isinstance(told.get("output"), str):
        output = told["output"]
    if isinstance(output, dict):
        output = output.get("content", fields.text_of_parts(output) or fields.json_text(output))
    content = _content(output) if isinstance(output, list) else fields.json_text(output or "")
    return ToolMessage(call_id(item), content, is_error=is_failed(item), stamp=stamp)


def is_failed(item: dict[str, Any]) -> bool:
    """Whether an item is the result of a call that failed: Codex says so in one of four ways."""
    output = item.get("output", item.get("result", item.get("tools")))
    if fields.text(item, "type") not in _RESULTS:
        return False
    if isinstance(output, str) and (begin := _EXIT.search(output[:_LONGEST_HEAD])):
        return int(begin[1]) != 0
    told = output if isinstance(output, dict) else _told_in(output)
    code = fields.table(told, "metadata").get("exit_code", told.get("exitCode"))
    return told.get("success") is False or (isinstance(code, int) and code != 0)


def _told_in(output: Any) -> dict[str, Any]:
    """The object that older versions wrote an output into, as text; empty where there is none."""
    if not (isinstance(output, str) and output.startswith("{") and '"output"' in output):
        return {}
    try:
        told = json.loads(output)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def usage_of(info: dict[str, Any], at: str | None) -> UsageRecord | None:
    """The last request's count of a ``token_count`` event; None where it holds none."""
    counts = fields.table(info, "last_token_usage")
    usage = Usage(
        input_tokens=fields.number(counts, "input_tokens") or fields.number(info, "prompt"),
        output_tokens=fields.number(counts, "output_tokens") or fields.number(info, "completion"),
        cached_tokens=fields.number(counts, "cached_input_tokens"),
        reasoning_tokens=fields.number(counts, "reasoning_output_tokens"),
    )
    total = fields.number(counts, "total_tokens") or usage.total_tokens
    return UsageRecord(total, usage, stamp=Stamp(at=at)) if total else None


def turn_usage_of(counts: dict[str, Any], at: str | None) -> UsageRecord | None:
    """What a ``turn.completed`` event was billed."""
    return usage_of({"last_token_usage": counts}, at)
