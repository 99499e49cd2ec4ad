"""The table of every session: read, grouped, filtered and marked, with a preview beside it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Iterator
from typing import Literal, Protocol, TypeAlias

from textual import events, on, work
from textual.app import ComposeResult
from textual.content import Content

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.format import format_count
from agent_tui.core.summary import SessionSummary
from agent_tui.core.text import clean
from agent_tui.history.exchanges import Exchange
from agent_tui.ui.commands.table import name_keys_of_hint
from agent_tui.ui.screens.dialogs.panel import Panel
from agent_tui.ui.screens.sessions.session_columns import SessionColumns, id_of
from agent_tui.ui.screens.sessions.session_filter import (
    Grouping,
    Listed,
    Shown,
    arrange,
    filter_sessions,
    newest_first,
)
from agent_tui.ui.widgets.lists.fitted import Fitted
from agent_tui.ui.widgets.lists.grouped_rows import GroupedRows
from agent_tui.ui.widgets.lists.list_keys import take_list_key
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.preview import REST_SECONDS
from agent_tui.ui.widgets.panes.session_preview import SessionPreview
from agent_tui.ui.widgets.prompt.line_input import LineInput

_SHOW_SECONDS = 0.3
_MARKED_KEYS = (
    "{session-list-delete:d} delete · {session-list-export:e} export · {panel-leave:Esc} unmark"
)

SessionChoice: TypeAlias = tuple[Literal["open", "new", "view", "search"], str]
"""``("open", session_id)``, ``("new", "")``, ``("view", path)`` for another agent's session, or
``("search", query)`` for the text of all sessions."""


class Sessions(Protocol):
    """What the list needs of the engine.

    Attributes:
        deleted: what was deleted in this run, the newest last: the tokens that undo one deletion,
            and what it is called. The list keeps it, and it outlives the list.
    """

    deleted: list[tuple[tuple[str, ...], str]]

    def growing_list(self) -> AsyncIterator[list[SessionSummary]]: ...
    async def rename_session(self, session_id: str, title: str, folder: str) -> None: ...
    async def delete_session(self, session_id: str, folder: str) -> str: ...
    async def undelete_session(self, token: str) -> None: ...
    async def last_exchanges(self, summary: SessionSummary) -> tuple[Exchange, ...]: ...
    async def count_messages(self, summary: SessionSummary) -> int | None: ...
    async def find_live(self, rows: list[SessionSummary]) -> frozenset[tuple[str, str]]: ...


class OtherSessions(Protocol):
    """What the list needs to show other agents' sessions. Methods block: call them in a thread."""

    def cached_rows(self) -> list[SessionSummary]: ...
    def batches(self) -> Iterator[list[SessionSummary]]: ...


