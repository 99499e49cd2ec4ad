"""What a revert would do to the files and the conversation; everything in it can be chosen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.format import format_count
from agent_tui.core.revert_plan import (
    STATUS_WORDS,
    Choice,
    Hunk,
    PathPlan,
    RevertPlan,
    describe_choice,
)
from agent_tui.core.summary import RevertPreview
from agent_tui.core.text import reveal
from agent_tui.resources import stylesheet
from agent_tui.ui.commands import label_of
from agent_tui.ui.renderers.diff import has_diff_grounds
from agent_tui.ui.screens.dialogs.panel import ONE_PAGE, PANEL_SHEETS, Panel
from agent_tui.ui.screens.time.diff_lines import DiffRow, colour_lines, number_rows
from agent_tui.ui.widgets.lists.rows import Rows

Scope = Literal["both", "files", "conversation"]
_SCOPES: tuple[Scope, ...] = ("both", "files", "conversation")
_INDENT = "        "
_TICKS = {True: ("[x] ", "$ok"), False: ("[ ] ", "$muted")}


@dataclass(frozen=True, slots=True)
class RevertDecision:
    """What to revert: the files that were ticked, the conversation, or both."""

    scope: Scope
    choice: dict[tuple[str, bool], frozenset[int]]


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of the list: a path, one of its hunks, or text; a head stands over others."""

    text: Content
    path: PathPlan | None = None
    hunk: Hunk | None = None
    line: DiffRow | None = None
    piece: int = 0
    is_head: bool = False


