"""Writing a session in the formats of others: kimi's log, and Markdown for people."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never

from agent_tui.core.messages import (
    Content,
    MediaPart,
    Part,
    TextPart,
    ThinkPart,
    UnknownPart,
    text_of,
    thinking_of,
)
from agent_tui.core.record_writing import content_fields, tool_call_fields
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    NoticeRecord,
    Record,
    RevertRecord,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    TurnEndRecord,
    UnknownRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.summary_format import PREFACE
from agent_tui.core.text import clean
from agent_tui.sessions.replay import repaired_messages

_SURROGATES = re.compile("[\ud800-\udfff]")
_SPEAKERS = {
    "human": "You",
    "steer": "You, while the agent ran",
    "shell": "You ran a command",
    "compaction": "Summary of what came before",
    "dmail": "D-Mail",
    "checkpoint": "Checkpoint note",
    "reminder": "Reminder",
}


def export_kimi(records: Iterable[Record], token_count: int | None = None) -> Iterator[bytes]:
    """The lines of a log that kimi-cli loads with the same history, checkpoints and token count.

    Only roles, fields and kinds of parts that it knows are written: it skips lines of other roles
    as broken and cannot load a part of another kind. It sends what it loads without
    mending it, so that every call gets its result here.

    Args:
        records: the active path of a session.
        token_count: the size of the context, where the records do not say it themselves.
    """
    last = None
    for record in _repaired(records):
        fields = _kimi_fields(record)
        if fields is None:
            continue
        if isinstance(record, UsageRecord):
            last = record.token_count
        yield _line(fields)
    if token_count is not None and token_count != last:
        yield _line({"role": "_usage", "token_count": token_count})


def _repaired(records: Iterable[Record]) -> Iterator[Record]:
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
                content = _told_as_summary(content)
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


def _told_as_summary(content: Content) -> Content:
    """A summary with the words by which it is known as one: its origin is not written."""
    parts = (TextPart(content),) if isinstance(content, str) else content
    told = text_of(parts).startswith("<system>")
    return content if told else (TextPart(PREFACE), *parts)


def _known_part(part: Part) -> Part:
    if not isinstance(part, UnknownPart):
        return part
    said = part.fields.get("text") or part.fields.get("message")
    return TextPart(said if isinstance(said, str) else f"[{part.fields.get('type', 'part')}]")


def export_markdown(records: Iterable[Record], title: str = "") -> Iterator[bytes]:
    """A session as a Markdown document, piece by piece, safe to print to a terminal."""
    records = list(records)
    titles = [record.title for record in records if isinstance(record, TitleRecord)]
    yield _paragraph(f"# {_one_line(title or (titles[-1] if titles else 'Session'))}")
    names: dict[str, str] = {}
    for record in records:
        if isinstance(record, AssistantMessage):
            names |= {call.id: call.name for call in record.tool_calls}
        for paragraph in _paragraphs(record, names):
            yield _paragraph(paragraph)


def _paragraph(text: str) -> bytes:
    return clean(text).encode() + b"\n\n"


def _paragraphs(record: Record, names: dict[str, str]) -> Iterator[str]:
    match record:
        case UserMessage(content, origin):
            yield f"## {_SPEAKERS.get(origin or 'human', 'Message')}"
            yield from _content_paragraphs(content)
        case AssistantMessage(content, calls):
            yield "## Agent"
            if thinking := thinking_of(content):
                yield _folded("Thinking", thinking.strip())
            yield from _content_paragraphs(content)
            for call in calls:
                yield f"**{_one_line(call.name)}**"
                yield _fenced(_pretty(call.arguments), "json")
        case ToolMessage(call_id, content):
            name = _one_line(names.get(call_id, "tool"))
            state = " (error)" * record.is_error
            state = " (interrupted)" if record.interrupted else state
            state = " (rejected)" if record.rejected else state
            yield _folded(f"Result of {name}{state}", _fenced(text_of(content).strip("\n")))
        case CompactionRecord():
            yield f"*Compacted: {record.pre_tokens:,} → {record.post_tokens:,} tokens.*"
        case RevertRecord():
            yield f"*Went back here ({_one_line(record.reason)}).*"
        case NoticeRecord(text=reason) | TurnEndRecord(reason=reason) if reason:
            yield f"*{_one_line(reason)}*"
        case _:
            return


def _content_paragraphs(content: Content) -> Iterator[str]:
    for part in (TextPart(content),) if isinstance(content, str) else content:
        match part:
            case TextPart(text):
                if text.strip():
                    yield text.strip("\n")
            case MediaPart(kind, url):
                shown = url if not url.startswith("data:") else url.partition(",")[0]
                yield f"[{kind.removesuffix('_url')}: {_one_line(shown)}]"
            case UnknownPart(fields):
                yield _fenced(json.dumps(fields, ensure_ascii=False, indent=1), "json")
            case ThinkPart():
                continue
            case _:
                assert_never(part)


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _fenced(text: str, language: str = "") -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _pretty(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return arguments


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")
