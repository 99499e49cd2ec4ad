"""Archived logs: why, when, what each holds; open one read-only or restore it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content

from agent_tui.core.format import format_age, format_clock, format_count, format_size
from agent_tui.core.summary import ArchiveSummary
from agent_tui.core.text import clean, reveal
from agent_tui.core.words import describe_archive, describe_contents
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS, WITH_PREVIEW, Panel, tell_order
from agent_tui.ui.widgets.cells import fit_cells
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.lists.tall_rows import TallRows
from agent_tui.ui.widgets.lists.tree_rows import name_all
from agent_tui.ui.widgets.panes.preview import PastPreview, ReadExchanges

if TYPE_CHECKING:
    from agent_tui.ui.screens.time.lead import Lead

_LEAST_PROMPT = 8
"""The cells that a prompt keeps, in the smallest window too."""


class ArchivesScreen(Panel[Literal["changed"]]):
    """The archives of one session, newest first; dismissed with ``changed`` when one was restored.

    Args:
        load: gives the archives, for example ``view.archives``.
        lead: shows an archive, compares or restores it.
        read_only: why nothing can be restored, or an empty string.
        preview: gives what was said last in an archive.
    """

    CSS_PATH = [
        *PANEL_SHEETS,
        stylesheet("widgets/preview.tcss"),
        stylesheet("screens/archives.tcss"),
    ]
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
        self._rows = TallRows(
            self._draw, lines=2, id="past-rows", empty=Content("Reading archives…")
        )

    def compose(self) -> ComposeResult:
        yield self.heading()
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
        self.show_heading(
            "Archives", tell_order(len(self._archives)), size if self._archives else ""
        )

    def _show_groups(self, number: int = 0) -> None:
        """Fold what undos and redos left or show each of it, the cursor on an archive."""
        self._groups = _group(self._archives) if self._is_folded else [[a] for a in self._archives]
        holding = (row for row, group in enumerate(self._groups) if _holds(group, number))
        self._rows.show_items(len(self._groups), item=next(holding, 0))
        self.query_one("#beside").set_class(not self._groups, "-empty")
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
            self._show_groups(self._groups[self._rows.item][0].number)

    def _draw(self, index: int, line: int, width: int) -> Content:
        """Why there are these archives, and how old the newest is; below it what they hold."""
        group = self._groups[index]
        newest, *others = group
        number = f"{group[-1].number}-{newest.number}" if others else str(newest.number)
        start = f"{number:>3}  "
        if line:
            told = _tell_sizes(group) if others else _tell_contents(newest)
            return Content.styled(
                " " * len(start) + _join_fitting(told, width - len(start)), "$muted"
            )
        age = format_age(newest.at).rjust(8)
        room = max(_LEAST_PROMPT, width - len(start) - len(age))
        text = fit_cells(_tell_group(group) if others else _tell_reason(newest, room), room)
        return Content.assemble(
            (start, "$muted"), (text, "$muted" if others else ""), (age, "$muted")
        )

    @on(Rows.Highlighted, "#past-rows")
    def _follow_cursor(self) -> None:
        if self._groups:
            archive, *others = self._groups[self._rows.item]
            newest = "The newest of these: " if others else ""
            why = ", ".join(
                filter(None, (reveal(describe_archive(archive, "◇")), format_clock(archive.at)))
            )
            held = format_count(archive.checkpoints, "checkpoint")
            heading = Content.assemble(
                (newest, "$muted"),
                (f"Archive {archive.number}\n", "bold"),
                (f"{why}\n{describe_contents(archive)}\n{held}", "$muted"),
            )
            self._preview.show_place(archive.number, heading)

    def _one_or_tell(self) -> ArchiveSummary | None:
        """The archive of the row; where it stands for several, say so and give None."""
        if not self._groups:
            return None
        archive, *others = self._groups[self._rows.item]
        if others:
            self.tell("Several archives: open the row to list them.")
            return None
        return archive

    @on(Rows.Chosen)
    def action_open_highlighted(self) -> None:
        if self._groups and len(self._groups[self._rows.item]) > 1:
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


def _tell_reason(archive: ArchiveSummary, room: int) -> str:
    """Why it was archived; where that is longer than there is room, its prompt is cut."""
    told = reveal(describe_archive(archive, "◇"))
    prompt = reveal(archive.prompt)
    left = max(_LEAST_PROMPT, cell_len(prompt) - max(0, cell_len(told) - room))
    if cell_len(prompt) <= left:
        return told
    return reveal(describe_archive(replace(archive, prompt=fit_cells(prompt, left)), "◇"))


def _tell_contents(archive: ArchiveSummary) -> list[str]:
    """What an archive holds, the least wanted last."""
    return [describe_contents(archive), format_size(archive.size_bytes)]


def _tell_sizes(group: Sequence[ArchiveSummary]) -> list[str]:
    size = format_size(sum(each.size_bytes for each in group))
    return [format_count(len(group), "archive"), size]


def _join_fitting(parts: Sequence[str], room: int) -> str:
    """As many of the parts, from the first, as there is room for."""
    told = parts[0]
    for part in parts[1:]:
        if cell_len(longer := f"{told} · {part}") > room:
            break
        told = longer
    return fit_cells(told, room)


def _tell_group(group: Sequence[ArchiveSummary]) -> str:
    holders = sorted({archive.within for archive in group})
    names = name_all("archive", list(map(str, holders)))
    return f"undos and redos, all in {names}".rstrip()
