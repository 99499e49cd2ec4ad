"""The lines of a session log: one frozen dataclass for each role, parsed from and written to JSON.

A log that holds only the plain roles (no uuid, no timestamps) parses too: a missing ``Stamp`` field
is None and means "the line before". Unknown roles become UnknownRecord and keep all their fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, assert_never

from agent_tui.core.errors import BadRecord
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
from agent_tui.core.usage import Usage

FORMAT = 1
RevertReason: TypeAlias = Literal["user", "dmail", "undo", "redo", "restore", "clear"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Where a record stands in the tree and when it was written (RFC 3339, UTC)."""

    uuid: str | None = None
    parent_uuid: str | None = None
    at: str | None = None


UNSTAMPED = Stamp()


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """The first record of a log of ours: which session this is and where it ran."""

    session_id: str
    cwd: str
    created_at: str
    version: str
    git_branch: str | None = None
    parent: dict[str, Any] | None = None
    format: int = FORMAT
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """The system prompt; the last one in a log is in force."""

    content: str
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A numbered place to return to. ``step`` is 0 for the one before a turn's prompt."""

    id: int
    turn: int | None = None
    step: int | None = None
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class UserMessage:
    """Something said to the agent; ``origin`` tells who really said it."""

    content: Content
    origin: str | None = None
    turn: int | None = None
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """A model's answer with the tools it calls."""

    content: Content
    tool_calls: tuple[ToolCall, ...] = ()
    model: str | None = None
    turn: int | None = None
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one tool call.

    ``interrupted``: the call did not run to its end. ``rejected``: a person did not allow it.
    """

    tool_call_id: str
    content: Content
    is_error: bool = False
    interrupted: bool = False
    display: Display | None = None
    turn: int | None = None
    rejected: bool = False
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """The size of the context in tokens, as far as it was known when written."""

    token_count: int
    usage: Usage | None = None
    estimated: bool = False
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """A compaction happened here: the log before it is archive ``archive``."""

    trigger: str
    strategy: str
    pre_tokens: int
    post_tokens: int
    archive: int
    files: tuple[str, ...] = ()
    kept: int = 0
    summarised: int = 0
    dropped: int = 0
    retries: int = 0
    fallback: bool = False
    focus: str = ""
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class RevertRecord:
    """The log was taken back here; what it held until then is archive ``archive``.

    ``checkpoint`` is None where the act had none (a restore or a clear).
    """

    archive: int
    reason: str
    checkpoint: int | None = None
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class HeadRecord:
    """The leaf moved inside the file: the next record hangs off ``to``.

    ``reason`` is empty for a person's own move, ``undo`` or ``redo`` for one that takes a move
    back, and ``restore`` for the second half of a branch from an archive. ``source`` is the record
    that was the last one until then.
    """

    to: str
    reason: str = ""
    source: str | None = None
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """What the branch that was left at ``source`` had done."""

    source: str
    summary: str
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """A name that a person gave to a record; an empty label removes it.

    ``before`` and ``reason`` are as in a TitleRecord.
    """

    target: str
    label: str
    before: str | None = None
    reason: str = ""
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class TitleRecord:
    """The session's name; the last one counts.

    ``before`` is the name until then where a person changed it, which can be undone, and None where
    the program named the session or said a name again. ``reason`` is ``undo`` or ``redo`` for a
    change that takes another one back.
    """

    title: str
    before: str | None = None
    reason: str = ""
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The model in use from here on; ``before`` and ``reason`` are as in a TitleRecord."""

    provider: str
    model: str
    before: str | None = None
    reason: str = ""
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """What a person decided about one action."""

    request_id: str
    tool_call_id: str
    decision: str
    word: str = ""
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """A line with a role this program does not know; kept on disk and shown as unknown."""

    role: str
    fields: dict[str, Any] = field(default_factory=dict)
    stamp: Stamp = UNSTAMPED


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage
Choice: TypeAlias = TitleRecord | LabelRecord | ModelRecord
"""What a person may choose for a session: of each kind the last record counts."""

Record: TypeAlias = (
    SessionHeader
    | SystemPrompt
    | Checkpoint
    | UserMessage
    | AssistantMessage
    | ToolMessage
    | UsageRecord
    | CompactionRecord
    | RevertRecord
    | HeadRecord
    | BranchSummary
    | LabelRecord
    | TitleRecord
    | ModelRecord
    | ApprovalRecord
    | UnknownRecord
)


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
        _optional_text(value.get("origin")),
        _optional_number(value.get("turn")),
        _stamp(value),
    )


