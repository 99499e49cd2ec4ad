"""A session as a log that kimi-cli loads."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agent_tui.core.messages import (
    Content,
    Part,
    TextPart,
    UnknownPart,
)
from agent_tui.core.record_writing import content_fields, tool_call_fields
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    SystemPrompt,
    ToolMessage,
    UnknownRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.summary_format import with_preface
from agent_tui.sessions.sent_messages import repaired_messages

_SURROGATES = re.compile("[\ud800-\udfff]")


def export_kimi(records: Iterable[Record], token_count: int | None = None) -> Iterator[bytes]:
    """The lines of a log that kimi-cli loads with the same history, checkpoints and token count.

    Only roles, fields and kinds of parts that it knows are written: it skips lines of other roles
    as broken and cannot load a part of another kind. It sends what it loads without
    repairing it, so that every call gets its result here.

    Args:
        records: the active path of a session.
        token_count: the size of the context, where the records do not say it themselves.
    """
    last = None
    for record in repaired_records(records):
        fields = _kimi_fields(record)
        if fields is None:
            continue
        if isinstance(record, UsageRecord):
            last = record.token_count
        yield _line(fields)
    if token_count is not None and token_count != last:
        yield _line({"role": "_usage", "token_count": token_count})


def repaired_records(records: Iterable[Record]) -> Iterator[Record]:
    """The records with their messages as they are sent: each call answered right behind it."""
    group: list[Record] = []
    for record in records:
        if isinstance(record, AssistantMessage):
            yield from _repaired_answer(group)
            group = []
        group.append(record)
    yield from _repaired_answer(group)


def _repaired_answer(group: Sequence[Record]) -> Iterator[Record]:
    """An answer, its usage where that came first, its results, and all else up to the next one."""
    rest: deque[Record] = deque(r for r in group if not isinstance(r, ToolMessage))
    if rest and isinstance(rest[0], AssistantMessage):
        rest.popleft()
        spoken = [r for r in group if isinstance(r, AssistantMessage | ToolMessage)]
        answer, *results = repaired_messages(spoken)
        yield answer
        if isinstance(group[1] if len(group) > 1 else None, UsageRecord):
            yield rest.popleft()
        yield from results
    yield from rest


def _line(fields: dict[str, Any]) -> bytes:
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATES.sub("\ufffd", text).encode() + b"\n"


def _kimi_fields(record: Record) -> dict[str, Any] | None:
    match record:
        case SystemPrompt(content):
            return {"role": "_system_prompt", "content": content}
        case Checkpoint(number):
            return {"role": "_checkpoint", "id": number}
        case UsageRecord(count):
            return {"role": "_usage", "token_count": count}
        case UserMessage(content, origin):
            if origin == "compaction":
                content = with_preface(content)
            return {"role": "user", "content": _kimi_content(content)}
        case AssistantMessage(content, calls):
            fields = {"role": "assistant", "content": _kimi_content(content)}
            if calls:
                fields["tool_calls"] = [tool_call_fields(call) for call in calls]
            return fields
        case ToolMessage(call_id, content):
            return {"role": "tool", "content": _kimi_content(content), "tool_call_id": call_id}
        case UnknownRecord("system", fields) if isinstance(fields.get("content"), str):
            return {"role": "system", "content": fields["content"]}
        case _:
            return None


def _kimi_content(content: Content) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    fields = content_fields(tuple(_known_part(part) for part in content))
    assert isinstance(fields, list)
    return fields


def _known_part(part: Part) -> Part:
    if not isinstance(part, UnknownPart):
        return part
    said = part.fields.get("text") or part.fields.get("message")
    return TextPart(said if isinstance(said, str) else f"[{part.fields.get('type', 'part')}]")
