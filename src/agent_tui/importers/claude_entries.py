"""The contents of a Claude Code entry as ours: parts, calls, results with diffs, usage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent_tui.core.messages import (
    Content,
    DiffDisplay,
    Display,
    MediaPart,
    Part,
    TextPart,
    ThinkPart,
    ToolCall,
    UnknownPart,
)
from agent_tui.core.records import Stamp, ToolMessage, UsageRecord
from agent_tui.core.usage import Usage
from agent_tui.importers import fields
from agent_tui.importers.fields import arguments_text

NOTES = frozenset(
    {
        "api_error",
        "api_metrics",
        "api_refusal",
        "away_summary",
        "bridge_status",
        "error",
        "informational",
        "local_command",
        "memory_saved",
        "microcompact_boundary",
        "model_refusal_fallback",
        "permission_retry",
        "scheduled_task_fire",
        "session_start",
        "stop_hook_summary",
        "turn_duration",
    }
)
"""Notes for the screen of Claude Code, which no model was sent; they are left out by rule."""

FILE_ATTACHMENTS = frozenset(
    {
        "compact_file_reference",
        "directory",
        "edited_image_file",
        "edited_text_file",
        "file",
        "mcp_resource",
        "nested_memory",
        "opened_file_in_ide",
        "plan_file_reference",
        "selected_lines_in_ide",
    }
)
"""Kinds that put a file, or a part of one, before the model."""

NOTED_ATTACHMENTS = frozenset(
    {
        "agent_listing_delta",
        "agent_mention",
        "async_hook_response",
        "auto_mode",
        "auto_mode_exit",
        "batching_reminder_sent",
        "budget_usd",
        "command_permissions",
        "critical_system_reminder",
        "date_change",
        "deferred_tools_delta",
        "diagnostics",
        "dynamic_skill",
        "hook_additional_context",
        "hook_blocking_error",
        "hook_cancelled",
        "hook_error_during_execution",
        "hook_non_blocking_error",
        "hook_stopped_continuation",
        "hook_success",
        "hook_system_message",
        "invoked_skills",
        "mcp_instructions_delta",
        "output_style",
        "plan_mode",
        "plan_mode_exit",
        "plan_mode_reentry",
        "read_truncation_notice",
        "silent_turn_reminder",
        "skill_listing",
        "task_reminder",
        "task_status",
        "todo",
        "todo_reminder",
        "token_usage",
        "total_tokens_reminder",
        "ultra_effort_enter",
        "ultra_effort_exit",
    }
)
"""Kinds of what Claude Code adds to a prompt by itself; nobody said it."""

_PATHS = ("displayPath", "filename", "path", "planFilePath", "uri")
_TEXTS = ("snippet", "content", "planContent", "text")
_REJECTED = "The user doesn't want to proceed with this tool use"
_INTERRUPTED = "[Request interrupted by user"


def stamp_of(entry: dict[str, Any], suffix: str = "") -> Stamp:
    """The id, parent and time of an entry; a suffix tells several records of one entry apart."""
    uuid = fields.text(entry, "uuid")
    return Stamp(
        uuid + suffix if uuid else None,
        fields.text(entry, "parentUuid") or None,
        fields.iso_time(entry.get("timestamp")) or None,
    )


def parts_of(content: Any) -> list[dict[str, Any]]:
    """The blocks of a content, which may be a string; anything else in a list is left as it is."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    blocks = content if isinstance(content, list) else [content] if content else []
    return [b if isinstance(b, dict) else {"type": "text", "text": str(b)} for b in blocks]


def split_calls(blocks: Iterable[dict[str, Any]]) -> tuple[tuple[Part, ...], tuple[ToolCall, ...]]:
    """The parts and the tool calls of an answer."""
    parts: list[Part] = []
    calls: list[ToolCall] = []
    for block in blocks:
        if block.get("type") == "tool_use":
            calls.append(call_of(block))
        else:
            parts.append(part_of(block))
    return tuple(parts), tuple(calls)


_NAMES_OF_CALLS = ("id", "tool_use_id", "uuid")


def call_of(block: dict[str, Any]) -> ToolCall:
    """A tool call from a ``tool_use`` block, or from a line of that type."""
    return ToolCall(
        next(filter(None, (fields.text(block, name) for name in _NAMES_OF_CALLS)), ""),
        fields.text(block, "name"),
        arguments_text(block.get("input")),
    )