class RevertFilesScreen(Panel[RevertDecision]):
    """Asks what to revert; dismissed with the decision, or None.

    Args:
        title: what is reverted to.
        plan: what can be done to the files.
        preview: what would leave the conversation; None where only files can be reverted.
        choice: what is ticked at first; by default what the plan says.
    """

    DEFAULT_CLASSES = ONE_PAGE
    CSS_PATH = [*PANEL_SHEETS, stylesheet("screens/revert_files.tcss")]
    AUTO_FOCUS = "#answers"
    BINDINGS = [
        Binding("y,Y", "answer(0)", "revert", key_display="y"),
        Binding("n,N", "answer(1)", "Cancel", show=False),
        Binding("space", "tick", "tick", key_display="Space"),
        Binding("w,W", "next_scope", "what to revert", key_display="w"),
        Binding("tab", "switch", "files", key_display="Tab", priority=True),
    ]

    def __init__(
        self,
        title: str,
        plan: RevertPlan,
        preview: RevertPreview | None,
        choice: Choice | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._plan = plan
        self._preview = preview
        self._choice = dict(plan.default if choice is None else choice)
        self._scope: Scope = "files" if preview is None else "both"
        if plan.conversation_only and preview is not None:
            self._scope = "conversation"
        self._whole: list[_Row] = []
        self._lines: list[_Row] = []
        self._rows = Rows(
            self._draw,
            choose_on_click=True,
            steps_over=lambda at: self._lines[at].is_head,
            id="files",
        )
        self._scopes = Rows(
            self._draw_scope,
            count=0 if preview is None else len(_SCOPES),
            choose_on_click=True,
            id="scopes",
        )
        self._answers = Rows(
            self._draw_answer, count=2, choose_on_click=True, pointer=True, id="answers"
        )

    def compose(self) -> ComposeResult:
        yield self.heading()
        with Vertical(id="question"):  # shorter than the screen as a rule; the keys stay below
            yield Static(id="notices")
            if self._preview is not None:
                yield self._scopes
            yield self._rows
            yield self._answers
        yield self.key_hints()

    async def on_mount(self) -> None:
        self.show_heading(self._title)
        notices = [Content.styled(reveal(text), "$attention") for text in self._plan.notices]
        self.query_one("#notices", Static).update(Content("\n").join(notices))
        self.query_one("#notices", Static).display = bool(notices)
        self._whole = await asyncio.to_thread(self._build)
        self._fit()
        self._rows.cursor = self._first_ticked()

    async def on_resize(self) -> None:
        await super().on_resize()
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Break lines of code that are longer than a row; the cursor stays on its line."""
        if not self._whole:
            return
        width = self._rows.scrollable_content_region.width - len(_INDENT)
        cursor = self._rows.cursor
        at = self._lines[cursor] if cursor < len(self._lines) else None
        self._lines = []
        for row in self._whole:
            pieces = len(row.line.pieces(width)) if row.line is not None else 1
            self._lines += [replace(row, piece=number) for number in range(pieces)]
        self._rows.styles.max_height = len(self._lines)  # the answers stand right below
        self._rows.show_rows(len(self._lines), cursor=self._place_of(at))

    def _place_of(self, at: _Row | None) -> int:
        first = replace(at, piece=0) if at is not None else None
        return next((n for n, row in enumerate(self._lines) if row in (at, first)), 0)

    def _first_ticked(self) -> int:
        """The first row that can be ticked, and is where any is; of a file in parts, its part."""
        rows = [(at, row) for at, row in enumerate(self._lines) if row.path is not None]
        ticked = [at for at, row in rows if row.path and self._is_ticked_whole(row.path, row.hunk)]
        return next(iter((*ticked, *(at for at, _ in rows))), 0)

    def _build(self) -> list[_Row]:
        rows: list[_Row] = []
        parts = ((True, "Changed by the agent"), (False, "All changes since, yours included"))
        for own, title in parts:
            paths = [path for path in self._plan.paths if path.own is own]
            if paths and self._preview is not None:  # else the title says whose they are
                rows += _head(title, after=rows)
            for path in paths:
                rows.append(_Row(Content(""), path))
                rows += self._hunk_rows(path)
        if self._plan.uncovered:
            rows += _head("Not captured", after=rows)
        for left in self._plan.uncovered:
            text = f"    {reveal(left.name)}  {left.why}"
            rows.append(_Row(Content.styled(text, "$muted")))
        return rows or [_Row(Content.styled("No file would change.", "$muted"))]

    def _hunk_rows(self, path: PathPlan) -> list[_Row]:
        rows = []
        most = max((hunk.start + len(hunk.removed + hunk.added) for hunk in path.hunks), default=0)
        for hunk in path.hunks:
            rows.append(_Row(Content(""), path, hunk))
            pieces = [*hunk.removed, *hunk.added]
            texts = [piece.decode(errors="replace").rstrip("\r\n") for piece in pieces]
            marks = ["-"] * len(hunk.removed) + ["+"] * len(hunk.added)
            sides = (hunk.removed, hunk.added)
            numbers = [hunk.start + 1 + at for side in sides for at in range(len(side))]
            coloured = colour_lines(path.path, marks, texts)
            lines = number_rows(coloured, numbers, len(str(most)))
            rows += [_Row(Content(""), path, hunk, line) for line in lines]
        return rows

    def _draw(self, index: int, width: int) -> Content:
        row = self._lines[index]
        if row.line is not None:
            is_plain = not has_diff_grounds(self.app.theme_variables)
            pieces = row.line.pieces(width - len(_INDENT), is_plain=is_plain)
            return Content(_INDENT) + pieces[min(row.piece, len(pieces) - 1)]
        if row.path is None:
            return row.text
        if row.hunk is None:
            return self._draw_path(row.path)
        is_ticked = self._is_ticked(row.path, row.hunk)
        tick = ("    ", "") if self._leaves_files else _TICKS[is_ticked]
        at = f"line {row.hunk.start + 1}"
        conflict = ("  conflict: undoes later changes too", "$danger") if row.hunk.conflict else ""
        return Content.assemble("    ", tick, (at, "$muted"), conflict)

    def _draw_path(self, path: PathPlan) -> Content:
        if self._leaves_files:
            return Content.styled(f"    {reveal(path.path)}  stays as it is", "$muted")
        added, removed = path.counts
        effect = f"will be {'deleted' if path.then.state is None else 'restored'}"
        if path.now.state is not None and path.then.state is not None:
            # Without a word they would be taken for those of the change that is reverted.
            effect = f"reverting: +{added} -{removed}" if path.hunks else "will be replaced"
        why = path.why or STATUS_WORDS[path.status]
        style = "$attention" if path.status in ("merged",) else "$danger"
        return Content.assemble(
            self._path_tick(path),
            (reveal(path.path), "$foreground"),
            (f"  {effect}", "$muted"),
            (f"  {why}", style) if why else "",
            ("  local configuration", "$attention") if _is_secret(path) else "",
        )

    @property
    def _leaves_files(self) -> bool:
        """Whether no file is reverted, whatever is ticked."""
        return self._scope == "conversation"

    def _path_tick(self, path: PathPlan) -> tuple[str, str]:
        chosen = self._choice.get(path.key, frozenset())
        if chosen and 0 not in chosen and len(chosen) < len(path.hunks):
            return "[-] ", "$attention"
        return _TICKS[bool(chosen)]

    def _is_ticked_whole(self, path: PathPlan, hunk: Hunk | None) -> bool:
        chosen = self._choice.get(path.key, frozenset())
        if hunk is not None:
            return self._is_ticked(path, hunk)
        return 0 in chosen or (bool(chosen) and len(chosen) == len(path.hunks))

    def _is_ticked(self, path: PathPlan, hunk: Hunk) -> bool:
        chosen = self._choice.get(path.key, frozenset())
        return 0 in chosen or hunk.id in chosen

    def _draw_scope(self, index: int, width: int) -> Content:
        scope = _SCOPES[index]
        preview = self._preview
        leaving = preview.messages_leaving if preview else 0
        removed = format_count(leaving, "message")
        words: tuple[str, ...] = {
            "both": ("Conversation and files",),
            "files": ("Files only",),
            "conversation": (
                f"Conversation only: {removed} removed",
                f"Conversation only ({removed})",
            ),
        }[scope]
        sign = ("● ", "$user") if scope == self._scope else ("○ ", "$muted")
        return Content.assemble(sign, _fitting(words, width - 2))

    def _draw_answer(self, index: int, width: int) -> Content:
        if index:
            return _with_key("Cancel", label_of(self.app, "revert-files-answer-on", "n"), width)
        files = describe_choice(self._plan, self._choice)
        messages = format_count(self._preview.messages_leaving if self._preview else 0, "message")
        what: tuple[str, ...] = {
            "both": (
                f"Revert {files}, and remove {messages}",
                f"Revert {files}, remove {messages}",
                f"Revert {files} and {messages}",
            ),
            "files": (f"Revert {files}",),
            "conversation": (
                f"Remove {messages}; files are not changed",
                f"Remove {messages}; keep files",
            ),
        }[self._scope]
        if not files and self._scope != "conversation":
            first = f"Remove {messages}" if self._scope == "both" else "Close"
            what = f"{first}; no file is ticked", f"{first}; no file"
        key = label_of(self.app, "revert-files-answer-first", "y")
        return _with_key(_fitting(what, width - len(key) - 1), key, width)

    def offers(self, action: str, parameters: tuple[object, ...]) -> bool:
        """A box is ticked where there is one: elsewhere the key only leads to the list."""
        return action != "tick" or (self._is_among_files and self._has_box)

    @property
    def _is_among_files(self) -> bool:
        return self.focused is self._rows  # known before the list itself knows it

    @property
    def _has_box(self) -> bool:
        """Whether the row under the cursor of the list can be ticked."""
        is_there = self._rows.cursor < len(self._lines) and not self._leaves_files
        return is_there and self._lines[self._rows.cursor].path is not None

    @on(Rows.Highlighted, "#files")
    def _show_keys(self) -> None:
        self.refresh_bindings()

    def action_tick(self) -> None:
        """Tick what is under the cursor of the list; first go there, to see what that is."""
        if self._is_among_files:
            self._tick()
        else:
            self._rows.focus()

    @on(Rows.Chosen, "#files")
    def _tick(self) -> None:
        """Tick or untick the hunk, or all of the file, under the cursor."""
        row = self._lines[self._rows.cursor] if self._has_box else None
        if row is None or row.path is None:
            return
        key, every = row.path.key, frozenset(hunk.id for hunk in row.path.hunks) or frozenset({0})
        before = self._choice.pop(key, frozenset())
        whole = frozenset() if before else every
        after = whole if row.hunk is None else before ^ {row.hunk.id}
        if after:
            self._choice[key] = after
        self._redraw()

    @on(Rows.Chosen, "#scopes")
    def _choose_scope(self, event: Rows.Chosen) -> None:
        self._scope = _SCOPES[event.index]
        self._answers.focus()  # Enter answers, as the sign before the answer says
        self._redraw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next_scope" and self._preview is None:
            return False
        return super().check_action(action, parameters)

    def action_next_scope(self) -> None:
        """Choose the next of files, conversation and both."""
        self._scope = _SCOPES[(_SCOPES.index(self._scope) + 1) % len(_SCOPES)]
        self._redraw()

    def word_of(self, action: str) -> str:
        """Tab leads back from the files."""
        return "answers" if action == "switch" and self._is_among_files else ""

    def action_switch(self) -> None:
        """Move between the files and the answers."""
        target = self._answers if self._is_among_files else self._rows
        target.focus()

    def _redraw(self) -> None:
        self._rows.redraw()
        self._scopes.redraw()
        self._answers.redraw()
        self.refresh_bindings()

    @on(Rows.Chosen, "#answers")
    def _answer(self, event: Rows.Chosen) -> None:
        self.action_answer(event.index)

    def action_answer(self, index: int) -> None:
        self.dismiss(None if index else RevertDecision(self._scope, dict(self._choice)))


def _is_secret(path: PathPlan) -> bool:
    return any(side.state is not None and side.state.secret for side in (path.now, path.then))


def _head(title: str, after: Sequence[_Row]) -> list[_Row]:
    """What stands over a group of rows, below a blank one where others come before."""
    blank = [_Row(Content(""), is_head=True)] if after else []
    return [*blank, _Row(Content.styled(title, "bold"), is_head=True)]


def _fitting(words: Sequence[str], width: int) -> str:
    """The first of these, the longest first, for which there is room; else the last."""
    return next((each for each in words if cell_len(each) <= width), words[-1])


def _with_key(text: str, key: str, width: int) -> Content:
    """What can be chosen, and its key at the end of the row."""
    shown = Content(text).truncate(max(1, width - len(key) - 1), ellipsis=True, pad=True)
    return Content.assemble(shown, " ", (key, "$faint"))
