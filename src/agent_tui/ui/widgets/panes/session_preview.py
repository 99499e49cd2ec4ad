"""What is known about a session before it is opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from agent_tui.core.format import format_count, format_since, format_size, format_tokens
from agent_tui.core.summary import OURS, SessionSummary
from agent_tui.core.text import clean, reveal
from agent_tui.history.exchanges import Exchange
from agent_tui.ui.widgets.panes.exchange_lines import Part
from agent_tui.ui.widgets.panes.preview import Preview


class SessionPreview(Preview):
    """One session: its facts, and what was said last."""

    def show_session(
        self,
        summary: SessionSummary | None,
        exchanges: Sequence[Exchange] = (),
        messages: int | None = None,
    ) -> None:
        """Show this session with what was said last in it and how much was, or nothing."""
        if summary is None:
            self.show_parts([])
            return
        said = exchanges or (Exchange(summary.first_prompt),)  # until more of it is read
        self.show_parts(describe_session(summary, messages), said)


def describe_session(summary: SessionSummary, messages: int | None = None) -> list[Part]:
    """Title and facts of a session."""
    facts = [_project(summary.cwd), summary.model]
    if summary.archives:
        facts.append(format_count(summary.archives, "archive"))
    if summary.source != OURS:
        facts.insert(0, summary.source)
    return [
        Content.styled(clean(summary.title) or "Untitled", "bold"),
        Content.styled(" · ".join(reveal(fact) for fact in facts if fact), "$muted"),
        *(_fact(name, value) for name, value in _facts(summary, messages) if value),
        Content(""),
    ]


def _fact(name: str, value: str) -> Content:
    return Content.assemble((name.ljust(10), "$faint"), (reveal(value), "$muted"))


def _project(cwd: str) -> str:
    return cwd.rstrip("/").rpartition("/")[2] or cwd


def _facts(summary: SessionSummary, messages: int | None) -> Iterator[tuple[str, str]]:
    counted = "" if messages is None else f", {format_count(messages, 'message')}"
    used, created = format_since(summary.updated_at), format_since(summary.created_at)
    yield "size", format_size(summary.size_bytes) + counted
    yield "folder", summary.cwd
    yield "last used", used
    yield "created", created if created != used else ""
    yield "compacted", _compaction(summary)


def _compaction(summary: SessionSummary) -> str:
    """What the last compaction left, and what it lost."""
    if not summary.tokens_before:
        return ""
    before, after = format_tokens(summary.tokens_before), format_tokens(summary.tokens_after)
    lost = format_count(summary.messages_dropped, "message")
    return f"{before} → {after} tokens" + (f", {lost} dropped" if summary.messages_dropped else "")
