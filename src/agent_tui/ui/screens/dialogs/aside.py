"""The answer to a question on the side, while it arrives; it is kept nowhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual import work

from agent_tui.core.errors import AgentTuiError
from agent_tui.ui.screens.dialogs.reader import ReaderScreen

Ask = Callable[[str, Callable[[str], None]], Awaitable[str]]
"""Asks a question, tells each piece of the answer, and returns it whole."""


class AsideScreen(ReaderScreen):
    """Asks when it is shown; Esc leaves it, and ends the request."""

    def __init__(self, question: str, ask: Ask) -> None:
        super().__init__(
            "Side question", "not kept in the session", _page(question, "…"), markdown=True
        )
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
        self._reading.show_text(_page(self._question, answer))


def _page(question: str, answer: str) -> str:
    quoted = "\n".join(f"> {line}" for line in question.split("\n"))
    return f"{quoted}\n\n{answer}"
