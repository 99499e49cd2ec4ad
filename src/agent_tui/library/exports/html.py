"""A session as one HTML page: searchable, folded, light and dark, and nothing from any network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from agent_tui.core.messages import Content, MediaPart, text_of, thinking_of
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    NoticeRecord,
    Record,
    RevertRecord,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    TurnEndRecord,
    UserMessage,
)
from agent_tui.core.text import clean, first_line
from agent_tui.core.words import OUTCOMES, describe_compaction, describe_revert
from agent_tui.resources import page_part

_SPEAKERS = {"human": "You", "steer": "You", "shell": "You ran", "compaction": "Summary"}


def export_html(records: Iterable[Record], title: str = "") -> Iterator[bytes]:
    """The page, piece by piece. Text is escaped; Markdown is drawn without raw HTML."""
    records = list(records)
    titles = [record.title for record in records if isinstance(record, TitleRecord)]
    title = clean(title or (titles[-1] if titles else "Session"))
    style, script = page_part("session.css"), page_part("session.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'"
    )
    yield _bytes(
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{_text(title)}</title>\n'
        f"<style>{style}</style></head>\n<body><header><h1>{_text(title)}</h1>"
        f'<input id="find" type="search" placeholder="Find in this session">'
        f'<span id="count" role="status"></span>'
        f'<button id="fold" type="button">Unfold all</button></header>\n<main>\n'
    )
    names: dict[str, str] = {}
    for record in records:
        if isinstance(record, AssistantMessage):
            names |= {call.id: call.name for call in record.tool_calls}
        for piece in _pieces(record, names):
            yield _bytes(piece + "\n")
    yield _bytes(f"</main>\n<script>{script}</script>\n</body></html>\n")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _text(text: str) -> str:
    return html.escape(clean(text))


def _pieces(record: Record, names: dict[str, str]) -> Iterator[str]:
    match record:
        case UserMessage(content, origin):
            body = _body(content, typed=True)
            yield _article(_SPEAKERS.get(origin or "human", "Note"), "user", record, body)
        case AssistantMessage(content, calls):
            thinking = thinking_of(content)
            body = _folded("Thinking", _text(thinking.strip())) if thinking else ""
            body += _body(content)
            for call in calls:
                what = first_line(" ".join(call.arguments.split()), 90)
                body += _folded(_text(f"{call.name} {what}"), _text(_pretty(call.arguments)))
            yield _article("Agent", "agent", record, body)
        case ToolMessage(call_id, content):
            name = _text(names.get(call_id, "tool"))
            outcome = OUTCOMES[record.outcome]
            state = " failed" if record.is_error else ""
            body = _folded(f"result of {name} {outcome}".rstrip(), _text(text_of(content)))
            yield f'<article class="tool{state}">{body}</article>'
        case SystemPrompt(content):
            yield f'<article class="tool">{_folded("System prompt", _text(content))}</article>'
        case CompactionRecord():
            done = describe_compaction(record.pre_tokens, record.post_tokens, "{:,}".format)
            yield f"<p class=mark>{done.capitalize()}</p>"
        case RevertRecord():
            done = describe_revert(record.reason, record.checkpoint, record.of)
            yield f"<p class=mark>{_text(done[:1].upper() + done[1:])}</p>"
        case NoticeRecord(text=reason) | TurnEndRecord(reason=reason) if reason:
            yield f"<p class=mark>{_text(reason)}</p>"
        case _:
            return


def _article(who: str, kind: str, record: Record, body: str) -> str:
    at = f"<time>{_text((record.stamp.at or '')[:16].replace('T', ' '))}</time>"
    return f'<article class="{kind}"><h2>{who}{at}</h2>{body}</article>'


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary><pre>{body}</pre></details>"


def _body(content: Content, *, typed: bool = False) -> str:
    """The text drawn and its pictures; of what was typed, each line end is one."""
    pictures = ""
    if not isinstance(content, str):
        for part in content:
            if isinstance(part, MediaPart):
                pictures += _picture(part)
    return _renderer(breaks=typed)(clean(text_of(content))) + pictures


def _picture(part: MediaPart) -> str:
    if part.kind == "image_url" and part.url.startswith("data:image/"):
        return f'<img alt="picture" src="{html.escape(part.url)}">'
    return f"<p>[{_text(part.kind.removesuffix('_url'))}]</p>"


@cache
def _renderer(*, breaks: bool) -> Callable[[str], str]:
    """The parser, loaded when the first page is written; ``breaks``: a line end is kept as one."""
    from markdown_it import MarkdownIt

    options = {"html": False, "linkify": False, "breaks": breaks}
    return MarkdownIt("commonmark", options).enable("table").render


def _pretty(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return arguments
