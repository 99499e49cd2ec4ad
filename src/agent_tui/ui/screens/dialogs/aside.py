"""The answer to a question on the side, while it arrives; it is kept nowhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual import work
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.text import clean
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS
from agent_tui.ui.screens.dialogs.reader import ReaderScreen

Ask = Callable[[str, Callable[[str], None]], Awaitable[str]]
"""Asks a question, tells each piece of the answer, and returns it whole."""


class AsideScreen(ReaderScreen):
    """Asks when it is shown; Esc leaves it, and ends the request."""

    CSS_PATH = [*PANEL_SHEETS, stylesheet("screens/reader.tcss")]

    def __init__(self, question: str, ask: Ask) -> None:
        super().__init__("Side question", "not kept in the session", f"> {question}\n\n…")
        self._question = question
        self._ask = ask
        self._pieces: list[str] = []

    def on_mount(self) -> None:
        self._answer()

    @work(exit_on_error=False)
    async def _answer(self) -> None:
        try:
            self._show(await self._ask(self._question, self._add))
        except AgentTuiError as error:
            self.tell(str(error), is_error=True)

    def _add(self, piece: str) -> None:
        self._pieces.append(piece)
        self._show("".join(self._pieces))

    def _show(self, answer: str) -> None:
        text = clean(f"> {self._question}\n\n{answer}")
        self.query_one("#reader", VerticalScroll).query_one(Static).update(Content(text))