def part_of(block: dict[str, Any]) -> Part:
    """One block that is no call; what we do not know is kept."""
    match block.get("type"):
        case "text" if isinstance(block.get("text"), str):
            return TextPart(block["text"])
        case "thinking" if isinstance(block.get("thinking"), str):
            return ThinkPart(block["thinking"], fields.text(block, "signature") or None)
        case "image" if url := _image_url(fields.table(block, "source")):
            return MediaPart("image_url", url)
        case _:
            return UnknownPart(block)


def _image_url(source: dict[str, Any]) -> str:
    if data := fields.text(source, "data"):
        return f"data:{fields.text(source, 'media_type') or 'image/png'};base64,{data}"
    return fields.text(source, "url")


def content_of(blocks: Iterable[dict[str, Any]]) -> Content:
    """A content: a plain string where there is only text."""
    parts = tuple(part_of(block) for block in blocks)
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return parts


def result_of(entry: dict[str, Any], block: dict[str, Any], number: int) -> ToolMessage:
    """The result of one call; ``number`` counts the results of the entry."""
    content = content_of(parts_of(block.get("content")))
    said = fields.text_of_parts(block.get("content"))
    return ToolMessage(
        tool_call_id=fields.text(block, "tool_use_id"),
        content=content,
        is_error=block.get("is_error") is True,
        interrupted=said.startswith(_INTERRUPTED),
        rejected=said.startswith(_REJECTED),
        display=_display(entry.get("toolUseResult")),
        stamp=stamp_of(entry, f".{number}" if number else ""),
    )


def _display(result: Any) -> Display | None:
    """The change of a file that a result tells of."""
    path = fields.text(result, "filePath")
    hunks = [hunk for hunk in fields.array(result, "structuredPatch") if isinstance(hunk, dict)]
    if path and hunks:
        lines = [f"--- a/{path}", f"+++ b/{path}"]
        for hunk in hunks:
            old = f"{fields.number(hunk, 'oldStart')},{fields.number(hunk, 'oldLines')}"
            new = f"{fields.number(hunk, 'newStart')},{fields.number(hunk, 'newLines')}"
            lines.append(f"@@ -{old} +{new} @@")
            lines += [line for line in fields.array(hunk, "lines") if isinstance(line, str)]
        return DiffDisplay(path, "\n".join(lines))
    if path and fields.text(result, "type") == "create":
        added = fields.text(result, "content").split("\n")
        head = ["--- /dev/null", f"+++ b/{path}", f"@@ -0,0 +1,{len(added)} @@"]
        return DiffDisplay(path, "\n".join([*head, *(f"+{line}" for line in added)]))
    return None


def usage_of(counts: dict[str, Any], at: str | None) -> UsageRecord | None:
    """What an answer was billed; None where all counts are 0."""
    cached = fields.number(counts, "cache_read_input_tokens")
    written = fields.number(counts, "cache_creation_input_tokens")
    usage = Usage(
        input_tokens=fields.number(counts, "input_tokens") + cached + written,
        output_tokens=fields.number(counts, "output_tokens"),
        cached_tokens=cached,
    )
    if usage == Usage():
        return None
    return UsageRecord(usage.total_tokens, usage, stamp=Stamp(at=at))


def attached_file(attachment: dict[str, Any]) -> Content:
    """The name and the text of a file, or its picture, as the model was shown it."""
    named = [fields.text(attachment, key) for key in _PATHS]
    name = next((path for path in named if path), "a file")
    first = fields.number(attachment, "lineStart")
    if first:
        name += f":{first}-{fields.number(attachment, 'lineEnd') or first}"
    content = attachment.get("content")
    inner = fields.table(content, "file")
    if picture := fields.text(inner, "base64"):
        kind = fields.text(inner, "type") or "image/png"
        url = f"data:{kind};base64,{picture}"
        return (TextPart(name), MediaPart("image_url", url))
    texts = (_text_of(attachment), _text_of(inner), _text_of(content))
    text = next((each for each in texts if each), "")
    return f"{name}\n{text}" if text else name


def _text_of(value: object) -> str:
    """What a value says under one of the names, or as a list of parts."""
    if isinstance(value, list):
        return fields.text_of_parts(value)
    found = [fields.text(value, key) for key in _TEXTS]
    contents = fields.array(value, "contents")
    return next((text for text in found if text), "") or fields.text_of_parts(contents)
