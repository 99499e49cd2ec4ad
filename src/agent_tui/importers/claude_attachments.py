"""What Claude Code adds to a prompt by itself: files that the model was shown, and notes."""

from __future__ import annotations

from typing import Any

from agent_tui.core.messages import Content, MediaPart, TextPart
from agent_tui.importers import fields

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
