"""Full-text search in every session of every agent: type, see lines, open one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.errors import AgentTuiError, StorageError
from agent_tui.core.format import format_age, format_count, format_since
from agent_tui.core.text import clean, reveal
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS, WITH_PREVIEW, Panel
from agent_tui.ui.widgets.cells import fit_cells
from agent_tui.ui.widgets.lists.list_keys import take_list_key
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.preview import Preview
from agent_tui.ui.widgets.prompt.line_input import LineInput

if TYPE_CHECKING:
    from agent_tui.library.search.finding import FoundSession, Hit, SearchAnswer

_PAUSE_SECONDS = 0.12
_MARKDOWN = re.compile(r"\*\*|`|(?:^|(?<= ))#{1,6} ")
_TABLE_HEAD = re.compile(r"\|\s*:?-{3,}:?\s*\|")
_CELL_EDGE = re.compile(r"\s*\|(?:[\s:-]*\|)*\s*")
_WIDE = 90
_SIGNS = {"user": "\u276f", "assistant": " ", "tool": "●"}
_UPDATING = "updating the index…"
_NOTHING_YET = "Nothing found yet. The index is still being updated."
_ASK = "Type words, “phrases”, -without, or filters: agent: project: tool: file: has:error after:7d"


class Search(Protocol):
    """What the screen needs of the runtime."""

    async def search(self, text: str, limit: int = 50) -> SearchAnswer: ...
    async def update(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Row:
    """A session, or one of its lines."""

    session: FoundSession
    hit: Hit | None = None


class SearchScreen(Panel["tuple[FoundSession, Hit | None]"]):
    """The search; answers with a session and the line it was opened at.

    Args:
        search: the index.
        text: what is looked for at first.
    """

    CSS_PATH = [
        *PANEL_SHEETS,
        stylesheet("widgets/preview.tcss"),
        stylesheet("screens/search.tcss"),
    ]
    HORIZONTAL_BREAKPOINTS = WITH_PREVIEW
    AUTO_FOCUS = "#search-text"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open_highlighted", "open", key_display="Enter"),
        Binding("slash", "edit", "query", key_display="/"),
    ]
    ABOUT_ROWS = frozenset({"open_highlighted"})

    def __init__(self, search: Search, text: str = "") -> None:
        super().__init__()
        self._search = search
        self._found: list[_Row] = []
        self._found_for = ""
        self._marks: tuple[str, ...] = ()
        self._is_updating, self._trouble = False, ""
        self._first = text
        self._text = LineInput("Search all sessions", id="search-text")
        self._left_out = Static(id="left-out")
        self._rows = Rows(self._draw, id="search-rows", empty=Content.styled(_ASK, "$muted"))
        self._preview = Preview()

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield self._text
        yield self._left_out
        yield Horizontal(self._rows, self._preview, id="beside", classes="-empty")
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading("Search", _UPDATING)
        self._text.value = self._first
        self._update()
        self._look()

    @work(group="search-update", exit_on_error=False)
    async def _update(self) -> None:
        self._is_updating, self._trouble = True, ""
        try:
            await self._search.update()
        except AgentTuiError as error:
            self._trouble = str(error)
        finally:
            self._is_updating = False
        self.show_heading("Search", self._trouble)
        self._look()

    @on(LineInput.Changed, "#search-text")
    def _typed(self) -> None:
        self._look()

    @work(exclusive=True, group="search")
    async def _look(self) -> None:
        await asyncio.sleep(_PAUSE_SECONDS)
        text = self._text.value.strip()
        if not text:
            self._show([], Content.styled(_ASK, "$muted"))
            return
        try:
            answer = await self._search.search(text)
        except AgentTuiError as error:
            is_awaited = self._is_updating and isinstance(error, StorageError)
            told = "Building the index…" if is_awaited else clean(str(error))
            self._show([], Content.styled(told, "$muted"))
            return
        is_early = self._is_updating  # when that ends, this is asked again
        nothing = _NOTHING_YET if is_early and not answer.warning else answer.nothing
        found, self._marks = answer.sessions, answer.marks
        rows = [row for each in found for row in (_Row(each), *(_Row(each, h) for h in each.hits))]
        self._show(rows, Content(nothing), answer.warning if found else "")
        lines = sum(each.matches for each in found)
        note = f"{format_count(lines, 'line')} in {format_count(len(found), 'session')}"
        shown = sum(len(each.hits) for each in found)
        note += f", best {shown} shown" if shown < lines else ""  # a few of each session
        state = _UPDATING if is_early else self._trouble
        self.show_heading("Search", note if found else "", state)

    def _show(self, rows: list[_Row], empty: Content, left_out: str = "") -> None:
        """Show what was found; the cursor stays on its row where only the index has grown."""
        self._left_out.update(Content(left_out))
        self._left_out.display = bool(left_out)
        text, cursor = self._text.value.strip(), 0
        if text == self._found_for and self._found:
            before = self._found[self._rows.cursor]
            cursor = rows.index(before) if before in rows else 0
        self._found, self._found_for = rows, text
        self._rows.show_empty(empty)
        self._rows.show_rows(len(rows), cursor=cursor)
        self.query_one("#beside").set_class(not rows, "-empty")
        self._preview.set_class(bool(rows), "-shown")
        if not rows:
            self._preview.show_parts([])

    @on(Rows.Highlighted, "#search-rows")
    def _follow_cursor(self) -> None:
        """Show what is said around the line; of a session, around its best one."""
        if self._found:
            row = self._found[self._rows.cursor]
            self._preview.show_parts(_describe(row.session, row.hit, self._marks))

    def has_rows(self) -> bool:
        return bool(self._found)

    def _draw(self, index: int, width: int) -> Content:
        row = self._found[index]
        if row.hit is None:
            return _draw_session(row.session, width)
        return _draw_hit(row.hit, width, self._marks)

    @on(Rows.Chosen, "#search-rows")
    def action_open_highlighted(self) -> None:
        if self._found:
            row = self._found[self._rows.cursor]
            self.dismiss((row.session, row.hit))

    @on(LineInput.Submitted, "#search-text")
    def _done(self, event: LineInput.Submitted) -> None:
        event.stop()
        self.action_open_highlighted()

    def action_edit(self) -> None:
        self._text.focus()

    async def on_key(self, event: events.Key) -> None:
        """While the query has the focus, arrows still move the cursor of the list."""
        if self._text.has_focus:
            take_list_key(event, self._rows)


def _draw_session(found: FoundSession, width: int) -> Content:
    age = format_age(found.updated_at).rjust(7)
    title = clean(found.title or "Untitled")
    if width < _WIDE:
        return Content.assemble((fit_cells(title, width - 8), "bold"), (f" {age}", "$muted"))
    project = reveal(found.cwd.rstrip("/").rpartition("/")[2] or found.cwd)
    about = f"{fit_cells(found.source, 12)} {fit_cells(project, 18)}"
    lines = format_count(found.matches, "line").rjust(10)
    rest = width - 12 - 18 - 10 - len(age) - 4
    return Content.assemble((fit_cells(title, rest), "bold"), (f" {about} {lines} {age}", "$muted"))


def _draw_hit(hit: Hit, width: int, marks: Sequence[str]) -> Content:
    words = clean(hit.snippet)
    if hit.role in ("user", "assistant"):
        words = _MARKDOWN.sub("", words)
        if _TABLE_HEAD.search(words):  # else a bar may be one of a command
            words = _CELL_EDGE.sub(" · ", words)
    said = _show_marks(Content(fit_cells(words, width - 4)), marks)
    return Content.assemble((f"  {_SIGNS.get(hit.role, '·')} ", "$muted"), said)


def _describe(found: FoundSession, hit: Hit | None, marks: Sequence[str]) -> list[Content]:
    """A session and what is said in it around a line."""
    project = reveal(found.cwd.rstrip("/").rpartition("/")[2] or found.cwd)
    facts = (reveal(found.source), project, reveal(found.model), format_since(found.updated_at))
    return [
        Content.styled(clean(found.title) or "Untitled", "bold"),
        Content.styled(" · ".join(filter(None, facts)), "$muted"),
        Content(""),
        _show_marks(Content.styled(_passage_of(hit or found.hits[0]), "$muted"), marks),
    ]


def _passage_of(hit: Hit) -> str:
    return clean(hit.passage or hit.snippet).expandtabs(4)


def _show_marks(text: Content, marks: Sequence[str]) -> Content:
    """The text with the words looked for in it."""
    if not any(marks):
        return text
    found = re.compile("|".join(map(re.escape, filter(None, marks))), re.IGNORECASE)
    for match in found.finditer(text.plain):
        text = text.stylize("bold $user", *match.span())
    return text
