"""One question with two answers: Enter confirms, Esc refuses."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.text import clean
from agent_tui.resources import stylesheet
from agent_tui.ui.commands import label_of
from agent_tui.ui.screens.dialogs.popup import POPUP_SHEETS, Popup
from agent_tui.ui.widgets.lists.rows import Rows


class ConfirmScreen(Popup[bool]):
    """Is dismissed with True when the operation may be done.

    Args:
        question: a short question.
        consequence: what will change, and how it could be undone.
        act: the word on the answer that does it.
        refusal: the word on the other answer.
    """

    CSS_PATH = [*POPUP_SHEETS, stylesheet("screens/confirm.tcss")]
    AUTO_FOCUS = "Rows"
    BINDINGS = [
        Binding("y", "answer(True)", "Yes", show=False),
        Binding("n,escape", "answer(False)", "No", show=False),
    ]

    def __init__(self, question: str, consequence: str, act: str, refusal: str = "Cancel") -> None:
        super().__init__()
        self._question = question
        self._consequence = consequence
        self._answers = (clean(act), clean(refusal))

    def compose(self) -> ComposeResult:
        hints = (("↑↓", "choose"), ("Enter", "confirm"), ("Esc", "cancel"))
        with self.frame(self._question, hints, id="confirm"):
            yield Static(Content(clean(self._consequence)))
            yield Rows(self._draw, count=2, choose_on_click=True, pointer=True)

    def _draw(self, index: int, width: int) -> Content:
        key = self._letter("yes", "y") if index == 0 else self._letter("no", "n")
        gap = " " * max(1, width - len(self._answers[index]) - len(key))
        return Content.assemble(self._answers[index], gap, (key, "$faint"))

    def _letter(self, answer: str, letter: str) -> str:
        """The key of an answer, as the settings have it."""
        return label_of(self.app, f"confirm-answer-{answer}", letter).split(",")[0]

    @on(Rows.Chosen)
    def _choose(self, event: Rows.Chosen) -> None:
        self.action_answer(event.index == 0)

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)
