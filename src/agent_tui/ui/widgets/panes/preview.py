"""A pane beside a list: what is known of the row under the cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeAlias

from textual.content import Content

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.text import clean
from agent_tui.history.exchanges import Exchange
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.exchange_lines import exchange_lines

REST_SECONDS = 0.12
"""How long the cursor rests on a row before what it holds is read."""

ReadExchanges: TypeAlias = Callable[[int], Awaitable[Sequence[Exchange]]]
"""Gives what was said last at a place of a session's past, given by its number."""


class Preview(Rows, can_focus=False):
    """A text as wide as the pane; the mouse wheel scrolls it."""

    def __init__(self) -> None:
        super().__init__(has_cursor=False)
        self._text = Content("")
        self._lines: list[Content] = []

    def show_text(self, text: Content) -> None:
        """Show this text from its beginning."""
        self._text = text
        self._wrap()
        self.scroll_home(animate=False)

    def _wrap(self) -> None:
        self._lines = self._text.wrap(max(1, self.scrollable_content_region.width))
        self.show_rows(len(self._lines))

    def on_resize(self) -> None:
        self._wrap()

    def draw_row(self, index: int, width: int) -> Content:
        return self._lines[index]


class PastPreview(Preview):
    """What was said last at a place of a session's past.

    Args:
        read: gives that; without it only the heading is shown.
    """

    def __init__(self, read: ReadExchanges | None = None) -> None:
        super().__init__()
        self._read = read

    def show_place(self, number: int, heading: Content) -> None:
        """Show a heading now, and what was said last once the cursor has rested."""
        self.add_class("-shown")
        self.show_text(heading)
        # Called by the worker: one that is replaced before it starts leaves nothing unawaited.
        read: Callable[[], Awaitable[None]] = partial(self._read_place, number, heading)
        self.run_worker(read, exclusive=True, exit_on_error=False)

    async def _read_place(self, number: int, heading: Content) -> None:
        await asyncio.sleep(REST_SECONDS)
        if self._read is None or not self.display:
            return
        try:
            lines = list(exchange_lines(await self._read(number)))
        except AgentTuiError as error:
            lines = [Content.styled(clean(str(error)), "$danger")]
        nothing = [Content.styled("Nothing was said here.", "$muted")]
        self.show_text(Content("\n").join([heading, Content(""), *(lines or nothing)]))
