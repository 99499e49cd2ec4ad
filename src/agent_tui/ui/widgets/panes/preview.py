"""A pane beside a list: what is known of the row under the cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import chain
from typing import TypeAlias, assert_never

from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.text import clean
from agent_tui.history.exchanges import Exchange
from agent_tui.ui.renderers.lines import Line, finish_row
from agent_tui.ui.themes.palette import read_palette
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.exchange_lines import (
    Answer,
    Part,
    Prompt,
    draw_answer,
    draw_prompt,
    exchange_parts,
)

_MARGIN, _BETWEEN = "  ", " ·"
REST_SECONDS = 0.12
"""How long the cursor rests on a row before what it holds is read."""

ReadExchanges: TypeAlias = Callable[[int], Awaitable[Sequence[Exchange]]]
"""Gives what was said last at a place of a session's past, given by its number."""


class Preview(Rows, can_focus=False):
    """Text and answers as wide as the pane; the mouse wheel scrolls it."""

    def __init__(self) -> None:
        super().__init__(has_cursor=False)
        self._parts: Sequence[Part] = ()
        self._exchanges: Sequence[Exchange] = ()
        self._lines: list[Content | Line] = []

    def show_parts(self, parts: Sequence[Part], exchanges: Sequence[Exchange] = ()) -> None:
        """Show these pieces below one another, from the first, then what was said last.

        Of the exchanges, oldest first, the newest are shown: as many as there is room for.
        """
        self._parts, self._exchanges = parts, exchanges
        self._wrap()
        self.scroll_home(animate=False)

    def _wrap(self) -> None:
        self._lines = self._draw_parts(self._parts)
        said = [self._draw_parts(list(exchange_parts([each]))) for each in self._exchanges]
        room = self.scrollable_content_region.height - len(self._lines) + 1  # a blank row ends all
        while len(said) > 1 and sum(map(len, said)) > room:
            said.pop(0)
        if said and (left := room - sum(map(len, said))) > 0:
            said[-1] = self._draw_parts(list(exchange_parts(self._exchanges[-1:])), left)
        self._lines += chain.from_iterable(said)
        if said:
            self._lines.pop()
        self.show_rows(len(self._lines))

    def _draw_parts(self, parts: Sequence[Part], more_rows: int = 0) -> list[Content | Line]:
        """The rows of these pieces; an answer may take so many more rows than is usual."""
        width = max(1, self.scrollable_content_region.width - 1)  # a cell before the scroll bar
        palette = read_palette(self.app.theme_variables)
        lines: list[Content | Line] = []
        for part in parts:
            match part:
                case Answer():
                    lines += draw_answer(part, width, palette, more_rows)
                case Prompt():
                    lines += draw_prompt(part, width)
                case Content():
                    lines += _wrap_under(part, width)
                case _ as never:
                    assert_never(never)
        return lines

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        """Show the rows of another width in the frame that gives it, not in the next one."""
        is_changed = super()._size_updated(size, virtual_size, container_size, layout)
        if is_changed:
            self._wrap()
        return is_changed

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted and self._parts:
            self._wrap()

    def _render_row(self, index: int, width: int, state: str) -> Strip:
        line = self._lines[index]
        if isinstance(line, Content):
            return super()._render_row(index, width, state)
        return Strip(finish_row(line, width, read_palette(self.app.theme_variables).base))

    def draw_row(self, index: int, width: int) -> Content:
        line = self._lines[index]
        return line if isinstance(line, Content) else Content("")


def _wrap_under(text: Content, width: int) -> list[Content]:
    """The rows of a text; where it begins with a margin, all of them have it.

    None but the last ends on the sign between two facts.
    """
    margin = _MARGIN if text.plain.startswith(_MARGIN) else ""
    *rows, last = text[len(margin) :].wrap(max(8, width - len(margin)) if margin else width)
    ended = [(row, row.rstrip(_BETWEEN)) for row in rows]
    kept = [end for row, end in ended if end.plain or not row.plain]
    return [Content(margin) + row for row in (*kept, last)]


class PastPreview(Preview):
    """What was said last at a place of a session's past.

    Args:
        read: gives that; without it only the heading is shown.
    """

    def __init__(self, read: ReadExchanges | None = None) -> None:
        super().__init__()
        self._read = read
        self._place: tuple[int, Content] | None = None

    def on_show(self) -> None:
        """The pane came into view: show what is under the cursor."""
        if self._place is not None:
            self.show_place(*self._place)

    def show_place(self, number: int, heading: Content) -> None:
        """Show a heading now, and what was said last once the cursor has rested."""
        self._place = number, heading
        self.add_class("-shown")
        if not self.display:
            return
        self.show_parts([heading])
        # Called by the worker: one that is replaced before it starts leaves nothing unawaited.
        read: Callable[[], Awaitable[None]] = partial(self._read_place, number, heading)
        self.run_worker(read, exclusive=True, exit_on_error=False)

    async def _read_place(self, number: int, heading: Content) -> None:
        await asyncio.sleep(REST_SECONDS)
        if self._read is None or not self.display:
            return
        said: Sequence[Exchange] = ()
        told = Content.styled("Nothing was said here.", "$muted")
        try:
            said = await self._read(number)
        except AgentTuiError as error:
            told = Content.styled(clean(str(error)), "$danger")
        except (OSError, IndexError, ValueError):  # it was written anew, or cut off, meanwhile
            told = Content.styled("What was said here could not be read.", "$danger")
        self.show_parts([heading, Content(""), *(() if said else (told,))], said)
