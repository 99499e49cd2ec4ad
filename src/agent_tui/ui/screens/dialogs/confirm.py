"""One question with two answers; Enter gives the one that was asked about, Esc does not."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agent_tui.core.text import clean
from agent_tui.resources import stylesheet
from agent_tui.ui.widgets.lists.rows import Rows


class ConfirmScreen(ModalScreen[bool]):
    """Is dismissed with True when the act may be done.

    Args:
        question: a short question.
        consequence: what will change, and how it could be taken back.
        act: the word on the answer that does it.
    """

    CSS_PATH = [stylesheet("widgets/rows.tcss"), stylesheet("screens/confirm.tcss")]
    AUTO_FOCUS = "Rows"
    BINDINGS = [
        Binding("y", "answer(True)", "Yes", show=False),
        Binding("n,escape", "answer(False)", "No", show=False),
    ]

    def __init__(self, question: str, consequence: str, act: str) -> None:
        super().__init__()
        self._question = question
        self._consequence = consequence
        self._answers = (clean(act), "Cancel")

    def compose(self) -> ComposeResult:
        with Vertical(id="confirm") as box:
            box.border_title = Content(f"{clean(self._question)}")
            yield Static(Content(clean(self._consequence)))
            yield Rows(self._draw, count=2, choose_on_click=True)

    def _draw(self, index: int, width: int) -> Content:
        pointer = "▸ " if index == self.query_one(Rows).cursor else "  "
        key = "y" if index == 0 else "Esc"
        return Content.assemble(pointer, self._answers[index], (f"  {key}", "$faint"))

    @on(Rows.Highlighted)
    def _redraw(self, event: Rows.Highlighted) -> None:
        event.rows.redraw()

    @on(Rows.Chosen)
    def _choose(self, event: Rows.Chosen) -> None:
        self.action_answer(event.index == 0)

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)
