"""How the rows of the session list look: which columns there is room for, and how wide they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from textual.content import Content

from agent_tui.core.format import format_age, format_size, parse_time
from agent_tui.core.summary import OURS, SessionSummary
from agent_tui.core.text import first_line, reveal
from agent_tui.ui.widgets.lists.rows import fit_cells

_NO_PROJECT = 56
_WITH_GROUPS = 66
_WITH_SIZE = 88
_GROUP_WIDTH = 11
_LEAST_TITLE = 32
_LONGEST_AGENT = 14


class SessionColumns:
    """Draws the sessions that are shown.

    Args:
        current: the id of the open session, which is marked.

    Attributes:
        live: source and folder of the sessions that somebody works in, which are marked too.
        marked: source and folder of the sessions that a person chose several of.
    """

    def __init__(self, current: str) -> None:
        self._current = current
        self._shown: Sequence[SessionSummary] = ()
        self._agents: set[str] = set()
        self.live: Collection[tuple[str, str]] = ()
        self.marked: set[tuple[str, str]] = set()

    def show(self, shown: Sequence[SessionSummary]) -> int:
        """Take over what is shown; returns how many agents wrote it."""
        self._shown = shown
        self._agents = {summary.source for summary in shown}
        return len(self._agents)

    def draw(self, index: int, width: int) -> Content:
        """The row of a session."""
        summary = self._shown[index]
        is_current = summary.session_id == self._current and summary.source == OURS
        mark = "● " if is_current else "○ " if self._is_live(summary) else "  "
        mark = "✓ " if id_of(summary) in self.marked else mark
        groups = self._groups_width(width)
        group = self._group(index) if groups else ""
        age = format_age(summary.updated_at).rjust(7)
        if width < _NO_PROJECT:
            title = fit_cells(title_of(summary), width - 10)
            return Content.assemble((mark, "$ok"), title, (f" {age}", "$muted"))
        size = f" {format_size(summary.size_bytes).rjust(8)}" if width >= _WITH_SIZE else ""
        agent = self._agent_width(width)
        return Content.assemble(
            (mark, "$ok"),
            (group, "$faint"),
            fit_cells(title_of(summary), _title_width(width) - agent - groups),
            " ",
            (fit_cells(_agent(summary), agent - 1) + " " if agent else "", "$muted"),
            (fit_cells(reveal(_name_of(summary.cwd)), _project_width(width)), "$muted"),
            (f"{size} {age}", "$muted"),
        )

    def _is_live(self, summary: SessionSummary) -> bool:
        """Whether somebody works in the session, or wrote it in the last minute."""
        is_new = format_age(summary.updated_at) == "now"
        return is_new or (summary.source, summary.folder) in self.live

    def _group(self, index: int) -> str:
        """The name of a stretch of time, where it begins in the list."""
        name = _stretch(self._shown[index].updated_at)
        before = _stretch(self._shown[index - 1].updated_at) if index else ""
        return ("" if name == before else name).ljust(_GROUP_WIDTH)

    def _groups_width(self, width: int) -> int:
        """The cells of the column of days: none where it would cut most titles."""
        room = _title_width(width) - self._agent_width(width) - _GROUP_WIDTH
        return _GROUP_WIDTH if width >= _WITH_GROUPS and room >= _LEAST_TITLE else 0

    def _agent_width(self, width: int) -> int:
        """The cells of the agent column: as many as its longest name takes; none for one agent."""
        if width < _WITH_GROUPS or not self._agents - {OURS}:
            return 0
        return (
            max(len("AGENT"), *(min(_LONGEST_AGENT, len(reveal(name))) for name in self._agents))
            + 1
        )

    def draw_heads(self, width: int) -> Content:
        """The names of the columns."""
        if width < _NO_PROJECT:
            return Content("")
        groups = self._groups_width(width)
        group = "  " + " " * groups
        size = "     SIZE" if width >= _WITH_SIZE else ""
        agent = self._agent_width(width)
        title, project = _title_width(width) - agent - groups, _project_width(width)
        names = f"{'TITLE':<{title}} {'AGENT'[:agent]:<{agent}}{'PROJECT':<{project}}"
        return Content(f"{group}{names}{size}    WHEN")


def title_of(summary: SessionSummary) -> str:
    """What people call a session."""
    return first_line(summary.title, 300) or first_line(summary.first_prompt, 300) or "Untitled"


def id_of(summary: SessionSummary) -> tuple[str, str]:
    """What tells a session from all others: its source and folder."""
    return summary.source, summary.folder


def _agent(summary: SessionSummary) -> str:
    return reveal(summary.source)[:_LONGEST_AGENT]


def _name_of(cwd: str) -> str:
    return cwd.rstrip("/").rpartition("/")[2] or cwd


def _project_width(width: int) -> int:
    return max(12, min(24, width // 6))


def _title_width(width: int) -> int:
    """What mark, project, size and age leave of a row."""
    size = 9 if width >= _WITH_SIZE else 0
    return width - 2 - 1 - _project_width(width) - size - 8


def _stretch(at: str) -> str:
    """Today, yesterday, this week, this month or earlier, by the local date."""
    moment = parse_time(at)
    if moment is None:
        return "Earlier"
    days = (datetime.now().astimezone().date() - moment.astimezone().date()).days
    names = ((1, "Today"), (2, "Yesterday"), (7, "This week"), (31, "This month"))
    return next((name for most, name in names if days < most), "Earlier")
