"""What wrote a file or a line of it: the calls of all sessions, with the prompt behind each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from agent_tui.core.errors import StorageError, UsageError
from agent_tui.core.format import format_age, format_count
from agent_tui.core.text import clean, first_line
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.panel import ONE_PAGE, PANEL_SHEETS, Panel
from agent_tui.ui.widgets.cells import fit_cells
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.lists.tall_rows import TallRows

if TYPE_CHECKING:
    from agent_tui.library.search.why import WritingCall

_LINES = 3
"""Lines of an answer: the call, the prompt, the session."""


class WhyService(Protocol):
    """What the screen needs of the runtime."""

    async def why(self, target: str, cwd: Path) -> list[WritingCall]: ...
    async def update(self) -> None: ...


class WhyScreen(Panel["WritingCall"]):
    """The calls that wrote it, newest first; answers with the one to open.

    Args:
        service: the index.
        target: FILE or FILE:LINE.
        cwd: the folder that FILE is named from.
    """

    DEFAULT_CLASSES = ONE_PAGE
    CSS_PATH = [*PANEL_SHEETS, stylesheet("screens/why.tcss")]
    AUTO_FOCUS = "#why-rows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open_highlighted", "open there", key_display="Enter"),
    ]
    ABOUT_ROWS = frozenset({"open_highlighted"})

    def __init__(self, service: WhyService, target: str, cwd: Path) -> None:
        super().__init__()
        self._service, self._target, self._cwd = service, target, cwd
        self._found: list[WritingCall] = []
        self._rows = TallRows(
            self._draw, lines=_LINES, gap=True, id="why-rows", empty=Content("Reading sessions…")
        )

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield self._rows
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading(f"Who wrote {self._target}", "updating the index…")
        self._load()

    @work(exclusive=True, group="why")
    async def _load(self) -> None:
        """Answer from the index as it is, and once more when it is up to date."""
        trouble = ""
        for is_updated in (False, True):
            try:
                if is_updated:
                    await self._service.update()
                self._found = await self._service.why(self._target, self._cwd)
            except UsageError as error:
                self._rows.show_empty(Content.styled(clean(str(error)), "$danger"))
                break
            except StorageError as error:
                if is_updated:
                    trouble = str(error)
                    self._rows.show_empty(Content.styled(clean(trouble), "$danger"))
                continue
            self._show()
        count = format_count(len(self._found), "call")
        known = (count, trouble) if self._found else ()
        self.show_heading(f"Who wrote {self._target}", *known)

    def _show(self) -> None:
        name = clean(self._target)
        self._rows.show_empty(Content(f"No session on this machine wrote {name}."))
        self._rows.show_items(len(self._found))
        if self._found and self._found[0].said:
            self.show_heading(f"Who wrote {name}", self._found[0].said)

    def has_rows(self) -> bool:
        return bool(self._found)

    def _draw(self, index: int, part: int, width: int) -> Content:
        each = self._found[index]
        if part == 0:
            tools = clean(", ".join(each.tools))
            age = format_age(each.at).rjust(8)
            title = fit_cells(
                first_line(each.title or each.session_id, 300), width - len(tools) - 12
            )
            return Content.assemble(("● ", "$tool"), (tools, "bold"), f"  {title}", (age, "$muted"))
        if part == 1:
            said = clean(each.prompt) or "prompt unknown"
            return Content.assemble(("  \u276f ", "$user"), said).truncate(width, ellipsis=True)
        kept = "still in the context" if each.in_context else "no longer in the context"
        copied = f" · continued in {', '.join(each.copied_to)}" if each.copied_to else ""
        told = f"    the prompt was {kept} · {each.source}{copied}"
        return Content.styled(clean(told), "$muted").truncate(width, ellipsis=True)

    @on(Rows.Chosen, "#why-rows")
    def action_open_highlighted(self) -> None:
        if self._found:
            self.dismiss(self._found[self._rows.item])
