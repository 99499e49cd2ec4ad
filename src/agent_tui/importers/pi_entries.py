"""One entry of a pi session as records of ours; what we do not know is kept as unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent_tui.core.messages import Content, MediaPart, Part, TextPart, ThinkPart, UnknownPart
from agent_tui.core.messages import ToolCall as Call
from agent_tui.core.records import (
    AssistantMessage,
    BranchSummary,
    CompactionRecord,
    LabelRecord,
    ModelRecord,
    Record,
    SessionHeader,
    Stamp,
    TitleRecord,
    ToolMessage,
    UnknownRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.usage import Usage
from agent_tui.importers.fields import arguments_text
from agent_tui.importers.imported import Records

_SETTINGS = frozenset({"thinking_level_change"})
"""Entries that no model is sent and nobody wants to see; they are left out by rule."""


def convert_entry(entry: dict[str, Any], compaction: int) -> Records:
    """The records of one entry; ``compaction`` is the number of a compaction entry."""
    if entry["type"] in _SETTINGS:
        return ()
    stamp = Stamp(_text(entry, "id") or None, _text(entry, "parentId") or None, _at(entry))
    try:
        if entry["type"] == "compaction":
            return _compaction(entry, compaction, stamp)
        convert = _CONVERTERS.get(entry["type"])
        if convert is not None:
            return convert(entry, stamp)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    return (UnknownRecord(str(entry["type"]), entry, stamp),)


def _at(entry: dict[str, Any]) -> str | None:
    return _text(entry, "timestamp") or None


def _text(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _number(value: dict[str, Any], key: str) -> int:
    found = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def _session(entry: dict[str, Any], stamp: Stamp) -> Records:
    parent = _text(entry, "parentSession") or _text(entry, "branchedFrom")
    at = Stamp(at=stamp.at)
    header = SessionHeader(
        session_id=_text(entry, "id"),
        cwd=_text(entry, "cwd"),
        created_at=stamp.at or "",
        version=f"pi session format {entry.get('version', 1)}",
        parent={"path": parent} if parent else None,
        stamp=at,
    )
    if _text(entry, "modelId"):
        return header, ModelRecord(_text(entry, "provider"), entry["modelId"], stamp=at)
    return (header,)


def _compaction(entry: dict[str, Any], number: int, stamp: Stamp) -> Records:
    details = entry.get("details")
    files = details.get("modifiedFiles") if isinstance(details, dict) else None
    summary = _text(entry, "summary")
    return (
        CompactionRecord(
            trigger="",
            strategy="",
            pre_tokens=_number(entry, "tokensBefore"),
            post_tokens=0,
            archive=number,
            files=tuple(str(file) for file in files) if isinstance(files, list) else (),
            stamp=stamp,
        ),
        UserMessage(summary, "compaction", stamp=Stamp(at=stamp.at)),
    )


def _message(entry: dict[str, Any], stamp: Stamp) -> Records:
    message = entry["message"]
    match message["role"]:
        case "user":
            return (UserMessage(_content(message["content"]), "human", stamp=stamp),)
        case "custom" | "hookMessage":
            return (UserMessage(_content(message["content"]), "reminder", stamp=stamp),)
        case "bashExecution":
            return (UserMessage(_bash(message), "human", stamp=stamp),)
        case "assistant":
            return _assistant(message, stamp)
        case "toolResult":
            return (
                ToolMessage(
                    tool_call_id=_required(message, "toolCallId"),
                    content=_content(message["content"]),
                    is_error=message.get("isError") is True,
                    stamp=stamp,
                ),
            )
        case _:
            return (UnknownRecord(str(message["role"]), entry, stamp),)


def _assistant(message: dict[str, Any], stamp: Stamp) -> Records:
    parts: list[Part] = []
    calls: list[Call] = []
    content = message["content"]
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if part["type"] == "toolCall":
            arguments = arguments_text(part.get("arguments") or {})
            calls.append(Call(_required(part, "id"), _required(part, "name"), arguments))
        else:
            parts.append(_part(part))
    if trouble := _text(message, "errorMessage"):
        parts.append(UnknownPart({"type": "error", "message": trouble}))
    answer = AssistantMessage(
        tuple(parts), tuple(calls), _text(message, "model") or None, stamp=stamp
    )
    usage = message.get("usage")
    if not isinstance(usage, dict) or not any(isinstance(n, int) and n for n in usage.values()):
        return (answer,)
    return answer, _usage(usage, stamp.at)


def _usage(usage: dict[str, Any], at: str | None) -> UsageRecord:
    cached = _number(usage, "cacheRead")
    counts = Usage(
        input_tokens=_number(usage, "input") + cached + _number(usage, "cacheWrite"),
        output_tokens=_number(usage, "output"),
        cached_tokens=cached,
        reasoning_tokens=_number(usage, "reasoning"),
    )
    total = _number(usage, "totalTokens") or counts.total_tokens
    return UsageRecord(total, counts, stamp=Stamp(at=at))


def _bash(message: dict[str, Any]) -> str:
    """A command that a person ran, as pi tells its model of it."""
    text = f"Ran `{message['command']}`\n"
    output = _text(message, "output")
    text += f"```\n{output}\n```" if output else "(no output)"
    if message.get("cancelled"):
        return text + "\n\n(command cancelled)"
    code = message.get("exitCode")
    return text + (f"\n\nCommand exited with code {code}" if code else "")


def _content(content: Any) -> Content:
    if isinstance(content, str):
        return content
    return tuple(_part(part) for part in content)


def _part(part: dict[str, Any]) -> Part:
    match part["type"]:
        case "text":
            return TextPart(_required(part, "text"))
        case "thinking":
            return ThinkPart(_required(part, "thinking"), _text(part, "thinkingSignature") or None)
        case "image":
            data = f"data:{_text(part, 'mimeType')};base64,{_required(part, 'data')}"
            return MediaPart("image_url", data)
        case _:
            return UnknownPart(part)


def _required(value: dict[str, Any], key: str) -> str:
    found = value[key]
    if not isinstance(found, str):
        raise TypeError(key)
    return found


def _custom_message(entry: dict[str, Any], stamp: Stamp) -> Records:
    return (UserMessage(_content(entry["content"]), "reminder", stamp=stamp),)


def _model(entry: dict[str, Any], stamp: Stamp) -> Records:
    return (ModelRecord(_text(entry, "provider"), _required(entry, "modelId"), stamp=stamp),)


def _label(entry: dict[str, Any], stamp: Stamp) -> Records:
    return (LabelRecord(_required(entry, "targetId"), _text(entry, "label"), stamp=stamp),)


def _name(entry: dict[str, Any], stamp: Stamp) -> Records:
    return (TitleRecord(_required(entry, "name"), stamp=stamp),)


def _branch_summary(entry: dict[str, Any], stamp: Stamp) -> Records:
    return (BranchSummary(_text(entry, "fromId"), _required(entry, "summary"), stamp),)


_CONVERTERS: dict[str, Callable[[dict[str, Any], Stamp], tuple[Record, ...]]] = {
    "session": _session,
    "message": _message,
    "custom_message": _custom_message,
    "model_change": _model,
    "label": _label,
    "session_info": _name,
    "branch_summary": _branch_summary,
}
