"""JSON objects to records: the lines of a log, checked field by field.

A log that holds only the plain roles (no uuid, no timestamps) parses too: a missing ``Stamp`` field
is None and means "the line before". Unknown roles become UnknownRecord and keep all their fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent_tui.core.errors import BadRecord
from agent_tui.core.file_changes import CAUSES, FolderIdentity, LeftOut, parse_change
from agent_tui.core.jsonl import Decode
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
from agent_tui.core.origins import read_origin
from agent_tui.core.records import (
    FORMAT,
    UNSTAMPED,
    ApprovalRecord,
    AssistantMessage,
    BranchSummary,
    Checkpoint,
    CompactionRecord,
    EnvironmentRecord,
    HeadRecord,
    LabelRecord,
    ModelRecord,
    NoticeRecord,
    Record,
    RevertRecord,
    SessionHeader,
    Stamp,
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


def parse_record(value: Mapping[str, Any]) -> Record:
    """Turn one decoded JSON object into a record.

    Raises:
        BadRecord: the object has no string ``role``, or a known role with a wrong shape.
    """
    role = value.get("role")
    if not isinstance(role, str):
        raise BadRecord("expected an object with a string 'role'")
    parse = _PARSERS.get(role)
    if parse is None:
        return UnknownRecord(role, dict(value), _stamp(value))
    try:
        return parse(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadRecord(f"a {role!r} record of a wrong shape: {error!r}") from error


_OFTEN_ALIKE = ("at", "turn")


def sharing_values(decode: Decode) -> Decode:
    """Decode lines in file order; what a line has from the one before is held once, not twice.

    That is its parent, and often its time and its turn: a sixth of what a long log takes.
    """
    before: object = None
    shared: dict[str, object] = {}

    def decode_sharing(line: bytes) -> dict[str, Any]:
        nonlocal before
        value = decode(line)
        if isinstance(before, str) and value.get("parent_uuid") == before:
            value["parent_uuid"] = before  # only texts: 1 and true are alike, too
        before = value.get("uuid")
        for name in _OFTEN_ALIKE:
            held = value.get(name)
            if held is None:
                continue
            known = shared.get(name)
            if held == known and type(held) is type(known):
                value[name] = known
            else:
                shared[name] = held
        return value

    return decode_sharing


def _stamp(value: Mapping[str, Any]) -> Stamp:
    uuid, parent, at = value.get("uuid"), value.get("parent_uuid"), value.get("at")
    if type(uuid) is type(parent) is type(at) is str:
        return Stamp(uuid, parent, at)
    if uuid is None and at is None:
        return UNSTAMPED
    return Stamp(_optional_text(uuid), _optional_text(parent), _optional_text(at))


def _optional_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _optional_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Mapping[str, Any], key: str, default: str | None = None) -> str:
    found = value.get(key, default)
    if not isinstance(found, str):
        raise TypeError(f"{key!r} should be a string, is {type(found).__name__}")
    return found


def _number(value: Mapping[str, Any], key: str, default: int | None = None) -> int:
    found = value.get(key, default)
    if not isinstance(found, int) or isinstance(found, bool) or not -(2**63) <= found < 2**63:
        raise TypeError(f"{key!r} should be a whole number")
    return found


def _part(value: Any) -> Part:
    kind = value["type"]
    if kind == "text":
        return TextPart(_text(value, "text"))
    if kind == "think":
        return ThinkPart(_text(value, "think"), _optional_text(value.get("encrypted")))
    if kind in ("image_url", "audio_url", "video_url"):
        media = value[kind]
        return MediaPart(kind, _text(media, "url"), _optional_text(media.get("id")))
    return UnknownPart(dict(value))


def _content(value: Mapping[str, Any]) -> Content:
    content = value["content"]
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list):
        raise TypeError("'content' should be a string or a list of parts")
    return tuple(_part(part) for part in content)


def _tool_call(value: Mapping[str, Any]) -> ToolCall:
    function = value["function"]
    arguments = function.get("arguments")
    return ToolCall(
        _text(value, "id"),
        _text(function, "name"),
        arguments if isinstance(arguments, str) else "",
    )


def _display(value: object) -> Display | None:
    if not isinstance(value, dict):
        return None
    if value.get("type") == "diff":
        return DiffDisplay(_text(value, "path"), _text(value, "diff"))
    if value.get("type") == "command":
        return CommandDisplay(
            _text(value, "command"), _text(value, "cwd", ""), _optional_number(value.get("exit"))
        )
    return None


def _session(value: Mapping[str, Any]) -> SessionHeader:
    parent = value.get("parent")
    return SessionHeader(
        session_id=_text(value, "session_id"),
        cwd=_text(value, "cwd", ""),
        created_at=_text(value, "created_at", ""),
        version=_text(value, "version", ""),
        git_branch=_optional_text(value.get("git_branch")),
        parent=parent if isinstance(parent, dict) else None,
        agent=_text(value, "agent", ""),
        format=_number(value, "format", FORMAT),
        stamp=_stamp(value),
    )


def _system_prompt(value: Mapping[str, Any]) -> SystemPrompt:
    return SystemPrompt(_text(value, "content"), _stamp(value))


def _checkpoint(value: Mapping[str, Any]) -> Checkpoint:
    turn, step = _optional_number(value.get("turn")), _optional_number(value.get("step"))
    number = _number(value, "id")
    if number < 0:
        raise ValueError("a checkpoint id is never negative")
    return Checkpoint(number, turn, step, _stamp(value))


def _user(value: Mapping[str, Any]) -> UserMessage:
    return UserMessage(
        _content(value),
        read_origin(_optional_text(value.get("origin"))),
        _optional_number(value.get("turn")),
        _display(value.get("display")),
        _stamp(value),
    )


def _assistant(value: Mapping[str, Any]) -> AssistantMessage:
    calls = value.get("tool_calls") or ()
    return AssistantMessage(
        _content(value) if "content" in value or not calls else "",
        tuple(_tool_call(call) for call in calls),
        _optional_text(value.get("model")),
        _optional_number(value.get("turn")),
        _seconds(value.get("thinking_seconds")),
        _stamp(value),
    )


def _seconds(value: Any) -> float:
    """A time that somebody wrote down; 0 for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < _LONGEST_SECONDS else 0.0


