"""A log that is only looked at: an archive, a file, another agent's session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding

from agent_tui.core.format import format_count, format_tokens
from agent_tui.core.text import clean
from agent_tui.history.found_record import NOT_HERE, find_record
from agent_tui.history.records.places import name_last_message
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.panel import ONE_PAGE, PANEL_SHEETS, Panel
from agent_tui.ui.screens.dialogs.reader import ReaderScreen
from agent_tui.ui.widgets.prompt.find_bar import FindBar
from agent_tui.ui.widgets.timeline.timeline import Timeline

if TYPE_CHECKING:
    from agent_tui.core.changes import ChangeGroup
    from agent_tui.core.records import CompactionRecord
    from agent_tui.history.found_record import FoundLine
    from agent_tui.history.opening import NewerView
    from agent_tui.history.view import SessionView
    from agent_tui.ui.screens.time.lead import Lead

_ID_CELLS = 12
_QUICK_RECORDS = 3_000
"""Records of a session whose losses are counted, in some seconds, before anyone asks."""
_LOSSES_ASKED = "Long session: losses are counted when you open a compaction (c)."


class BrowseScreen(Panel[Literal["changed"]]):
    """Shows one log, read-only; dismissed with ``changed`` when the session was changed.

    Args:
        view: what to show.
        lead: shows what belongs to the session, and restores the archive that is shown.
        newer: gives what takes the view's place: the whole of it, what another process wrote.
        line: where to begin; at the end without it.
        is_tail: whether ``view`` is only the end of a session that is still being read.
        changes: gives what the log tells of changed files, where only the log knows.
        child: shows the session of a subagent of a view, by its id, over this one.
    """

    DEFAULT_CLASSES = ONE_PAGE
    CSS_PATH = [
        *PANEL_SHEETS,
        stylesheet("widgets/timeline.tcss"),
        stylesheet("widgets/find_bar.tcss"),
        stylesheet("screens/browse.tcss"),
    ]
    AUTO_FOCUS = "Timeline"
    BINDINGS = [
        Binding("r", "restore", "restore this archive", key_display="r"),
        Binding("a", "list_archives", "archives", key_display="a"),
        Binding("c", "list_compactions", "compactions", key_display="c"),
        Binding("t,ctrl+t", "tree", "tree", key_display="t"),
        Binding("s,f9", "scrub", "replay", key_display="s"),
        Binding("u", "list_children", "subagents", key_display="u"),
        Binding("f", "continue_here", "continue from here", key_display="f"),
        Binding("f", "continue_all", "continue all", key_display="f", id="browse-continue-here"),
        Binding("o", "copy_command", "copy command", key_display="o"),
        Binding("d,alt+c", "list_changes", "changes", key_display="d"),
        Binding("slash,ctrl+f", "find", "find", key_display="/"),
    ]

    def __init__(
        self,
        view: SessionView,
        lead: Lead,
        newer: Callable[[], AsyncIterator[NewerView]] | None = None,
        *,
        line: FoundLine | None = None,
        is_tail: bool = False,
        changes: Callable[[], Awaitable[Sequence[ChangeGroup]]] | None = None,
        child: Callable[[SessionView, str], Awaitable[bool]] | None = None,
    ) -> None:
        super().__init__()
        self._line = line
        self._view = view
        self._lead = lead
        self._newer = newer
        self._is_tail = is_tail
        self._changes = changes
        self._child = child
        self._losses: dict[tuple[int, CompactionRecord], int] = {}
        self._counting = asyncio.Lock()
        self._has_told_count = False  # that losses are counted on demand
        self._find_bar = FindBar(is_hinted=True)

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield Timeline()
        yield self._find_bar
        yield self.key_hints()

    def on_mount(self) -> None:
        self._show_view()
        self._show_line()
        if self._newer is not None:
            self._take_newer(self._newer)

    def _show_view(self) -> None:
        view = self._view
        is_long = not self._is_tail and len(view.shown_records) > _QUICK_RECORDS
        if is_long and not self._has_told_count and _has_uncounted(view):
            self._has_told_count = True
            self.tell(_LOSSES_ASKED)
        self.show_heading(
            clean(view.title),
            "reading…" if self._is_tail else format_count(view.message_count, "message"),
            f"{format_tokens(view.token_count)} tokens" if view.token_count else "",
            "read-only",
            "c count losses" if self._has_told_count else "",
        )
        self.query_one(Timeline).load(view.shown_records)
        if not self._is_tail:
            self._tell_losses(view)

    @work(group="losses", exit_on_error=False)
    async def _tell_losses(self, view: SessionView) -> None:
        """Show losses in the rows of another agent's compactions, counted in a thread.

        Ours are told by their records, those of a long session by the pane of a compaction, which
        is said once. What was counted is not counted again for every line that comes to a file.
        """
        if len(view.shown_records) > _QUICK_RECORDS or not _has_uncounted(view):
            return
        async with self._counting:
            for archive, record in await view.compactions():
                if view is not self._view:  # the newer one waits
                    return
                if record.losses is not None:
                    continue
                if (key := (archive, record)) not in self._losses:
                    self._losses[key] = len((await view.view_compaction(archive)).losses)
                if view is self._view:
                    self.query_one(Timeline).tell_losses(archive, self._losses[key])

    @work(exclusive=True, group="line")
    async def _show_line(self) -> None:
        """Go to the line that was found, once; of a tail that lacks it, the whole is awaited."""
        line, view = self._line, self._view
        if line is None:
            return
        place = await asyncio.to_thread(find_record, view.shown_records, line)
        if view is not self._view or (place is None and self._is_tail):
            return
        self._line = None
        if place is None:
            self.tell(NOT_HERE)
        else:
            timeline = self.query_one(Timeline)
            self.call_after_refresh(timeline.show_match, place, line.mark)  # it has a size then

    @work(exclusive=True, group="newer")
    async def _take_newer(self, newer: Callable[[], AsyncIterator[NewerView]]) -> None:
        """Show what takes the place of the view; who scrolled up stays where they are."""

        async def take_all() -> None:
            async for found in newer():
                self._take(found.view)
                if found.was_rewritten:
                    self.tell("File was rewritten on disk; reloaded.")

        await self.attempt(take_all())

    def _take(self, view: SessionView) -> None:
        timeline = self.query_one(Timeline)
        was_tail, top = self._is_tail, timeline.scroll_y
        from_end = timeline.max_scroll_y - top
        self._view, self._is_tail = view, False
        self._show_view()
        if self._line is not None:
            self._show_line()
        elif from_end > 0:
            place = timeline.max_scroll_y - from_end if was_tail else top
            timeline.scroll_to(y=max(0, place), animate=False)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "restore":
                return bool(self._view.archive) and self._lead.can_restore
            case "list_archives":
                return self._view.is_whole and self._view.has_archives
            case "list_compactions":
                return self._view.is_whole and self._view.has_compactions
            case "tree" | "scrub":
                return self._view.is_whole
            case "list_changes":
                return self._view.is_whole and self._changes is not None
            case "list_children":
                return self._child is not None and bool(self._view.children)
            case "continue_here" | "continue_all":
                shown = self.query(Timeline)  # none any longer while the screen closes
                is_last = not shown or shown.first().log_end_at_cursor is None
                can_continue = self._view.is_whole and self._lead.can_continue
                return can_continue and is_last == (action == "continue_all")
            case "copy_command":
                return self._view.is_whole and bool(self._lead.resume_command)
            case _:
                return True

    @work(exclusive=True, group="browse")
    async def _go(self, show: Callable[[], Awaitable[bool | None]]) -> None:
        """Close as well when the screen over this one changed the session."""
        if await self.attempt(show()):
            self.dismiss("changed")

    def action_tree(self, entry: str = "") -> None:
        """See the session's branches, from an entry or the present."""
        if self._view.tree_refusal:
            self.tell(self._view.tree_refusal)
        else:
            self._go(lambda: self._lead.tree(entry))

    def action_scrub(self) -> None:
        """Replay the session step by step."""
        if self._view.tree_refusal:
            self.tell(self._view.tree_refusal)
        else:
            self._go(lambda: self._lead.scrub())

    def action_continue_here(self) -> None:
        """Continue it in a session of ours from the message under the cursor."""
        end = self.query_one(Timeline).log_end_at_cursor
        if self._is_tail:
            self.tell("The session is still being read; try again in a moment.")
        elif end is not None:
            self._go(lambda: self._continue_from(self._view, end))

    async def _continue_from(self, view: SessionView, end: int) -> bool:
        self.tell("Continuing from this message in a new session…")
        return await self._lead.continue_here(
            await asyncio.to_thread(name_last_message, view.shown_records, end)
        )

    def action_continue_all(self) -> None:
        """Continue the whole of it in a session of ours."""
        self.tell("Continuing in a new session…")
        self._go(lambda: self._lead.continue_here())

    @on(Timeline.CursorMoved)
    def _name_what_is_continued(self) -> None:
        """The hint of the key says whether all is continued."""
        self.refresh_bindings()

    def action_copy_command(self) -> None:
        """Copy the command that continues it in its own agent, and show it."""
        command = self._lead.resume_command
        self.app.copy_to_clipboard(command)
        told = f"Copied: {command}"
        if len(told) < self.size.width:
            self.tell(told)
        else:
            self.app.push_screen(ReaderScreen("Command to continue", "copied", command))

    def action_list_archives(self) -> None:
        self._go(lambda: self._lead.archives())

    def action_list_compactions(self) -> None:
        self._go(lambda: self._lead.compactions())

    def action_list_changes(self) -> None:
        """See which files its calls changed, with diffs."""
        from agent_tui.ui.screens.time.changes import ChangesScreen

        if self._changes is not None:
            self.app.push_screen(ChangesScreen(self._changes))

    def action_list_children(self) -> None:
        """Choose a subagent and read its session; first the one that the call here started."""
        self._go(self._choose_child)

    async def _choose_child(self) -> bool:
        from agent_tui.ui.screens.dialogs.picker import Pick, PickerScreen

        picks = [
            Pick(each.session_id, each.title or each.session_id, right=each.session_id[:_ID_CELLS])
            for each in self._view.children
        ]
        screen = PickerScreen("Subagents of this session", picks, self._child_here())
        chosen = await self.app.push_screen_wait(screen)
        if not chosen or self._child is None:
            return False
        return await self._child(self._view, chosen)

    def _child_here(self) -> str:
        """The id of the subagent that the call under the cursor started; empty where none is."""
        call = self.query_one(Timeline).call_at_cursor
        known = (each.session_id for each in self._view.children if each.tool_call_id == call)
        return next(known, "") if call else ""

    @on(Timeline.TaskWanted)
    @on(Timeline.ViewWanted)
    def _view_block(self, event: Timeline.TaskWanted | Timeline.ViewWanted) -> None:
        """Show the subagent that a call started; any other block is shown whole."""
        open_child, child = self._child, self._child_here()
        if child and open_child is not None:
            self._go(lambda: open_child(self._view, child))
        else:
            lines = format_count(event.text.count("\n") + 1, "line")
            markdown = isinstance(event, Timeline.ViewWanted) and event.markdown
            find = event.find if isinstance(event, Timeline.ViewWanted) else ""
            screen = ReaderScreen("Message", lines, event.text, find=find, markdown=markdown)
            self.app.push_screen(screen)

    def action_find(self) -> None:
        """Find text, while it is typed."""
        self._find_bar.start(self.query_one(Timeline))

    @on(FindBar.WholeWanted)
    def _view_found(self, event: FindBar.WholeWanted) -> None:
        """A match is in a part of its block that the timeline does not show."""
        self.query_one(Timeline).action_view(event.text)

    @on(FindBar.Closed)
    def _close_find(self) -> None:
        self.query_one(Timeline).focus()

    def action_restore(self) -> None:
        self._lead.restore(self._view.archive)
        self.dismiss("changed")

    @on(Timeline.CompactionPressed)
    def _take_compaction(self, event: Timeline.CompactionPressed) -> None:
        self._go(lambda: self._lead.compaction(event.archive))

    @on(Timeline.EntryPressed)
    def _take_entry(self, event: Timeline.EntryPressed) -> None:
        self.action_tree(event.entry)

    @on(Timeline.ArchivePressed)
    def _take_archive(self, event: Timeline.ArchivePressed) -> None:
        self._go(lambda: self._lead.archive(event.archive))


def _has_uncounted(view: SessionView) -> bool:
    """Whether it has compactions of another agent, whose records tell no losses."""
    return bool(view.read_only) and view.is_whole and view.has_compactions
