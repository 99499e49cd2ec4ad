"""What is known of a session before it is opened."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from agent_tui.core.format import format_age, format_count, format_size
from agent_tui.core.summary import SessionSummary
from agent_tui.core.text import clean, reveal
from agent_tui.ui.widgets.lists.rows import Rows


class SessionPreview(Rows, can_focus=False):
    """One session's facts and the beginning of its first prompt; the mouse wheel scrolls it."""

    def __init__(self) -> None:
        super().__init__(has_cursor=False)
        self._text = Content("")
        self._lines: list[Content] = []

    def show_session(self, summary: SessionSummary | None) -> None:
        """Show this session, or nothing."""
        self._text = Content("") if summary is None else describe_session(summary)
        self._wrap()
        self.scroll_home(animate=False)

    def _wrap(self) -> None:
        self._lines = self._text.wrap(max(1, self.scrollable_content_region.width))
        self.show_rows(len(self._lines))

    def on_resize(self) -> None:
        self._wrap()

    def draw_row(self, index: int, width: int) -> Content:
        return self._lines[index]


def describe_session(summary: SessionSummary) -> Content:
    """Title, facts and first prompt, one under the other."""
    lines = [Content.styled(clean(summary.title) or "Untitled", "bold"), Content("")]
    lines += [
        Content.assemble((name.ljust(10), "$muted"), reveal(value))
        for name, value in _facts(summary)
        if value
    ]
    if summary.first_prompt:
        lines += [Content(""), Content.styled("First prompt", "$user")]
        lines.append(Content(clean(summary.first_prompt.strip())))
    return Content("\n").join(lines)


def _facts(summary: SessionSummary) -> Iterator[tuple[str, str]]:
    yield "project", summary.cwd
    yield "last used", _when(summary.updated_at)
    yield "begun", _when(summary.created_at)
    yield "size", format_size(summary.size_bytes)
    yield "archives", format_count(summary.archives, "archive") if summary.archives else ""
    yield "model", summary.model
    yield "source", "" if summary.source == "agent-tui" else summary.source
    yield "id", summary.session_id


def _when(at: str) -> str:
    age = format_age(at)
    if age and age[-1] in "mhd" and age[0].isdigit() and " " not in age:
        return f"{age} ago"
    return age