def _tool(value: Mapping[str, Any]) -> ToolMessage:
    return ToolMessage(
        tool_call_id=_text(value, "tool_call_id"),
        content=_content(value),
        is_error=value.get("is_error") is True,
        interrupted=value.get("interrupted") is True,
        display=_display(value.get("display")),
        turn=_optional_number(value.get("turn")),
        rejected=value.get("rejected") is True,
        masked=value.get("masked") is True,
        stamp=_stamp(value),
    )


def _usage(value: Mapping[str, Any]) -> UsageRecord:
    usage = _usage_detail(value.get("usage"))
    estimated = value.get("estimated") is True
    return UsageRecord(_number(value, "token_count"), usage, estimated, _stamp(value))


def _usage_detail(detail: object) -> Usage | None:
    if not isinstance(detail, dict):
        return None
    return Usage(
        input_tokens=_number(detail, "input", 0),
        output_tokens=_number(detail, "output", 0),
        cached_tokens=_number(detail, "cached", 0),
        reasoning_tokens=_number(detail, "reasoning", 0),
        cache_write_tokens=_number(detail, "cache_write", 0),
    )


def _compaction(value: Mapping[str, Any]) -> CompactionRecord:
    files = value.get("files") or ()
    return CompactionRecord(
        trigger=_text(value, "trigger", ""),
        strategy=_text(value, "strategy", ""),
        pre_tokens=_number(value, "pre_tokens", 0),
        post_tokens=_number(value, "post_tokens", 0),
        archive=_number(value, "archive"),
        files=tuple(str(file) for file in files),
        kept=_number(value, "kept", 0),
        summarised=_number(value, "summarised", 0),
        dropped=_number(value, "dropped", 0),
        retries=_number(value, "retries", 0),
        fallback=value.get("fallback") is True,
        focus=_text(value, "focus", ""),
        masked=_number(value, "masked", 0),
        pins=tuple(str(pin) for pin in value.get("pins") or ()),
        usage=_usage_detail(value.get("usage")),
        losses=_number(value, "losses", 0) if "losses" in value else None,
        stamp=_stamp(value),
    )


def _revert(value: Mapping[str, Any]) -> RevertRecord:
    return RevertRecord(
        archive=_number(value, "archive"),
        reason=_text(value, "reason", "user"),
        checkpoint=_optional_number(value.get("checkpoint")),
        operation=_text(value, "operation", ""),
        of=_text(value, "of", ""),
        stamp=_stamp(value),
    )


def _head(value: Mapping[str, Any]) -> HeadRecord:
    return HeadRecord(
        to=_text(value, "to"),
        reason=_optional_text(value.get("reason")) or "",
        source=_optional_text(value.get("from")),
        stamp=_stamp(value),
    )


