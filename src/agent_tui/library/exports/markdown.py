"""A session as a Markdown document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import assert_never

from agent_tui.core.messages import (
    Content,
    MediaPart,
    TextPart,
    ThinkPart,
    UnknownPart,
    text_of,
    thinking_of,
)
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    NoticeRecord,
    Record,
    RevertRecord,
    TitleRecord,
    ToolMessage,
    TurnEndRecord,
    UserMessage,
)
from agent_tui.core.text import clean
from agent_tui.core.words import OUTCOMES, describe_compaction, describe_revert

_SPEAKERS = {
    "human": "You",
    "steer": "You, while the agent ran",
    "shell": "You ran a command",
    "compaction": "Summary of what came before",
    "dmail": "D-Mail",
    "checkpoint": "Checkpoint note",
    "reminder": "Reminder",
}


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
            outcome = OUTCOMES[record.outcome]
            state = f" ({outcome})" if outcome else ""
            yield _folded(f"Result of {name}{state}", _fenced(text_of(content).strip("\n")))
        case CompactionRecord():
            done = describe_compaction(record.pre_tokens, record.post_tokens, "{:,}".format)
            yield f"*{done.capitalize()}.*"
        case RevertRecord():
            done = _one_line(describe_revert(record.reason, record.checkpoint, record.of))
            yield f"*{done[:1].upper()}{done[1:]}.*"
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
