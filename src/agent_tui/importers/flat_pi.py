"""A flat form that resembles pi's: each line is a message, told by its type, that names its parent.

``{"type": "user" | "assistant" | "tool" | "tool_result", "id": …, "parentId": …}``; each is turned
into an entry of pi, whose tree and path count.
"""

from __future__ import annotations

from typing import Any

from agent_tui.core.summary import SessionSummary
from agent_tui.importers import fields
from agent_tui.importers.imported import ImportedSession, ImportedTail
from agent_tui.importers.importer import Head, Importer, SessionRef
from agent_tui.importers.lines import Entries, read_ends, read_entries, read_last_entries
from agent_tui.importers.listing import summary_of
from agent_tui.importers.pi import session_of

FLAT = "pi-like"
_TYPES = frozenset({"user", "assistant", "tool", "tool_result"})


def is_flat(head: Head) -> bool:
    """Whether lines are messages told by type, that hang off each other by ``parentId``."""
    return any(
        fields.text(value, "type") in _TYPES and "id" in value and "parentId" in value
        for value in head.objects
    )


def read_session(ref: SessionRef) -> ImportedSession:
    """Read a session; raises SessionError."""
    return _session_of(read_entries(ref.path))


def read_tail(ref: SessionRef, count: int) -> ImportedTail:
    """The last lines, on the way to the last one."""
    lines = read_last_entries(ref.path, count)
    return ImportedTail(_session_of(lines).records, lines.is_whole)


def _session_of(lines: Entries) -> ImportedSession:
    lines.objects = [_as_pi(value) for value in lines.objects]
    return session_of(lines, FLAT)


def _as_pi(value: dict[str, Any]) -> dict[str, Any]:
    kind = fields.text(value, "type")
    if kind not in _TYPES:
        return value
    message = {**fields.table(value, "message"), **_said(kind, value)}
    at = fields.iso_time(value.get("timestamp"))
    kept = {key: value.get(key) for key in ("id", "parentId")}
    return {"type": "message", **kept, "timestamp": at, "message": message}


def _said(kind: str, value: dict[str, Any]) -> dict[str, Any]:
    own = fields.table(value, "message")
    content = value.get("content", own.get("content", value.get("text", "")))
    if kind == "tool" and ("output" in value or "result" in value or "tool_call_id" in value):
        kind = "tool_result"  # call and result on one line: what came of it is said
    if kind == "tool":
        block = _call(value)
        return {"role": "assistant", "content": [block]}
    if kind == "tool_result":
        output = value.get("output", value.get("result", content))
        said = output if isinstance(output, list) else fields.json_text(output or "")
        return {
            "role": "toolResult",
            "toolCallId": _call_id(value),
            "content": said,
            "isError": value.get("isError", value.get("is_error")) is True,
        }
    if kind == "assistant":
        blocks = _blocks(content)
        asked = fields.array(value, "toolCalls") or fields.array(value, "tool_calls")
        calls = [_call(call) for call in asked if isinstance(call, dict)]
        usage = fields.table(value, "usage")
        return {"role": "assistant", "content": [*blocks, *calls], "usage": usage}
    return {"role": "user", "content": content if isinstance(content, str) else _blocks(content)}


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [
        _call(block) if fields.text(block, "type") in ("tool_use", "tool_call") else block
        for block in (content if isinstance(content, list) else [])
        if isinstance(block, dict)
    ]


def _call(value: dict[str, Any]) -> dict[str, Any]:
    function = fields.table(value, "function")
    name = fields.text(value, "name") or fields.text(value, "toolName")
    given = value.get("arguments", value.get("input", value.get("args")))
    if given is None:
        given = function.get("arguments")
    return {
        "type": "toolCall",
        "id": _call_id(value),
        "name": name or fields.text(function, "name") or "tool",
        "arguments": given,
    }


def _call_id(value: dict[str, Any]) -> str:
    names = ("toolCallId", "tool_call_id", "toolUseId", "tool_use_id", "callId", "id")
    return next((found for name in names if (found := fields.text(value, name))), "")


def _summarise(ref: SessionRef) -> SessionSummary:
    session = _session_of(read_ends(ref.path))
    return summary_of(ref, session.records, session_id=session.session_id, title=session.title)


FLAT_IMPORTER = Importer(
    source=FLAT,
    name="pi-like lines",
    recognise=is_flat,
    read=read_session,
    summarise=_summarise,
    read_tail=read_tail,
)
