"""A scrolling text, plain or as Markdown, that can be searched."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from rich.segment import Segment
from textual.strip import Strip

from agent_tui.core.text import clean
from agent_tui.ui.renderers.canvas import COLUMN, Canvas
from agent_tui.ui.renderers.finding import mark_text, rows_with, wanted_words
from agent_tui.ui.renderers.languages import Languages
from agent_tui.ui.renderers.lines import Line, finish_row, wrap_text
from agent_tui.ui.renderers.long_text import GLANCE_CHARS, draw_text
from agent_tui.ui.themes.palette import Palette, read_palette
from agent_tui.ui.widgets.lists.rows import Rows

_NOTHING = ("", 0, False)


class Reading(Rows):
    """Shows one text; a long one is laid out in a thread, as is one that grows.

    Args:
        text: what to show first.
        markdown: whether it is drawn as Markdown.
    """

    newest_first = False

    def __init__(self, text: str, *, markdown: bool = False, id: str | None = None) -> None:  # noqa: A002
        super().__init__(has_cursor=False, id=id)
        self._text = clean(text)
        self._is_markdown = markdown
        self._languages = Languages()
        self._lines: list[Line] = []
        self._laid_out: tuple[str, int, bool] = _NOTHING
        self._part: float | None = None
        self._is_laying_out = False
        self._wanted = ""
        self._found = -1

    def show_text(self, text: str) -> None:
        """Show another text, or more of it; the view stays where it is."""
        self._text = clean(text)
        self._lay_out()

    def switch_source(self) -> None:
        """Draw it as Markdown, or show it as it was written; the same part of it stays in view."""
        self._part = self.scroll_y / max(1, len(self._lines))
        self._is_markdown = not self._is_markdown
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted:
            self._laid_out = _NOTHING
            self._lay_out()

    def _lay_out(self) -> None:
        text, width, markdown = wanted = self._wanted_layout
        if width <= 0 or wanted == self._laid_out:
            return
        if len(text) <= GLANCE_CHARS and (not self._lines or markdown != self._laid_out[2]):
            self._laid_out = wanted
            self._take(self._draw_lines(*wanted))
        if not self._is_laying_out:
            work: Callable[[], Awaitable[None]] = self._lay_out_in_thread
            self.run_worker(work, exit_on_error=False)

    @property
    def _wanted_layout(self) -> tuple[str, int, bool]:
        return self._text, min(self.scrollable_content_region.width, COLUMN), self._is_markdown

    async def _lay_out_in_thread(self) -> None:
        """Draw until what is shown is what is wanted, and all its code has its colours."""
        self._is_laying_out = True
        try:
            while True:
                wanted = self._wanted_layout
                gained = await asyncio.to_thread(self._load_languages)
                if wanted == self._laid_out and not gained:
                    return
                self._take(await asyncio.to_thread(self._draw_lines, *wanted))
                self._laid_out = wanted
        finally:
            self._is_laying_out = False

    def _load_languages(self) -> bool:
        return bool(self._languages.missing) and self._languages.load_missing()

    @property
    def _palette(self) -> Palette:
        return read_palette(self.app.theme_variables)

    def _draw_lines(self, text: str, width: int, markdown: bool) -> list[Line]:
        if markdown:
            return draw_text(text, Canvas(width, self._palette, self._languages), glance=False)[0]
        return [[Segment(row)] for row in wrap_text(text, width)]

    def _take(self, lines: list[Line]) -> None:
        self._lines = lines
        self.show_rows(len(lines))
        if self._part is not None:
            self._scroll_now(round(self._part * len(lines)))
            self._part = None

    def _render_row(self, index: int, width: int, state: str) -> Strip:
        strip = Strip(finish_row(self._lines[index], width, self._palette.text))
        if not self._wanted:
            return strip
        return mark_text(strip, self._wanted, self._palette, current=index == self._found)

    async def find(self, text: str, tell: Callable[[list[int]], None]) -> list[int]:
        """The rows that hold a text, from above."""
        self._wanted = wanted_words(text)
        rows = ["".join(segment.text for segment in line) for line in self._lines]
        found = sorted(rows_with(rows, self._wanted))
        tell(found)
        self.redraw()
        return found

    def show_found(self, index: int, *, last: bool = False) -> bool:
        """Bring a row into view."""
        self._found = index
        self.redraw()
        self._scroll_now(max(0, index - self.size.height // 3))
        return True

    def step_in_found(self, _step: int) -> bool:
        """Always False: a match is one row, which is shown whole."""
        return False

    @property
    def place_in_found(self) -> tuple[int, int]:
        """Always the first of one."""
        return 1, 1

    def stop_finding(self) -> None:
        """Remove the marks."""
        self._wanted, self._found = "", -1
        self.redraw()
