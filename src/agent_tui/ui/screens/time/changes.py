"""Everything that changed on disk in a session, by turn, step and cause; open, view, revert."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.changes import ChangeGroup, FileDiff, fold_repeats, place_of
from agent_tui.core.diff_pieces import DiffPiece, pieces_by_line
from agent_tui.core.file_changes import AGENT_CAUSES, REVERT_CAUSES, LeftOut
from agent_tui.core.format import format_age, format_count
from agent_tui.core.text import first_line, reveal
from agent_tui.resources import stylesheet
from agent_tui.ui.renderers.diff import has_diff_grounds
from agent_tui.ui.screens.dialogs.panel import ONE_PAGE, PANEL_SHEETS, Panel
from agent_tui.ui.screens.time.diff_lines import DiffRow, colour_diff, colour_lines
from agent_tui.ui.widgets.lists.rows import Rows

_KINDS = {
    "created": ("+", "$diff-added"),
    "deleted": ("-", "$diff-removed"),
    "changed": ("~", "$tool"),
    "mode": ("m", "$tool"),
    "type": ("t", "$tool"),
}
_INDENT = "      "
_AGE_WIDTH = 7
_SHORTEST_COMMAND, _WITH_AGE = 16, 66
_STYLES = {"tool_call": "$tool", "shell": "$user", "human": "$user", "outside": "$muted"}


@dataclass(frozen=True, slots=True)
class ToRevert:
    """What is to be reverted: one capture, one file of it, or all captures of a turn.

    ``pieces``: the places of the file's diff that are meant; all of them where it is empty.
    ``name`` says in words what it is.
    """

    captures: frozenset[str]
    path: str = ""
    pieces: frozenset[DiffPiece] = frozenset()
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    group: ChangeGroup
    file: FileDiff | None = None
    line: DiffRow | None = None
    piece: int = 0
    left_out: LeftOut | None = None
    pieces: frozenset[DiffPiece] = frozenset()
    is_blank: bool = False


class ChangesScreen(Panel[ToRevert]):
    """The changes of files, newest first; dismissed with what is to be reverted, or None.

    Args:
        load: gives the changes.
        load_net: gives the files that are not what they were. Without it only the log tells of
            changes, and nothing can be reverted.
        why_not: why nothing can be reverted now, or empty.
        lost: what was deleted of it, or empty.
        told: what was just done, to be said.
    """

    DEFAULT_CLASSES = ONE_PAGE
    CSS_PATH = [*PANEL_SHEETS, stylesheet("screens/changes.tcss")]
    AUTO_FOCUS = "Rows"
    BINDINGS = [
        Binding("enter", "open", "open", key_display="Enter"),
        Binding("u,U", "revert", "revert this", key_display="u"),
        Binding("t,T", "revert_turn", "revert the turn", key_display="t"),
        Binding("a,A", "open_all", "open all", key_display="a"),
    ]
    ABOUT_ROWS = frozenset({"open", "open_all", "revert", "revert_turn"})

    def __init__(
        self,
        load: Callable[[], Awaitable[Sequence[ChangeGroup]]],
        load_net: Callable[[], Awaitable[Sequence[FileDiff]]] | None = None,
        why_not: str = "",
        lost: str = "",
        told: str = "",
    ) -> None:
        super().__init__()
        self._load_changes = load
        self._load_net = load_net
        self._why_not = why_not
        self._lost = lost
        self._told = told
        self._groups: list[ChangeGroup] = []
        self._opened: set[int] = set()
        self._diffs: dict[int, list[DiffRow]] = {}
        self._lines: list[_Row] = []
        self._width = 0
        self._rows = Rows(
            self._draw,
            empty=Content("Reading the files…"),
            steps_over=lambda at: self._lines[at].is_blank,
        )

    def compose(self) -> ComposeResult:
        yield self.heading()
        if self._lost:
            yield Static(Content.styled(self._lost, "$attention"), id="lost")
        yield self._rows
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading("File changes")
        if self._told:
            self.call_after_refresh(self.tell, self._told)
        self._load()

    @work(exclusive=True, group="changes")
    async def _load(self) -> None:
        found = await self.attempt(self._load_changes())
        self._groups = list(reversed(fold_repeats(found or ())))
        if self._load_net is None:
            self._rows.show_empty(Content("No call in this log changed a file."))
            self._show_sums([file for group in self._groups for file in group.files])
        else:
            self._rows.show_empty(Content("No file changes were captured in this session."))
            self._show_sums(await self.attempt(self._load_net()) or ())
        self._build()

    def _show_sums(self, files: Sequence[FileDiff]) -> None:
        added, removed = sum(file.added for file in files), sum(file.removed for file in files)
        count = format_count(len({file.path for file in files}), "file")
        told = "from the log, not checked on disk" if self._load_net is None else ""
        none = "nothing differs now" if self._groups else ""
        lines = f"+{added} -{removed}" if added or removed else ""
        sums = (count, lines) if files else (none,)
        self.show_heading("File changes", *sums, told)

    async def on_resize(self) -> None:
        await super().on_resize()
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Break the lines of open diffs for another width."""
        if self._opened and self._width != self._row_width:
            self._build()

    @property
    def _row_width(self) -> int:
        return self._rows.scrollable_content_region.width - len(_INDENT)

    def _build(self) -> None:
        self._width = self._row_width
        cursor = self._rows.cursor
        at = self._lines[cursor] if cursor < len(self._lines) else None
        self._lines = []
        for group in self._groups:
            if self._lines:
                self._lines.append(_Row(self._lines[-1].group, is_blank=True))
            self._lines.append(_Row(group))
            self._lines += [_Row(group, left_out=each) for each in group.left_out]
            for file in group.files:
                self._lines.append(_Row(group, file))
                if id(file) in self._opened:
                    self._lines += self._diff_rows(group, file)
        self._rows.show_rows(len(self._lines), cursor=self._place_of(at))

    def _place_of(self, at: _Row | None) -> int:
        """Where a row is now; of a line of a diff that was closed, its file."""
        rows = (at, replace(at, piece=0), _Row(at.group, at.file)) if at else ()
        places = (self._lines.index(row) for row in rows if row in self._lines)
        return next(places, self._first_change())

    def _first_change(self) -> int:
        """The newest change that is not just a revert or its undo: usually the one meant."""
        rows = enumerate(self._lines)
        changed = (i for i, row in rows if row.group.files or row.group.why)
        return next((i for i in changed if self._lines[i].group.cause not in REVERT_CAUSES), 0)

    def _diff_rows(self, group: ChangeGroup, file: FileDiff) -> Iterator[_Row]:
        pieces = pieces_by_line(file.diff)
        for at, line in enumerate(self._diffs[id(file)]):
            piece = pieces[at] if at < len(pieces) else frozenset()
            for number in range(len(line.pieces(self._width))):
                yield _Row(group, file, line, number, pieces=piece)

    def _draw(self, index: int, width: int) -> Content:
        row = self._lines[index]
        if row.is_blank:
            return Content("")
        if row.line is not None:
            is_plain = not has_diff_grounds(self.app.theme_variables)
            pieces = row.line.pieces(width - len(_INDENT), is_plain=is_plain)
            return Content(_INDENT) + pieces[min(row.piece, len(pieces) - 1)]
        if row.left_out is not None:
            told = f"  not captured: {row.left_out.why}"
            return Content.assemble(f"    {reveal(row.left_out.name)}", (told, "$muted"))
        if row.file is None:
            return self._draw_group(row.group, width)
        sign, style = _KINDS[row.file.kind]
        is_known = row.file.diff or row.file.told
        counts = f"+{row.file.added} -{row.file.removed}" if is_known else row.file.note
        return Content.assemble(
            ("  ▾ " if id(row.file) in self._opened else "  ▸ ", "$faint"),
            (f"{sign} ", style),
            (reveal(row.file.path), "$foreground"),
            (f"  {counts}", "$muted"),
            ("  local configuration", "$attention") if row.file.secret else "",
        )

    def _draw_group(self, group: ChangeGroup, width: int) -> Content:
        added, removed = group.counts
        files = format_count(len(group.files), "file")
        has_lines = added or removed  # a picture has none
        counts = f"  +{added} -{removed} in {files}" if has_lines else f"  {files} changed"
        counts += f", newest of {group.repeats + 1}" if group.repeats else ""
        told = f"  not captured: {group.why}" if group.why else counts if group.files else ""
        age = f" {format_age(group.at):>{_AGE_WIDTH}}" if group.at and width >= _WITH_AGE else ""
        room = width - cell_len(f"{group.place}  {group.who}: {told}{age}")
        what = first_line(group.what, max(_SHORTEST_COMMAND, room))
        text = Content.assemble(
            (f"{group.place}  ", "$muted"),
            (group.who, f"bold {_STYLES.get(group.cause, '$checkpoint')}"),
            (f": {reveal(what)}" if what else "", ""),
            (told, "$danger" if group.why else "$muted"),
        )
        text = text.truncate(max(1, width - len(age)), ellipsis=True, pad=True)
        return Content.assemble(text, (age, "$muted"))

    @on(Rows.Chosen)
    def action_open(self) -> None:
        """Open or close the diff under the cursor; of a heading, all of them."""
        if self._lines:
            row = self._lines[self._rows.cursor]
            self._toggle([row.file] if row.file else row.group.files)

    def word_of(self, action: str) -> str:
        """Enter closes what is open."""
        at = self._rows.cursor
        is_open = action == "open" and at < len(self._lines) and self._is_open(self._lines[at])
        return "close" if is_open else ""

    def _is_open(self, row: _Row) -> bool:
        files = [row.file] if row.file else row.group.files
        return bool(files) and set(map(id, files)) <= self._opened

    @on(Rows.Highlighted)
    def _show_keys(self) -> None:
        self.refresh_bindings()

    def action_open_all(self) -> None:
        """Open every diff."""
        self._open([file for group in self._groups for file in group.files])

    def _toggle(self, files: Sequence[FileDiff]) -> None:
        keys = set(map(id, files))
        if keys <= self._opened:
            self._opened -= keys
            self._build()
        else:
            self._open(files)

    @work(exclusive=True, group="changes-open")
    async def _open(self, files: Sequence[FileDiff]) -> None:
        missing = [file for file in files if id(file) not in self._diffs]
        drawn = await asyncio.to_thread(lambda: {id(file): _diff_of(file) for file in missing})
        self._diffs |= drawn
        self._opened |= set(map(id, files))
        self._build()

    def has_rows(self) -> bool:
        return bool(self._lines)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self._load_net is None and action.startswith("revert"):
            return False
        return super().check_action(action, parameters)

    def action_revert(self) -> None:
        """Revert what is under the cursor: a place, a file, or all that a tool call changed."""
        if row := self._row_to_revert():
            path = row.file.path if row.file else ""
            ids = frozenset({row.group.id})
            self.dismiss(ToRevert(ids, path, row.pieces, row.group.name))

    def action_revert_turn(self) -> None:
        """Revert all that the agent changed in the turn under the cursor."""
        if not (row := self._row_to_revert()):
            return
        turn = row.group.turn
        own = [each for each in self._groups if each.turn == turn and each.cause in AGENT_CAUSES]
        if turn is None or not own:
            self.tell("The agent changed no files in this turn.", is_error=True)
            return
        self.dismiss(ToRevert(frozenset(each.id for each in own), name=place_of(turn)))

    def _row_to_revert(self) -> _Row | None:
        """The row under the cursor; None, and a sentence, where nothing can be reverted."""
        if self._why_not:
            self.tell(f"Nothing can be reverted here: {self._why_not}", is_error=True)
            return None
        return self._lines[self._rows.cursor] if self._lines else None


def _diff_of(file: FileDiff) -> list[DiffRow]:
    """The rows of a diff, or the lines that left and came where their place is not known."""
    if not file.told:
        return colour_diff(file.path, file.diff)
    lines = file.told.split("\n")
    shown = colour_lines(file.path, [line[:1] for line in lines], [line[1:] for line in lines])
    return [DiffRow(Content(""), Content.styled(file.note, "$faint")), *shown]