class SessionTable(Panel[SessionChoice]):
    """Shows the sessions, and which of them are marked.

    Args:
        sessions: the engine.
        current: the id of the open session, which is marked.
        others: the sessions of other agents, which are shown as they are found.
    """

    def __init__(self, sessions: Sessions, current: str, others: OtherSessions | None) -> None:
        super().__init__()
        self._sessions = sessions
        self._others = others
        self._ours: list[SessionSummary] = []
        self._theirs: list[SessionSummary] = []
        self._only_ours, self._is_reading = False, True
        self._columns = SessionColumns(current)
        self._previewed: SessionSummary | None = None
        self._all = Listed()
        self._shown = Shown()
        self._grouping: Grouping = "time"
        self._shown_for: tuple[Listed, str, Grouping] = (self._all, "", "time")
        self._filtering = asyncio.Lock()
        self._filter = LineInput("Filter by title, project or first prompt", id="session-filter")
        self._rows = GroupedRows(self._columns.draw, id="session-rows", empty=Content(""))
        self._preview = SessionPreview()

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield self._filter
        yield Fitted(self._draw_heads, id="heads")
        yield self._rows
        yield self._preview
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading("Sessions")
        self._show_empty()
        self.action_reload()

    async def on_resize(self) -> None:
        await super().on_resize()
        self.call_after_refresh(self.draw_heads)

    @work(exclusive=True, group="sessions")
    async def action_reload(self) -> None:
        """Read every session again."""
        self._is_reading = True
        if self._others is not None and not self._theirs:
            self._theirs = await asyncio.to_thread(self._others.cached_rows)
        try:
            async for found in self._sessions.growing_list():
                self._ours = found
                if found:
                    await self._show_all()
        except AgentTuiError as error:
            self._is_reading = False
            self._rows.show_empty(Content.styled(clean(str(error)), "$danger"))
            return
        await self._show_all()
        if self._others is not None:
            self._find_others(self._others)
        else:
            self._end_reading()

    async def _show_all(self) -> None:
        theirs = [] if self._only_ours else self._theirs
        self._all = await asyncio.to_thread(arrange, [*self._ours, *theirs])
        await self._refilter()
        self.refresh_bindings()

    @work(exclusive=True, group="other-sessions")
    async def _find_others(self, others: OtherSessions) -> None:
        """Show other agents' sessions as they are found, a few times a second."""
        batches, found = others.batches(), list[SessionSummary]()
        shown = time.monotonic()
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            found += batch
            if time.monotonic() - shown > _SHOW_SECONDS and len(found) > len(self._theirs):
                self._theirs = list(found)
                await self._show_all()
                shown = time.monotonic()
        if found != self._theirs:
            self._theirs = found
            await self._show_all()
        self._end_reading()

    def _end_reading(self) -> None:
        """Reading is done: drop marks of what is gone, and mark live sessions."""
        self._is_reading = False
        if self.is_left:
            return
        self._show_empty()
        self._show_count()
        if self._columns.marked:
            self._columns.marked &= {id_of(each) for each in [*self._ours, *self._theirs]}
        self._mark_live()

    @work(exclusive=True, group="live-marks", exit_on_error=False)
    async def _mark_live(self) -> None:
        """Mark live sessions; looked for once each time the list is read."""
        rows = await asyncio.to_thread(newest_first, [*self._ours, *self._theirs])
        self._columns.live = await self._sessions.find_live(rows)
        self._rows.redraw()
        self._show_count()

    async def action_show_agents(self, whose: Literal["ours", "all"]) -> None:
        """Hide the sessions of other agents, or show them again."""
        self._only_ours = whose == "ours"
        self.refresh_bindings()
        await self._show_all()

    async def action_group(self, grouping: Grouping) -> None:
        """Put the sessions of a time, a project or an agent together."""
        self._grouping = grouping
        await self._refilter()
        self.refresh_bindings()

    @property
    def _next_grouping(self) -> Grouping:
        if self._grouping == "time":
            return "project"
        is_mixed = self._grouping == "project" and len(self._shown.agents) > 1
        return "agent" if is_mixed else "time"

    def has_rows(self) -> bool:
        return bool(self._shown.sessions)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "show_agents":  # the hint says what the key does next
            is_next = parameters != (("ours" if self._only_ours else "all"),)
            return bool(self._theirs) and is_next
        if action == "group":
            return self.has_rows() and parameters == (self._next_grouping,)
        if action == "filter":
            return bool(self._all.sessions)
        return super().check_action(action, parameters)

    async def _take_out(self, gone: Collection[tuple[str, str]]) -> None:
        """Remove sessions of ours from the table, given by source and folder."""
        self._ours = [each for each in self._ours if id_of(each) not in gone]
        self._all = self._all.without(gone)
        await self._refilter()

    @on(LineInput.Changed, "#session-filter")
    @work(group="filter")
    async def _follow_filter(self) -> None:
        await self._refilter()

    async def _refilter(self) -> None:
        """Show what fits the filter; when this returns, that is on the screen.

        It is found in a thread, which holds up no key; of several keys only the last is looked for.
        """
        async with self._filtering:
            wanted = (self._all, self._filter.value, self._grouping)
            if wanted == self._shown_for:
                return
            shown = await asyncio.to_thread(filter_sessions, *wanted)
            if not self.is_left:  # else its rows may be gone already
                is_typed = bool(wanted[1]) and self._shown_for[1] != wanted[1]
                self._shown_for = wanted
                self._show(shown, is_typed=is_typed)

    def _show(self, shown: Shown, *, is_typed: bool) -> None:
        chosen = self._highlighted
        self._shown = shown
        self._columns.show(shown.sessions, shown.agents)
        self._show_empty()
        stays = chosen if self._rows.item and not is_typed else None  # the top stays the top
        place = shown.places.get(id_of(stays), 0) if stays else 0
        self._rows.show_groups(len(shown.sessions), shown.groups, place)
        if not shown.sessions:
            self._previewed = None
            self._preview.show_session(None)
        self.draw_heads()
        self._show_count()

    def _show_empty(self) -> None:
        """Say why there are no rows, and what to do."""
        if self._filter.value.split():
            way = name_keys_of_hint(
                self.app, "Press {session-list-search-typed:Tab} to search what was said."
            )
            empty = (
                "No match yet. Still reading sessions…"
                if self._is_reading
                else f"No session matches. {way}"
            )
        else:
            start = name_keys_of_hint(self.app, "Press {session-list-new:n} to start one.")
            empty = "Reading sessions…" if self._is_reading else f"No sessions yet. {start}"
        self._rows.show_empty(Content(empty))

    def _show_count(self) -> None:
        projects = format_count(self._shown.projects, "project")
        marked = len(self._marked)
        live = self._columns.count_live(self._all.sessions, self._shown.places)
        agents = len(self._shown.agents)
        self.show_heading(
            "Sessions",
            f"{format_count(len(self._shown.sessions), 'session')} in {projects}",
            format_count(agents, "agent") if agents > 1 else "",
            f"○ {live} live" if live else "",
            f"{marked} marked" if marked else "",
            "reading…" if self._is_reading else "",
        )

    @property
    def _highlighted(self) -> SessionSummary | None:
        return self._shown.sessions[self._rows.item] if self._shown.sessions else None

    def _draw_heads(self, width: int) -> Content:
        return self._columns.draw_heads(self._rows.scrollable_content_region.width or width)

    @on(Rows.Highlighted, "#session-rows")
    def _follow_cursor(self) -> None:
        if self._highlighted != self._previewed or self._highlighted is None:
            self._previewed = self._highlighted
            self._preview.show_session(self._highlighted)
            self._read_preview(self._highlighted)

    @work(exclusive=True, group="preview", exit_on_error=False)
    async def _read_preview(self, summary: SessionSummary | None) -> None:
        """Show what was said last, once the cursor has rested for a moment."""
        if summary is None or not self._preview.display:
            return
        await asyncio.sleep(REST_SECONDS)
        exchanges = await self._sessions.last_exchanges(summary)
        if summary == self._highlighted:
            self._preview.show_session(summary, exchanges)
        messages = await self._sessions.count_messages(summary)
        if summary == self._highlighted and messages is not None:
            self._preview.show_session(summary, exchanges, messages)

    def action_filter(self) -> None:
        self._filter.focus()

    async def on_key(self, event: events.Key) -> None:
        """While the filter has the focus, arrows still move the cursor of the list."""
        if self._filter.has_focus:
            take_list_key(event, self._rows)

    def action_mark(self) -> None:
        """Mark or unmark the session under the cursor, and move to the next."""
        if (summary := self._highlighted) is not None:
            self._columns.marked ^= {id_of(summary)}
            self._rows.redraw()
            self._rows.cursor += 1
            self._show_count()
            if count := len(self._marked):
                self.tell(f"{count} marked. {name_keys_of_hint(self.app, _MARKED_KEYS)}")

    @property
    def _marked(self) -> list[SessionSummary]:
        """The marked sessions, whether or not the filter shows them."""
        marked = self._columns.marked
        return [each for each in self._all.sessions if id_of(each) in marked] if marked else []

    def _unmark(self) -> None:
        self._columns.marked.clear()
        self._rows.redraw()
        self._show_count()
