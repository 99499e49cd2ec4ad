"""Records to JSON objects: what is written as the lines of a log."""

from __future__ import annotations

from typing import Any, assert_never

from agent_tui.core.file_changes import change_fields
from agent_tui.core.messages import (
    CommandDisplay,
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
from agent_tui.core.records import (
    ApprovalRecord,
    AssistantMessage,
    BranchSummary,
    Checkpoint,
    Choice,
    CompactionRecord,
    EnvironmentRecord,
    HeadRecord,
    LabelRecord,
    ModelRecord,
    NoticeRecord,
    Record,
    RevertRecord,
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    TurnEndRecord,
    UnknownRecord,
    UsageRecord,
    UserMessage,
    WorkspaceRecord,
)
from agent_tui.core.usage import Usage

_ROLES: dict[type[Record], str] = {}


def role_of(record: Record) -> str:
    """The role under which a record is written."""
    if isinstance(record, UnknownRecord):
        return record.role
    kind = type(record)
    if kind not in _ROLES:
        _ROLES[kind] = str(record_fields(record)["role"])
    return _ROLES[kind]


def record_fields(record: Record) -> dict[str, Any]:
    """The JSON object of a record, ready to be written as one line; None and defaults left out."""
    fields = _body(record)
    stamp = record.stamp
    if stamp.uuid is not None:
        fields["uuid"] = stamp.uuid
        fields["parent_uuid"] = stamp.parent_uuid
    if stamp.at is not None:
        fields["at"] = stamp.at
    return fields


def content_fields(content: Content) -> str | list[dict[str, Any]]:
    """The JSON form of a content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    return [_part_fields(part) for part in content]


def _part_fields(part: Part) -> dict[str, Any]:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ThinkPart(think, encrypted):
            return {"type": "think", "think": think, "encrypted": encrypted}
        case MediaPart(kind, url, id_):
            media = {"url": url} if id_ is None else {"url": url, "id": id_}
            return {"type": kind, kind: media}
        case UnknownPart(fields):
            return dict(fields)
        case _:
            assert_never(part)


def tool_call_fields(call: ToolCall) -> dict[str, Any]:
    """The JSON form of a tool call, as chat-completion servers and logs spell it."""
    function = {"name": call.name, "arguments": call.arguments}
    return {"type": "function", "id": call.id, "function": function}


def _display_fields(display: Display) -> dict[str, Any]:
    match display:
        case DiffDisplay(path, diff):
            return {"type": "diff", "path": path, "diff": diff}
        case CommandDisplay(command, cwd, exit_code):
            return {"type": "command", "command": command, "cwd": cwd, "exit": exit_code}
        case _:
            assert_never(display)


def _filled(**optional: Any) -> dict[str, Any]:
    """The fields that say something: None, False, empty text and empty lists are left out."""
    return {key: value for key, value in optional.items() if value not in (None, False, "", [])}


def _usage_fields(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    written = {"cache_write": usage.cache_write_tokens} if usage.cache_write_tokens else {}
    return {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cached": usage.cached_tokens,
        "reasoning": usage.reasoning_tokens,
        **written,
    }


def _change_fields(record: Choice) -> dict[str, Any]:
    before = {} if record.before is None else {"before": record.before}
    return before | _filled(reason=record.reason)


def _workspace_fields(record: WorkspaceRecord) -> dict[str, Any]:
    left_out = [{"path": each.path, "why": each.why} for each in record.left_out]
    return {
        "role": "_workspace",
        "status": record.status,
        "checkpoint": record.checkpoint,
        "checkpoint_uuid": record.checkpoint_uuid,
        "base": record.base,
        "delta": [change_fields(change) for change in record.delta],
        "cause": record.cause,
        "coverage": {"files": record.files, "bytes": record.stored_bytes, "left_out": left_out},
        "cost_ms": record.cost_ms,
        **_filled(call=record.call, turn=record.turn, step=record.step, why=record.why),
        **_filled(head=record.head, operation=record.operation, of=list(record.of)),
        **_filled(folders=dict(record.folders)),
    }


def _header_fields(record: SessionHeader) -> dict[str, Any]:
    agent = record.agent or None
    return {
        "role": "_session",
        "format": record.format,
        "session_id": record.session_id,
        "cwd": record.cwd,
        "created_at": record.created_at,
        "version": record.version,
        **_filled(git_branch=record.git_branch, parent=record.parent, agent=agent),
    }


def _user_fields(record: UserMessage) -> dict[str, Any]:
    display = _display_fields(record.display) if record.display else None
    return {
        "role": "user",
        "content": content_fields(record.content),
        **_filled(origin=record.origin, turn=record.turn, display=display),
    }


def _assistant_fields(record: AssistantMessage) -> dict[str, Any]:
    calls = [tool_call_fields(call) for call in record.tool_calls]
    return {
        "role": "assistant",
        "content": content_fields(record.content),
        **_filled(
            tool_calls=calls,
            model=record.model,
            turn=record.turn,
            thinking_seconds=record.thinking_seconds,
        ),
    }


def _tool_fields(record: ToolMessage) -> dict[str, Any]:
    return {
        "role": "tool",
        "content": content_fields(record.content),
        "tool_call_id": record.tool_call_id,
        **_filled(
            is_error=record.is_error,
            interrupted=record.interrupted,
            display=_display_fields(record.display) if record.display else None,
            turn=record.turn,
            rejected=record.rejected,
            masked=record.masked,
        ),
    }


def _compaction_fields(record: CompactionRecord) -> dict[str, Any]:
    return {
        "role": "_compaction",
        "trigger": record.trigger,
        "strategy": record.strategy,
        "pre_tokens": record.pre_tokens,
        "post_tokens": record.post_tokens,
        "archive": record.archive,
        "files": list(record.files),
        "kept": record.kept,
        "summarised": record.summarised,
        "dropped": record.dropped,
        **_filled(
            retries=record.retries,
            fallback=record.fallback,
            focus=record.focus,
            masked=record.masked or None,
            pins=list(record.pins),
            usage=_usage_fields(record.usage),
        ),
        **({} if record.losses is None else {"losses": record.losses}),
    }


def _approval_fields(record: ApprovalRecord) -> dict[str, Any]:
    return {
        "role": "_approval",
        "request_id": record.request_id,
        "tool_call_id": record.tool_call_id,
        "decision": record.decision,
        **_filled(feedback=record.feedback, rule=record.rule),
    }


def _body(record: Record) -> dict[str, Any]:
    match record:
        case SessionHeader():
            return _header_fields(record)
        case SystemPrompt(content):
            return {"role": "_system_prompt", "content": content}
        case Checkpoint():
            fields = {"role": "_checkpoint", "id": record.id} | _filled(turn=record.turn)
            return fields if record.step is None else fields | {"step": record.step}
        case UserMessage():
            return _user_fields(record)
        case AssistantMessage():
            return _assistant_fields(record)
        case ToolMessage():
            return _tool_fields(record)
        case UsageRecord():
            fields = {"role": "_usage", "token_count": record.token_count}
            usage = _usage_fields(record.usage)
            return fields | _filled(usage=usage, estimated=record.estimated)
        case CompactionRecord():
            return _compaction_fields(record)
        case RevertRecord():
            fields = {"role": "_revert", "checkpoint": record.checkpoint}
            fields |= {"archive": record.archive, "reason": record.reason}
            return fields | _filled(operation=record.operation, of=record.of)
        case HeadRecord():
            fields = {"role": "_head", "to": record.to}
            return fields | _filled(**{"reason": record.reason, "from": record.source})
        case BranchSummary():
            return {"role": "_branch_summary", "from": record.source, "summary": record.summary}
        case LabelRecord():
            fields = {"role": "_label", "target": record.target, "label": record.label}
            return fields | _change_fields(record)
        case TitleRecord():
            return {"role": "_title", "title": record.title, **_change_fields(record)}
        case ModelRecord():
            fields = {"role": "_model", "provider": record.provider, "model": record.model}
            return fields | _change_fields(record)
        case ApprovalRecord():
            return _approval_fields(record)
        case TurnEndRecord():
            fields = {"role": "_turn_end", "end": record.end}
            return fields | _filled(reason=record.reason, turn=record.turn)
        case WorkspaceRecord():
            return _workspace_fields(record)
        case NoticeRecord():
            fields = {"role": "_notice", "text": record.text}
            return fields | _filled(kind=record.kind, turn=record.turn)
        case EnvironmentRecord():
            fields = {"role": "_environment", "cwd": record.cwd}
            return fields | _filled(git_branch=record.git_branch, version=record.version)
        case UnknownRecord():
            return dict(record.fields)
        case _:
            assert_never(record)
