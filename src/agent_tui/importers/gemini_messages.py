"""One message of a Gemini CLI session as records of ours."""

from __future__ import annotations

from typing import Any

from agent_tui.core.messages import (
    Content,
    DiffDisplay,
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
    ToolMessage,
    TurnEndRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.usage import Usage
from agent_tui.importers import fields

NOTES = frozenset({"info", "warning", "help", "stats", "about"})
"""Types of what Gemini CLI told its user; no model was sent it."""

_SUMMARY = ("<state_snapshot>", "<compressed_chat_history>")


def message_id(message: dict[str, Any]) -> str:
    """The id by which a later line replaces a message; empty where it has none."""
    return fields.text(message, "id")


def records_of(message: dict[str, Any]) -> tuple[Record, ...] | None:
    """What a message says; None where its type is not known, nothing where it is a note."""
    kind = fields.text(message, "type") or fields.text(message, "role")
    at = fields.iso_time(message.get("timestamp", message.get("ts"))) or None
    stamp = Stamp(message_id(message) or None, at=at)
    content = _content(message.get("content", message.get("parts")))
    if kind == "user":
        said = content if isinstance(content, str) else _first_text(content)
        origin: Origin = "compaction" if said.lstrip().startswith(_SUMMARY) else "human"
        return (UserMessage(content, origin, stamp=stamp),)
    if kind in ("gemini", "model", "assistant"):
        return _answer(message, content, stamp)
    if kind == "error":
        return (TurnEndRecord("failed", _first_text(_as_parts(content)), stamp=stamp),)
    return () if kind in NOTES else None


def _answer(message: dict[str, Any], content: Content, stamp: Stamp) -> tuple[Record, ...]:
    thoughts = [_thought(each) for each in fields.array(message, "thoughts")]
    said = _as_parts(content)
    parts = (*(t for t in thoughts if t.think), *(p for p in said if p != TextPart("")))
    asked = [call for call in fields.array(message, "toolCalls") if isinstance(call, dict)]
    ids = [fields.text(call, "id") or f"{stamp.uuid}:{n}" for n, call in enumerate(asked)]
    calls = tuple(
        ToolCall(id_, fields.text(call, "name"), fields.arguments_text(call.get("args")))
        for id_, call in zip(ids, asked, strict=True)
    )
    model = fields.text(message, "model") or None
    records: list[Record] = [AssistantMessage(parts, calls, model, stamp=stamp)]
    if usage := _usage(fields.table(message, "tokens"), stamp.at):
        records.append(usage)
    for id_, call in zip(ids, asked, strict=True):
        if result := _result(id_, call, stamp):
            records.append(result)
    return tuple(records)


def _thought(thought: Any) -> ThinkPart:
    subject, said = fields.text(thought, "subject"), fields.text(thought, "description")
    return ThinkPart("\n".join(text for text in (subject, said) if text))


def _result(id_: str, call: dict[str, Any], stamp: Stamp) -> ToolMessage | None:
    """The result of a call; None for one that never ended."""
    status = fields.text(call, "status")
    said: list[str] = []
    for part in fields.array(call, "result"):
        response = fields.table(fields.table(part, "functionResponse"), "response")
        told = response.get("output", response.get("error", response.get("llmContent")))
        said.append(fields.text(part, "text") if told is None else fields.json_text(told))
    shown = call.get("resultDisplay")
    if not said and isinstance(shown, str):
        said = [shown]
    if not said and status not in ("success", "error", "cancelled"):
        return None
    diff, name = fields.text(shown, "fileDiff"), fields.text(shown, "fileName")
    at = fields.iso_time(call.get("timestamp")) or stamp.at
    return ToolMessage(
        tool_call_id=id_,
        content="\n".join(said),
        is_error=status == "error",
        interrupted=status == "cancelled",
        display=DiffDisplay(name, diff) if diff else None,
        stamp=Stamp(f"{stamp.uuid}.{id_}" if stamp.uuid else None, at=at),
    )


def _usage(tokens: dict[str, Any], at: str | None) -> UsageRecord | None:
    usage = Usage(
        input_tokens=fields.number(tokens, "input"),
        output_tokens=fields.number(tokens, "output") + fields.number(tokens, "thoughts"),
        cached_tokens=fields.number(tokens, "cached"),
        reasoning_tokens=fields.number(tokens, "thoughts"),
    )
    total = fields.number(tokens, "total") or usage.total_tokens
    return UsageRecord(total, usage, stamp=Stamp(at=at)) if total else None


def _content(content: Any) -> Content:
    if isinstance(content, str):
        return content
    parts = [_part(part) for part in content] if isinstance(content, list) else []
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return tuple(parts) if parts else fields.text_of_parts(content)


def _as_parts(content: Content) -> tuple[Part, ...]:
    return (TextPart(content),) if isinstance(content, str) else content


def _first_text(parts: tuple[Part, ...]) -> str:
    return next((part.text for part in parts if isinstance(part, TextPart)), "")


def _part(part: Any) -> Part:
    if isinstance(part, str):
        return TextPart(part)
    data = fields.table(part, "inlineData")
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return ThinkPart(part["text"]) if part.get("thought") is True else TextPart(part["text"])
    if data and fields.text(data, "mimeType").startswith("image/"):
        url = f"data:{fields.text(data, 'mimeType')};base64,{fields.text(data, 'data')}"
        return MediaPart("image_url", url)
    return UnknownPart(part if isinstance(part, dict) else {"value": part})
