"""A log that is only looked at: an archive, a file, another agent's session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding

from agent_tui.core.text import clean
from agent_tui.resources import stylesheet
from agent_tui.ui.format import format_count, format_tokens
from agent_tui.ui.screens.dialogs.compaction_choice import choose_compaction
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS, Panel
from agent_tui.ui.widgets.timeline.timeline import Timeline

if TYPE_CHECKING:
    from agent_tui.history.browsed_session import BrowsedSession

BrowseChoice: TypeAlias = Literal["restore", "compaction", "archive", "tree", "scrub"]


class BrowseScreen(Panel[tuple[BrowseChoice, int]]):
    """Shows one log, read-only; dismissed with what to look at next (archive 0: choose one).

    Args:
        browsed: what to show.
        restorable: the number of the archive that ``r`` restores; 0 when there is none.
    """

    CSS_PATH = [
        *PANEL_SHEETS,
        stylesheet("widgets/timeline.tcss"),
        stylesheet("screens/browse.tcss"),
    ]
    AUTO_FOCUS = "Timeline"
    BINDINGS = [
        Binding("r", "restore", "restore this archive", key_display="r"),
        Binding("a", "list_archives", "archives", key_display="a"),
        Binding("c", "list_compactions", "compactions", key_display="c"),
        Binding("t,ctrl+t", "look('tree')", "tree", key_display="t"),
        Binding("s,f9", "look('scrub')", "scrub", key_display="s"),
    ]

    def __init__(self, browsed: BrowsedSession, restorable: int = 0) -> None:
        super().__init__()
        self._browsed = browsed
        self._restorable = restorable

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield Timeline()
        yield self.key_hints()

    def on_mount(self) -> None:
        browsed = self._browsed
        self.show_heading(
            clean(browsed.title),
            format_count(browsed.message_count, "message"),
            f"{format_tokens(browsed.token_count)} tokens" if browsed.token_count else "",
            "read-only",
        )
        self.query_one(Timeline).load(browsed.records, damaged=browsed.damaged)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "restore":
                return bool(self._restorable)
            case "list_archives":
                return bool(self._browsed.rotated)
            case "list_compactions":
                return bool(self._browsed.compactions)
            case "look":
                return self._browsed.has_tree
            case _:
                return True

    def action_look(self, choice: Literal["tree", "scrub"]) -> None:
        """See its branches, or walk it step by step."""
        if self._browsed.too_big:
            self.tell(self._browsed.too_big)
            return
        self.dismiss((choice, 0))

    def action_list_archives(self) -> None:
        self.dismiss(("archive", 0))

    @work(exclusive=True, group="compactions")
    async def action_list_compactions(self) -> None:
        """Choose a compaction over this log; what is below it is not seen meanwhile."""
        chosen = await choose_compaction(self.app, self._browsed.compaction_records())
        if chosen:
            self.dismiss(("compaction", chosen))

    def action_restore(self) -> None:
        self.dismiss(("restore", self._restorable))

    @on(Timeline.CompactionPressed)
    def _take_compaction(self, event: Timeline.CompactionPressed) -> None:
        self.dismiss(("compaction", event.archive))

    @on(Timeline.EntryPressed)
    def _take_entry(self) -> None:
        if self._browsed.has_tree:
            self.action_look("tree")
        else:
            self.tell("The tree of its session shows it: Ctrl+T there.")

    @on(Timeline.ArchivePressed)
    def _take_archive(self, event: Timeline.ArchivePressed) -> None:
        self.dismiss(("archive", event.archive))
