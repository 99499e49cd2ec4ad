"""How the rows of the session list look: which columns there is room for, and how wide they are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime
from itertools import takewhile

from textual.content import Content

from agent_tui.core.format import format_age, format_size, format_span, format_tokens, parse_time
from agent_tui.core.summary import OURS, SessionSummary
from agent_tui.core.text import first_line, reveal
from agent_tui.ui.widgets.cells import fit_cells

_NO_PROJECT = 56
_WITH_AGENT = 66
_WITH_SIZE = 88
_WITH_SPAN = 100
_WITH_COMPACTION = 112
_SIZE, _SPAN, _COMPACTION = 9, 8, 16
"""Cells of the columns that there is not always room for, with the gap before them."""
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
        self._agents: Collection[str] = ()
        self._has_compacted = False
        self.live: Collection[tuple[str, str]] = ()
        self.marked: set[tuple[str, str]] = set()

    def show(self, shown: Sequence[SessionSummary], agents: Collection[str]) -> None:
        """Take over what is shown, and which agents wrote it."""
        self._shown = shown
        self._agents = agents
        self._has_compacted = any(each.tokens_before for each in shown)

    def draw(self, index: int, width: int) -> Content:
        """The row of a session."""
        width -= 1  # a cell before the scroll bar
        summary = self._shown[index]
        is_current = summary.session_id == self._current and summary.source == OURS
        mark = "● " if is_current else "○ " if self._is_live(summary) else "  "
        mark = "✓ " if id_of(summary) in self.marked else mark
        age = format_age(summary.updated_at).rjust(7)
        if width < _NO_PROJECT:
            title = fit_cells(title_of(summary), width - 10)
            return Content.assemble((mark, "$ok"), title, (f" {age}", "$muted"))
        figures = "".join(
            text.rjust(cells)
            for cells, text in zip(self._figures(width), _facts(summary), strict=False)
        )
        agent = self._agent_width(width)
        return Content.assemble(
            (mark, "$ok"),
            fit_cells(title_of(summary), self._title_width(width) - agent),
            " ",
            (fit_cells(_agent(summary), agent - 1) + " " if agent else "", "$muted"),
            (fit_cells(reveal(_name_of(summary.cwd)), _project_width(width)), "$muted"),
            (f"{figures} {age}", "$muted"),
        )

    def count_live(
        self, newest_first: Sequence[SessionSummary], shown: Collection[tuple[str, str]]
    ) -> int:
        """How many of the shown sessions are open elsewhere, or were until a moment ago."""
        live = {*map(id_of, takewhile(_is_new, newest_first)), *self.live}
        return sum(each in shown and each[1].rpartition("/")[2] != self._current for each in live)

    def _is_live(self, summary: SessionSummary) -> bool:
        """Whether the session is open elsewhere, or was written in the last minute."""
        return _is_new(summary) or id_of(summary) in self.live

    def _agent_width(self, width: int) -> int:
        """The cells of the agent column: as many as its longest name takes; none for one agent."""
        if width < _WITH_AGENT or not set(self._agents) - {OURS}:
            return 0
        return (
            max(len("AGENT"), *(min(_LONGEST_AGENT, len(reveal(name))) for name in self._agents))
            + 1
        )

    def _title_width(self, width: int) -> int:
        """What mark, project, size and age leave of a row."""
        return width - 2 - 1 - _project_width(width) - sum(self._figures(width)) - 8

    def _figures(self, width: int) -> list[int]:
        """The cells of the figures that there is room for: size, span, and what was compacted."""
        with_compaction = _WITH_COMPACTION if self._has_compacted else width + 1
        columns = ((_WITH_SIZE, _SIZE), (_WITH_SPAN, _SPAN), (with_compaction, _COMPACTION))
        return [cells for least, cells in columns if width >= least]

    def draw_heads(self, width: int) -> Content:
        """The names of the columns."""
        width -= 1
        if width < _NO_PROJECT:
            return Content("")
        heads = zip(self._figures(width), ("SIZE", "LASTED", "COMPACTED"), strict=False)
        figures = "".join(name.rjust(cells) for cells, name in heads)
        agent = self._agent_width(width)
        title, project = self._title_width(width) - agent, _project_width(width)
        names = f"{'TITLE':<{title}} {'AGENT'[:agent]:<{agent}}{'PROJECT':<{project}}"
        return Content(f"  {names}{figures}    WHEN")


def stretches(shown: Sequence[SessionSummary]) -> Iterator[tuple[str, int]]:
    """Each stretch of time among sessions, the newest first, and where it begins."""
    first, today = 0, datetime.now().astimezone().date()
    while first < len(shown):
        name = _stretch(shown[first].updated_at, today)
        yield name, first
        first = bisect_right(
            shown,
            _ORDER[name],
            lo=first + 1,  # continues even where times are out of order
            key=lambda summary: _ORDER[_stretch(summary.updated_at, today)],
        )


def title_of(summary: SessionSummary) -> str:
    """The title of a session, as people see it."""
    return first_line(summary.title, 300) or first_line(summary.first_prompt, 300) or "Untitled"


def id_of(summary: SessionSummary) -> tuple[str, str]:
    """What tells a session from all others: its source and folder."""
    return summary.source, summary.folder


def _is_new(summary: SessionSummary) -> bool:
    return format_age(summary.updated_at) == "now"


def _agent(summary: SessionSummary) -> str:
    return reveal(summary.source)[:_LONGEST_AGENT]


def _name_of(cwd: str) -> str:
    return cwd.rstrip("/").rpartition("/")[2] or cwd


def _project_width(width: int) -> int:
    return max(12, min(24, width // 6))


def _facts(summary: SessionSummary) -> tuple[str, str, str]:
    """What stands in these columns."""
    before, after = format_tokens(summary.tokens_before), format_tokens(summary.tokens_after)
    return (
        format_size(summary.size_bytes),
        format_span(summary.created_at, summary.updated_at),
        f"{before} → {after}" if summary.tokens_before else "",
    )


_STRETCHES = ((1, "Today"), (2, "Yesterday"), (7, "This week"), (31, "This month"))
_EARLIER = "Earlier"
_ORDER = {name: place for place, name in enumerate([*(name for _, name in _STRETCHES), _EARLIER])}


def _stretch(at: str, today: date) -> str:
    """Today, yesterday, this week, this month or earlier, by the local date."""
    moment = parse_time(at)
    if moment is None:
        return _EARLIER
    days = (today - moment.astimezone().date()).days
    return next((name for most, name in _STRETCHES if days < most), _EARLIER)