def _branch_summary(value: Mapping[str, Any]) -> BranchSummary:
    return BranchSummary(_text(value, "from"), _text(value, "summary"), _stamp(value))


def _label(value: Mapping[str, Any]) -> LabelRecord:
    target, label = _text(value, "target"), _text(value, "label", "")
    return LabelRecord(target, label, *_change(value), _stamp(value))


def _title(value: Mapping[str, Any]) -> TitleRecord:
    return TitleRecord(_text(value, "title"), *_change(value), _stamp(value))


def _model(value: Mapping[str, Any]) -> ModelRecord:
    provider, model = _text(value, "provider", ""), _text(value, "model")
    return ModelRecord(provider, model, *_change(value), _stamp(value))


def _change(value: Mapping[str, Any]) -> tuple[str | None, str]:
    """What a choice took the place of, and why it was made."""
    return _optional_text(value.get("before")), _optional_text(value.get("reason")) or ""


def _approval(value: Mapping[str, Any]) -> ApprovalRecord:
    return ApprovalRecord(
        request_id=_text(value, "request_id", ""),
        tool_call_id=_text(value, "tool_call_id", ""),
        decision=_text(value, "decision"),
        feedback=_text(value, "feedback", ""),
        rule=_text(value, "rule", ""),
        stamp=_stamp(value),
    )


def _turn_end(value: Mapping[str, Any]) -> TurnEndRecord:
    return TurnEndRecord(
        end=_text(value, "end"),
        reason=_text(value, "reason", ""),
        turn=_optional_number(value.get("turn")),
        stamp=_stamp(value),
    )


def _workspace(value: Mapping[str, Any]) -> WorkspaceRecord:
    cause, status, coverage = value["cause"], value["status"], value.get("coverage") or {}
    if cause not in CAUSES or status not in ("captured", "none"):
        raise ValueError(f"a capture with the cause {cause!r} and the status {status!r}")
    return WorkspaceRecord(
        cause=cause,
        delta=tuple(parse_change(change) for change in value.get("delta") or ()),
        checkpoint=_optional_number(value.get("checkpoint")),
        checkpoint_uuid=_optional_text(value.get("checkpoint_uuid")),
        base=_optional_text(value.get("base")),
        status=status,
        call=_text(value, "call", ""),
        turn=_optional_number(value.get("turn")),
        step=_optional_number(value.get("step")),
        why=_text(value, "why", ""),
        files=_number(coverage, "files", 0),
        stored_bytes=_number(coverage, "bytes", 0),
        left_out=tuple(
            LeftOut(_text(each, "path"), _text(each, "why"))
            for each in coverage.get("left_out") or ()
        ),
        cost_ms=_number(value, "cost_ms", 0),
        head=_text(value, "head", ""),
        operation=_text(value, "operation", ""),
        of=tuple(str(uuid) for uuid in value.get("of") or ()),
        folders=_folders(value.get("folders")),
        stamp=_stamp(value),
    )


def _folders(value: object) -> dict[str, FolderIdentity]:
    """Folders by their paths; an older log lists them, and does not say which they were."""
    if isinstance(value, list):
        return dict.fromkeys(map(str, value), (0, 0))
    found = {}
    for path, identity in value.items() if isinstance(value, dict) else ():
        match identity:
            case [int(inode), int(made)]:
                found[path] = (inode, made)
            case _:
                found[path] = (0, 0)
    return found


def _notice(value: Mapping[str, Any]) -> NoticeRecord:
    return NoticeRecord(
        text=_text(value, "text"),
        kind=_text(value, "kind", ""),
        turn=_optional_number(value.get("turn")),
        stamp=_stamp(value),
    )


def _environment(value: Mapping[str, Any]) -> EnvironmentRecord:
    return EnvironmentRecord(
        cwd=_text(value, "cwd", ""),
        git_branch=_text(value, "git_branch", ""),
        version=_text(value, "version", ""),
        stamp=_stamp(value),
    )


_LONGEST_SECONDS = 1e9
_PARSERS: dict[str, Callable[[Mapping[str, Any]], Record]] = {
    "_session": _session,
    "_system_prompt": _system_prompt,
    "_checkpoint": _checkpoint,
    "user": _user,
    "assistant": _assistant,
    "tool": _tool,
    "_usage": _usage,
    "_compaction": _compaction,
    "_revert": _revert,
    "_head": _head,
    "_branch_summary": _branch_summary,
    "_label": _label,
    "_title": _title,
    "_model": _model,
    "_approval": _approval,
    "_turn_end": _turn_end,
    "_workspace": _workspace,
    "_notice": _notice,
    "_environment": _environment,
}
