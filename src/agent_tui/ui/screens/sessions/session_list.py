"""Every session of every project, newest first: filter, view, open, rename, delete, restore."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from textual import on, work
from textual.binding import Binding

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.format import format_count
from agent_tui.core.summary import OURS, SessionSummary
from agent_tui.core.text import clean, first_line
from agent_tui.resources import stylesheet
from agent_tui.ui.commands.table import name_keys_of_hint
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS
from agent_tui.ui.screens.sessions.session_columns import id_of, title_of
from agent_tui.ui.screens.sessions.session_table import OtherSessions, Sessions, SessionTable
from agent_tui.ui.widgets.bars.key_hints import KeyHints
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.prompt.line_input import LineInput


class SessionListScreen(SessionTable):
    """The session list.

    Args:
        sessions: the engine.
        current: the id of the open session, which is marked and cannot be deleted here.
        export: writes a session to a file in the folder of the work; returns its path
            and what was redacted.
        others: the sessions of other agents, which are shown as they are found.
    """

    CSS_PATH = [
        *PANEL_SHEETS,
        stylesheet("screens/session_list.tcss"),
    ]
    AUTO_FOCUS = "#session-rows"
    BINDINGS = [
        Binding("enter", "open_highlighted", "open", key_display="Enter"),
        Binding("n", "new", "new"),
        Binding("slash", "filter", "filter", key_display="/"),
        Binding("t", "search", "search text", key_display="t"),
        Binding("r", "rename", "rename"),
        Binding("d,delete", "delete", "delete", key_display="d"),
        Binding("u", "undelete", "undo"),
        Binding("space", "mark", "mark", key_display="Space"),
        Binding("e", "export", "export", show=False),
        Binding("a", "show_agents('ours')", "only agent-tui", key_display="a"),
        Binding("a", "show_agents('all')", "all agents", key_display="a"),
        Binding("g", "group('project')", "by project", key_display="g"),
        Binding("g", "group('agent')", "by agent", key_display="g"),
        Binding("g", "group('time')", "by time", key_display="g"),
        Binding("tab", "to_list", "list", key_display="Tab"),
        Binding("tab", "search_typed", "search text", key_display="Tab"),
        Binding("ctrl+r,f5", "reload", "Refresh", show=False, key_display="Ctrl+R"),
    ]
    ABOUT_ROWS = frozenset({"open_highlighted", "rename", "delete", "mark", "export"})

    def __init__(
        self,
        sessions: Sessions,
        current: str = "",
        others: OtherSessions | None = None,
        export: Callable[[SessionSummary], Awaitable[tuple[Path, str]]] | None = None,
    ) -> None:
        super().__init__(sessions, current, others)
        self._current = current
        self._export = export
        self._renaming: SessionSummary | None = None
        self._new_title: LineInput | None = None

    @on(Rows.Chosen, "#session-rows")
    def action_open_highlighted(self) -> None:
        if (summary := self._highlighted) is None:
            return
        if summary.source == OURS:
            self.dismiss(("open", summary.session_id))
        else:
            self.dismiss(("view", summary.folder))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "undelete":
                return bool(self._sessions.deleted)
            case "delete" | "export" if self._marked:
                return True  # also what the filter hides
            case "to_list" | "search_typed":  # the filter keeps what is typed
                return self._filter.has_focus and self.has_rows() == (action == "to_list")
            case _:
                return super().check_action(action, parameters)

    def action_to_list(self) -> None:
        self._rows.focus()

    def action_search_typed(self) -> None:
        """Search the text of all sessions for what no title holds."""
        self.action_search()

    def action_new(self) -> None:
        self.dismiss(("new", ""))

    def action_search(self) -> None:
        """Search the text of all sessions, starting with what the filter holds."""
        self.dismiss(("search", self._filter.value))

    @on(LineInput.Submitted, "#session-filter")
    async def _filter_done(self, event: LineInput.Submitted) -> None:
        event.stop()
        await self._refilter()  # Enter may be quicker than what the last letter finds
        self.action_open_highlighted()

    def _refuse(self, summary: SessionSummary) -> bool:
        """Whether the session is another agent's, and so read-only; then says so."""
        if summary.source == OURS:
            return False
        self.tell(f"Sessions of {clean(summary.source)} are read-only here.", is_error=True)
        return True

    def action_rename(self) -> None:
        if (summary := self._highlighted) is None or self._refuse(summary):
            return
        self._close_title()
        self._renaming = summary
        self._new_title = LineInput("New title", value=clean(summary.title), id="session-title")
        self.mount(self._new_title, before=self.query_one(KeyHints))
        self.add_class("-renaming")
        self._new_title.focus()

    @on(LineInput.Submitted, "#session-title")
    def _rename_typed(self, event: LineInput.Submitted) -> None:
        event.stop()
        title = clean(event.value.strip())
        self._close_title()
        if title and self._renaming is not None:
            self._rename(self._renaming, title)

    def _close_title(self) -> None:
        if self._new_title is not None:
            self._new_title.remove()
        self._new_title = None
        self.remove_class("-renaming")
        self._rows.focus()

    @work(group="session-acts")
    async def _rename(self, chosen: SessionSummary, title: str) -> None:
        act = self._sessions.rename_session(chosen.session_id, title, chosen.folder)
        await self.attempt(act)
        self.action_reload()

    def action_leave(self) -> None:
        if self._new_title is not None:
            self._close_title()
        elif self._filter.value:
            self._filter.value = ""
            self._rows.focus()
        elif self._filter.has_focus:
            self._rows.focus()
        elif self._marked:
            self._unmark()
        else:
            self.dismiss(None)

    def action_delete(self) -> None:
        """Delete the marked sessions after a question, or the one under the cursor."""
        if self._marked:
            self._delete_marked()
            return
        summary = self._highlighted
        if summary is None or self._refuse(summary):
            return
        if summary.session_id == self._current:
            self.tell("This session is open. Open another one before you delete it.", is_error=True)
            return
        self._delete([summary])

    @work(group="session-acts")
    async def _delete_marked(self) -> None:
        marked = self._marked
        ours = [each for each in marked if each.source == OURS and each.session_id != self._current]
        kept = len(marked) - len(ours)
        note = (
            f" {format_count(kept, 'session')} cannot be deleted here: open, or of another agent."
            if kept
            else ""
        )
        if not ours:
            self.tell(note.strip() or "Nothing is marked.", is_error=True)
            return
        question = f"Delete {format_count(len(ours), 'session')}?"
        screen = ConfirmScreen(question, f"{self._undo_hint}{note}".lstrip(), "Delete")
        if await self.app.push_screen_wait(screen):
            await self._delete(ours).wait()
            self._unmark()

    @work(group="session-acts")
    async def _delete(self, chosen: list[SessionSummary]) -> None:
        tokens: dict[tuple[str, str], str] = {}
        for summary in chosen:
            act = self._sessions.delete_session(summary.session_id, summary.folder)
            token = await self.attempt(act)
            if token is None:
                break
            tokens[id_of(summary)] = token
        if not tokens:
            return
        name = _name_of([each for each in chosen if id_of(each) in tokens])
        self._sessions.deleted.append((tuple(tokens.values()), name))
        self.refresh_bindings()
        await self._take_out(tokens)
        if len(tokens) == len(chosen):
            self.tell(f"Deleted {name}. {self._undo_hint}")

    @property
    def _undo_hint(self) -> str:
        return name_keys_of_hint(self.app, "Undo with {session-list-undelete:u}.")

    @work(group="session-acts")
    async def action_undelete(self) -> None:
        """Restore the last deletion, all sessions of it."""
        if not self._sessions.deleted:
            self.tell("Nothing to undo.")
            return
        tokens, name = self._sessions.deleted.pop()
        before = {summary.session_id for summary in self._all.sessions}
        failed: list[str] = []
        trouble = ""
        for token in tokens:
            try:
                await self._sessions.undelete_session(token)
            except AgentTuiError as error:
                failed.append(token)
                trouble = str(error)
        if failed:  # the key tries these again
            self._sessions.deleted.append(
                (tuple(failed), name if len(failed) == len(tokens) else "")
            )
        if len(failed) == len(tokens):
            self.tell(trouble, is_error=True)
            return
        await self.action_reload().wait()
        restored = [each for each in self._all.sessions if each.session_id not in before]
        if failed or not name:
            count = len(tokens) - len(failed)
            name = _name_of(restored[:count]) if restored else "“The session”"
        self.tell(f"Restored {name}. {trouble}".strip(), is_error=bool(failed))

    @work(group="session-acts")
    async def action_export(self) -> None:
        """Write the marked sessions to files, or the one under the cursor."""
        chosen = self._marked or [each for each in [self._highlighted] if each is not None]
        if self._export is None or not chosen:
            return
        paths: list[Path] = []
        redactions: list[str] = []
        for summary in chosen:
            written = await self.attempt(self._export(summary))
            if written is None:
                return
            paths.append(written[0])
            redactions += filter(None, written[1:])
        where = paths[0].parent if len(paths) > 1 else paths[0]
        what = f"{format_count(len(paths), 'session')} " if len(paths) > 1 else ""
        redacted = f"Secrets were redacted in {len(redactions)} of them." if redactions else ""
        redacted = "".join(redactions) if len(paths) == 1 else redacted
        self.tell(f"Exported {what}to {where}. {redacted}".strip())
        self._unmark()


def _name_of(sessions: list[SessionSummary]) -> str:
    """One session by its title, several by their number."""
    if len(sessions) == 1:
        return f"“{first_line(title_of(sessions[0]), 40)}”"
    return format_count(len(sessions), "session")
