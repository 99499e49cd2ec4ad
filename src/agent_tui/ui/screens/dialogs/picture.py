"""Pictures of a message, as large as the screen and as fine as the terminal can."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.geometry import Offset, Size
from textual.strip import Strip
from textual.widget import Widget

from agent_tui.core.dataclass import dataclass
from agent_tui.core.format import format_size
from agent_tui.resources import stylesheet
from agent_tui.runtime.machine.graphics import (
    Graphics,
    cell_pixels,
    find_graphics,
    is_multiplexed,
)
from agent_tui.runtime.machine.pictures import (
    KITTY_REMOVAL,
    Picture,
    cells_of,
    open_picture,
    write_kitty,
    write_sixel,
)
from agent_tui.ui.renderers.canvas import COLUMN
from agent_tui.ui.renderers.lines import wrap_text
from agent_tui.ui.renderers.pictures import draw_half_blocks, ground_of
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS, Panel
from agent_tui.ui.terminal_driver import TerminalDriver
from agent_tui.ui.widgets.timeline.block_view import has_colours

_NO_COLOURS = (
    "This terminal shows too few colours to draw pictures. To see them, start agent-tui where "
    "there are 256 colours or more (TERM=xterm-256color or COLORTERM=truecolor), NO_COLOR is not "
    "set, and the theme is not one of 16 colours. The model still gets the picture."
)
_UNREADABLE = "This picture cannot be shown: it is damaged, too large, or in an unknown format."


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Rows of text, or what is sent to the terminal over an empty place, and where that begins."""

    rows: list[list[Segment]]
    at: Offset
    sent: str = ""


