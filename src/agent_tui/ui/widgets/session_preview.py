"""What is known of a session before it is opened."""

from __future__ import annotations

from collections.abc import Iterator

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.summary import SessionGlance
from agent_tui.core.text import clean, reveal
from agent_tui.ui.format import format_age, format_count, format_size


class SessionPreview(VerticalScroll, can_focus=False):
    """One session's facts and the beginning of its first prompt."""

    def __init__(self) -> None:
        super().__init__()
        self._text = Static()

    def compose(self) -> Iterator[Static]:
        yield self._text

    def show_session(self, glance: SessionGlance | None) -> None:
        """Show this session, or nothing."""
        self._text.update(Content("") if glance is None else describe_session(glance))
        self.scroll_home(animate=False)


def describe_session(glance: SessionGlance) -> Content:
    """Title, facts and first prompt, one under the other."""
    lines = [Content.styled(clean(glance.title) or "Untitled", "bold"), Content("")]
    lines += [
        Content.assemble((name.ljust(10), "$muted"), reveal(value))
        for name, value in _facts(glance)
        if value
    ]
    if glance.first_prompt:
        lines += [Content(""), Content.styled("First prompt", "$user")]
        lines.append(Content(clean(glance.first_prompt.strip())))
    return Content("\n").join(lines)


def _facts(glance: SessionGlance) -> Iterator[tuple[str, str]]:
    yield "project", glance.cwd
    yield "last used", _when(glance.updated_at)
    yield "begun", _when(glance.created_at)
    yield "size", format_size(glance.size_bytes)
    yield "archives", format_count(glance.archives, "archive") if glance.archives else ""
    yield "model", glance.model
    yield "source", "" if glance.source == "agent-tui" else glance.source
    yield "id", glance.session_id


def _when(at: str) -> str:
    age = format_age(at)
    if age and age[-1] in "mhd" and age[0].isdigit() and " " not in age:
        return f"{age} ago"
    return age
