"""Archived logs: why, when, how big; open one read-only or restore it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content

from agent_tui.core.format import format_age, format_count, format_size
from agent_tui.core.summary import ArchiveSummary
from agent_tui.core.text import clean, reveal
from agent_tui.core.words import describe_archive
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS, WITH_PREVIEW, Panel
from agent_tui.ui.widgets.cells import fit_cells
from agent_tui.ui.widgets.lists.fitted import Fitted
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.lists.tree_rows import name_all
from agent_tui.ui.widgets.panes.preview import PastPreview, ReadExchanges

if TYPE_CHECKING:
    from agent_tui.ui.screens.time.lead import Lead

_FIGURES = 26


class ArchivesScreen(Panel[Literal["changed"]]):
    """The archives of one session, newest first; dismissed with ``changed`` when one was restored.

    Args:
        load: gives the archives, for example ``view.archives``.
        lead: shows an archive, compares or restores it.
        read_only: why nothing can be restored, or an empty string.
        preview: gives what was said last in an archive.
    """

    CSS_PATH = [*PANEL_SHEETS, stylesheet("widgets/preview.tcss")]
    AUTO_FOCUS = "#past-rows"
    HORIZONTAL_BREAKPOINTS = WITH_PREVIEW
    BINDINGS = [
        Binding("enter", "open_highlighted", "open read-only", key_display="Enter"),
        Binding("r,R", "restore", "restore", key_display="r"),
        Binding("c", "compare", "compare with now", key_display="c"),
        Binding("a", "fold", "all", key_display="a"),
        Binding("a", "fold_again", "fold", key_display="a", id="archives-fold"),
    ]
    ABOUT_ROWS = frozenset({"open_highlighted", "restore", "compare"})

    def __init__(
        self,
        load: Callable[[], Awaitable[Sequence[ArchiveSummary]]],
        lead: Lead,
        read_only: str = "",
        preview: ReadExchanges | None = None,
    ) -> None:
        super().__init__()
        self._load_archives = load
        self._lead = lead
        self._read_only = read_only
        self._archives: list[ArchiveSummary] = []
        self._groups: list[list[ArchiveSummary]] = []
        self._is_folded = True
        self._preview = PastPreview(preview)
        self._rows = Rows(self._draw, id="past-rows", empty=Content("Reading archives…"))

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield Fitted(self._draw_heads, id="heads")
        yield Horizontal(self._rows, self._preview, id="beside")
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading("Archives")
        self._load()

    @work(exclusive=True, group="archives")
    async def _load(self) -> None:
        found = await self.attempt(self._load_archives())
        self._archives = sorted(found or (), key=lambda archive: archive.number, reverse=True)
        self._rows.show_empty(
            Content(
                "No archives yet. Every revert, compaction and clear leaves the old log here."
                if found is not None
                else "The archives could not be read. Go back and try again."
            )
        )
        self._show_groups()
        size = format_size(sum(archive.size_bytes for archive in self._archives))
        count = f"{len(self._archives)}, newest first" if self._archives else ""
        self.show_heading("Archives", count, size if count else "")

    def _show_groups(self, number: int = 0) -> None:
        """Fold what undos and redos left or show each of it, the cursor on an archive."""
        self._groups = _group(self._archives) if self._is_folded else [[a] for a in self._archives]
        holding = (row for row, group in enumerate(self._groups) if _holds(group, number))
        self._rows.show_rows(len(self._groups), cursor=next(holding, 0))
        self.query_one("#heads").refresh()
        self.refresh_bindings()

    def has_rows(self) -> bool:
        return bool(self._groups)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action not in ("fold", "fold_again"):
            return super().check_action(action, parameters)
        can_fold = any(len(group) > 1 for group in _group(self._archives))
        return can_fold and self._is_folded == (action == "fold")

    def action_fold(self) -> None:
        """Show each archive in a row of its own."""
        self._show_folded(is_folded=False)

    def action_fold_again(self) -> None:
        """Fold archives that hold nothing of their own into one row."""
        self._show_folded(is_folded=True)

    def _show_folded(self, *, is_folded: bool) -> None:
        self._is_folded = is_folded
        if self._groups:
            self._show_groups(self._groups[self._rows.cursor][0].number)

    def _draw(self, index: int, width: int) -> Content:
        group = self._groups[index]
        archive = group[0]
        age = format_age(archive.at).rjust(8)
        if len(group) > 1:
            start = f"{f'{group[-1].number}-{archive.number}':>3}  "
            size = "" if width < 56 else format_size(sum(each.size_bytes for each in group))
            text = fit_cells(_tell_group(group), max(8, width - len(start) - len(size) - len(age)))
            return Content.styled(f"{start}{text}{size}{age}", "$muted")
        reason = reveal(describe_archive(archive, "◇"))
        start = f"{archive.number:>3}  "
        if width < 56:
            text = fit_cells(reason, max(8, width - len(start) - len(age)))
            return Content.assemble((start, "$muted"), text, (age, "$muted"))
        text = fit_cells(reason, max(8, width - len(start) - _FIGURES))
        figures = f"{archive.messages:>8}{format_size(archive.size_bytes):>10}"
        return Content.assemble((start, "$muted"), text, (f"{figures}{age}", "$muted"))

    async def on_resize(self) -> None:
        await super().on_resize()
        self.call_after_refresh(self.query_one("#heads").refresh)  # the rows have a width then

    def _draw_heads(self, width: int) -> Content:
        width = self._rows.scrollable_content_region.width or width
        if width < 56 or not self._groups:
            return Content("")
        left = fit_cells("  #  FROM", width - _FIGURES)
        return Content(f"{left}{'MESSAGES':>8}{'SIZE':>10}{'WHEN':>8}")

    @on(Rows.Highlighted, "#past-rows")
    def _follow_cursor(self) -> None:
        if self._groups:
            archive, *others = self._groups[self._rows.cursor]
            newest = "The newest of these: " if others else ""
            heading = Content.assemble(
                (newest, "$muted"),
                (f"Archive {archive.number}\n", "bold"),
                (f"{reveal(describe_archive(archive, '◇'))}\n", "$muted"),
                (_tell_contents(archive), "$muted"),
            )
            self._preview.show_place(archive.number, heading)

    def _one_or_tell(self) -> ArchiveSummary | None:
        """The archive of the row; where it stands for several, say so and give None."""
        if not self._groups:
            return None
        archive, *others = self._groups[self._rows.cursor]
        if others:
            self.tell("Several archives: open the row to list them.")
            return None
        return archive

    @on(Rows.Chosen)
    def action_open_highlighted(self) -> None:
        if self._groups and len(self._groups[self._rows.cursor]) > 1:
            self.action_fold()
        elif (archive := self._one_or_tell()) is not None:
            self._open(archive.number)

    @work(exclusive=True, group="archives-look")
    async def _open(self, number: int) -> None:
        if await self.attempt(self._lead.archive(number)):
            self.dismiss("changed")

    @work(exclusive=True, group="archives-look")
    async def action_compare(self) -> None:
        if (archive := self._one_or_tell()) is not None:
            await self.attempt(self._lead.compare_archive(archive.number))

    @work(exclusive=True, group="archives-confirm")
    async def action_restore(self) -> None:
        archive = self._one_or_tell()
        if archive is None:
            return
        if self._read_only:
            self.tell(f"Nothing can be restored here: {clean(self._read_only)}", is_error=True)
            return
        question = ConfirmScreen(
            f"Restore archive {archive.number}?",
            f"The session continues from its {format_count(archive.messages, 'message')}. "
            "The current log becomes an archive, so this can be undone.",
            "Restore",
        )
        if await self.app.push_screen_wait(question):
            self._lead.restore(archive.number)
            self.dismiss("changed")


def _group(archives: Sequence[ArchiveSummary]) -> list[list[ArchiveSummary]]:
    """The rows of a list: neighbours that hold no message of their own share one."""
    groups: list[list[ArchiveSummary]] = []
    for archive in archives:
        if groups and archive.within and groups[-1][0].within:
            groups[-1].append(archive)
        else:
            groups.append([archive])
    return groups


def _holds(group: Sequence[ArchiveSummary], number: int) -> bool:
    return any(archive.number == number for archive in group)


def _tell_contents(archive: ArchiveSummary) -> str:
    """What an archive holds, and how much of it only archives do, in words."""
    messages = format_count(archive.messages, "message")
    if archive.gone is not None and archive.messages:
        whole = {0: "all of them", archive.messages: "none of them"}.get(archive.gone)
        messages += f", {whole or f'{archive.gone} of them not'} in the log now"
    return f"{messages}\n{format_count(archive.checkpoints, 'checkpoint')}"


def _tell_group(group: Sequence[ArchiveSummary]) -> str:
    holders = sorted({archive.within for archive in group})
    names = name_all("archive", list(map(str, holders)))
    return f"undos and redos, all in {names}".rstrip()