class PictureScreen(Panel[None]):
    """Shows one of several pictures; the arrow keys move to the next."""

    CSS_PATH = [*PANEL_SHEETS, stylesheet("screens/picture.tcss")]
    BINDINGS = [
        Binding("right,n", "step(1)", "next", key_display="→"),
        Binding("left,p", "step(-1)", "previous", key_display="←"),
    ]

    def __init__(
        self, urls: Sequence[str], choice: Literal["auto", "kitty", "sixel", "blocks"] = "auto"
    ) -> None:
        super().__init__()
        self._urls = urls
        self._choice = choice
        self._shown = 0

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield PictureView()
        yield self.key_hints()

    def on_mount(self) -> None:
        self.query_one(PictureView).graphics = self._graphics()
        self.action_step(0)

    def _graphics(self) -> Graphics:
        driver = self.app._driver
        if not isinstance(driver, TerminalDriver):
            return "blocks"
        if self._choice != "auto":
            return self._choice
        found = find_graphics()
        if found == "blocks" and not is_multiplexed():
            if driver.draws_sixel:
                return "sixel"
            driver.ask_features(self._draw_finer)
        return found

    def _draw_finer(self) -> None:
        """The terminal said what it can do, perhaps after the picture was drawn."""
        if not self.is_attached:
            return
        view, wanted = self.query_one(PictureView), self._graphics()
        if wanted != view.graphics:
            view.graphics = wanted
            view.draw_soon()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """With one picture there is nothing to step to."""
        return action != "step" or len(self._urls) > 1

    def action_step(self, step: int) -> None:
        """Show the picture that many further on."""
        self._shown = (self._shown + step) % len(self._urls)
        self.run_worker(self._open(self._urls[self._shown]), exclusive=True)

    async def _open(self, url: str) -> None:
        place = f"{self._shown + 1} of {len(self._urls)}" if len(self._urls) > 1 else ""
        self.show_heading("Picture", place)
        view = self.query_one(PictureView)
        picture = await asyncio.to_thread(open_picture, url)
        if picture is None:
            view.say(_UNREADABLE)
            return
        size = format_size(len(url.partition(",")[2]) * 3 // 4)
        facts = f"{picture.kind}, {picture.width} by {picture.height} pixels, {size}"
        self.show_heading("Picture", facts, place)
        if view.graphics == "blocks" and not has_colours(self.app):
            view.say(_NO_COLOURS)
            return
        await view.show(picture)

    def on_screen_suspend(self) -> None:
        self.query_one(PictureView).take_off()

    async def on_screen_resume(self, event: events.ScreenResume) -> None:
        await super().on_screen_resume(event)
        self.query_one(PictureView).draw_soon()


class PictureView(Widget):
    """The place of the picture: half blocks, or nothing, over which the terminal draws."""

    def __init__(self) -> None:
        super().__init__()
        self.graphics: Graphics = "blocks"
        self._picture: Picture | None = None
        self._sentence = ""
        self._strips: list[Strip] = []
        self._ground = (0, 0, 0)

    async def show(self, picture: Picture) -> None:
        """Draw this picture from now on."""
        self._picture = picture
        await self._draw()

    def say(self, sentence: str) -> None:
        """Stand in for a picture that cannot be shown."""
        self.take_off()
        self._picture, self._sentence = None, sentence
        self._write_sentence()

    def _write_sentence(self) -> None:
        rows = wrap_text(self._sentence, max(1, min(self.size.width, COLUMN)))
        self._strips = [Strip([Segment(row, self.rich_style)]) for row in rows]
        self.refresh()

    def draw_soon(self) -> None:
        """Draw the picture again: something else stood in its place, or the place changed."""
        if self._picture is not None:
            # Called by the worker: one that is replaced before it starts leaves nothing unawaited.
            draw: Callable[[], Awaitable[None]] = self._draw
            self.run_worker(draw, exclusive=True)
        elif self._sentence:
            self._write_sentence()

    def on_resize(self) -> None:
        self.draw_soon()

    def notify_style_update(self) -> None:
        """Another theme has another background, which is seen beside the picture too."""
        super().notify_style_update()
        if self.is_mounted and ground_of(self.rich_style) != self._ground:
            self.draw_soon()

    def on_unmount(self) -> None:
        self.take_off()

    def take_off(self) -> None:
        """Remove what the terminal drew itself."""
        if self.graphics == "kitty":
            self._send(KITTY_REMOVAL)

    async def _draw(self) -> None:
        picture, size = self._picture, self.size
        if picture is None or not size:
            return
        drawn = await asyncio.to_thread(self._prepare, picture, size)
        if size != self.size or picture is not self._picture or not self.screen.is_current:
            return
        self.take_off()
        self._ground = ground_of(self.rich_style)
        left = [Segment(" " * drawn.at.x, self.rich_style)] * bool(drawn.at.x)
        self._strips = [*[Strip([])] * drawn.at.y, *(Strip([*left, *row]) for row in drawn.rows)]
        self.refresh()
        if drawn.sent:
            self.call_after_refresh(self._send_at_place, drawn.sent, drawn.at)

    def _prepare(self, picture: Picture, size: Size) -> _Drawn:
        ground = ground_of(self.rich_style)
        columns, rows = size
        cell = (1, 2) if self.graphics == "blocks" else cell_pixels()
        across, down = cells_of(picture, columns, rows, cell)
        at = Offset((columns - across) // 2, (rows - down) // 2)
        if self.graphics == "kitty":
            return _Drawn([], at, write_kitty(picture, columns, rows, cell))
        if self.graphics == "sixel":
            return _Drawn([], at, write_sixel(picture, columns, rows, cell, ground))
        return _Drawn(draw_half_blocks(picture, columns, rows, ground), at)

    def _send_at_place(self, sequences: str, at: Offset) -> None:
        x, y = self.content_region.offset + at
        self._send(f"\x1b7\x1b[{y + 1};{x + 1}H{sequences}\x1b8")

    def _send(self, sequences: str) -> None:
        driver = self.app._driver
        if isinstance(driver, TerminalDriver):
            driver.tell(sequences)

    def render_line(self, y: int) -> Strip:
        """One row of half blocks, and beside and below them the ground of the theme."""
        row = self._strips[y] if y < len(self._strips) else Strip([])
        return row.extend_cell_length(self.size.width, self.rich_style)