def _assistant(value: Mapping[str, Any]) -> AssistantMessage:
    calls = value.get("tool_calls") or ()
    return AssistantMessage(
        _content(value) if "content" in value or not calls else "",
        tuple(_tool_call(call) for call in calls),
        _optional_text(value.get("model")),
        _optional_number(value.get("turn")),
        _stamp(value),
    )


def _tool(value: Mapping[str, Any]) -> ToolMessage:
    return ToolMessage(
        tool_call_id=_text(value, "tool_call_id"),
        content=_content(value),
        is_error=value.get("is_error") is True,
        interrupted=value.get("interrupted") is True,
        display=_display(value.get("display")),
        turn=_optional_number(value.get("turn")),
        rejected=value.get("rejected") is True,
        stamp=_stamp(value),
    )


def _usage(value: Mapping[str, Any]) -> UsageRecord:
    detail = value.get("usage")
    usage = None
    if isinstance(detail, dict):
        usage = Usage(
            input_tokens=_number(detail, "input", 0),
            output_tokens=_number(detail, "output", 0),
            cached_tokens=_number(detail, "cached", 0),
            reasoning_tokens=_number(detail, "reasoning", 0),
        )
    estimated = value.get("estimated") is True
    return UsageRecord(_number(value, "token_count"), usage, estimated, _stamp(value))


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
        stamp=_stamp(value),
    )


def _revert(value: Mapping[str, Any]) -> RevertRecord:
    return RevertRecord(
        archive=_number(value, "archive"),
        reason=_text(value, "reason", "user"),
        checkpoint=_optional_number(value.get("checkpoint")),
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
        word=_text(value, "word", ""),
        stamp=_stamp(value),
    )


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
}


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


def _change_fields(record: Choice) -> dict[str, Any]:
    before = {} if record.before is None else {"before": record.before}
    return before | _filled(reason=record.reason)


def _body(record: Record) -> dict[str, Any]:
    match record:
        case SessionHeader():
            return {
                "role": "_session",
                "format": record.format,
                "session_id": record.session_id,
                "cwd": record.cwd,
                "created_at": record.created_at,
                "version": record.version,
                **_filled(git_branch=record.git_branch, parent=record.parent),
            }
        case SystemPrompt():
            return {"role": "_system_prompt", "content": record.content}
        case Checkpoint():
            fields = {"role": "_checkpoint", "id": record.id}
            return (
                fields
                | _filled(turn=record.turn)
                | ({} if record.step is None else {"step": record.step})
            )
        case UserMessage():
            return {
                "role": "user",
                "content": content_fields(record.content),
                **_filled(origin=record.origin, turn=record.turn),
            }
        case AssistantMessage():
            return {
                "role": "assistant",
                "content": content_fields(record.content),
                **_filled(
                    tool_calls=[tool_call_fields(call) for call in record.tool_calls],
                    model=record.model,
                    turn=record.turn,
                ),
            }
        case ToolMessage():
            display = _display_fields(record.display) if record.display else None
            return {
                "role": "tool",
                "content": content_fields(record.content),
                "tool_call_id": record.tool_call_id,
                **_filled(
                    is_error=record.is_error,
                    interrupted=record.interrupted,
                    display=display,
                    turn=record.turn,
                    rejected=record.rejected,
                ),
            }
        case UsageRecord():
            usage = record.usage
            detail = usage and {
                "input": usage.input_tokens,
                "output": usage.output_tokens,
                "cached": usage.cached_tokens,
                "reasoning": usage.reasoning_tokens,
            }
            return {
                "role": "_usage",
                "token_count": record.token_count,
                **_filled(usage=detail, estimated=record.estimated),
            }
        case CompactionRecord():
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
                **_filled(retries=record.retries, fallback=record.fallback, focus=record.focus),
            }
        case RevertRecord():
            return {
                "role": "_revert",
                "checkpoint": record.checkpoint,
                "archive": record.archive,
                "reason": record.reason,
            }
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
            return {
                "role": "_approval",
                "request_id": record.request_id,
                "tool_call_id": record.tool_call_id,
                "decision": record.decision,
                **_filled(word=record.word),
            }
        case UnknownRecord():
            return dict(record.fields)
        case _:
            assert_never(record)
