"""A question of the agent, in the place of the prompt: choices, and room for another answer."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.events import Question
from agent_tui.core.text import clean, first_line, reveal
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.answered_by_keys import AnsweredByKeys
from agent_tui.ui.screens.dialogs.sheet import SHEET_SHEETS, Above, Sheet, SheetFrame
from agent_tui.ui.screens.dialogs.typed_answers import (
    ALLOW_HOLD_SECONDS,
    Draft,
    Dropped,
    TypedAnswers,
    Verdict,
    told_of_draft,
    told_of_sending,
)
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.prompt.line_input import LineInput

_OTHER = "Another answer …"
_HINTS = (
    "↑↓ choose · Enter answer · PgUp PgDn scroll · Esc skip",
    "Enter answer · PgUp PgDn scroll · Esc skip",
    "PgUp PgDn scroll · Esc skip",
)
_HINT_OF_LINE = "Enter answer · Esc back"


class _AnswerLine(LineInput):
    """The line of an answer: ``judge`` may keep a key from it that was meant for the prompt."""

    def __init__(self, judge: Callable[[events.Key], None]) -> None:
        super().__init__("Type your answer", id="question-line")
        self._judge = judge

    async def _on_key(self, event: events.Key) -> None:
        self._judge(event)


class QuestionScreen(Sheet[str], AnsweredByKeys[str]):
    """Shows one question and is dismissed with the answer; Esc leaves it unanswered.

    Args:
        question: what the agent asks.
        draft: the prompt behind the question: what is typed goes there, but for a lone digit.
        above: the conversation, which the question is about.
    """

    CSS_PATH = [*SHEET_SHEETS, stylesheet("screens/question.tcss")]
    AUTO_FOCUS = None
    BINDINGS = [Binding("escape", "back", "Leave unanswered", show=False)]

    def __init__(
        self,
        question: Question,
        *,
        draft: Draft | None = None,
        above: Above | None = None,
    ) -> None:
        super().__init__(draft, above)
        self.question = question
        self.text_pane = self._text = VerticalScroll(
            Static(Content(clean(question.text).strip())), id="question-text", can_focus=False
        )
        count = len(question.choices) + 1 if question.choices else 0
        self._rows = self._choices = Rows(self._draw_row, count=count, choose_on_click=True)
        self._judge = TypedAnswers(
            self.guard,
            {str(row + 1): row for row in range(count)},
            [ALLOW_HOLD_SECONDS] * count,
            lambda: bool(self._prompt.text),
        )
        self._line = _AnswerLine(self.on_key)

    def compose(self) -> ComposeResult:
        with SheetFrame(id="question") as box:
            box.border_title = Content("The agent asks")
            box.border_subtitle = Content(_HINTS[0])
            yield self._text
            yield self._choices
            yield self._line

    def _draw_row(self, index: int, width: int) -> Content:
        pointer = "\u276f " if index == self._choices.cursor else "  "
        is_other = index == len(self.question.choices)
        text = _OTHER if is_other else first_line(reveal(self.question.choices[index]), width)
        held = " …" if self._judge.is_holding and index == self._choices.cursor else ""
        number = (f"{index + 1} ", "$ok")
        return Content.assemble(
            (pointer, "bold $user"), number, (text, "$muted" * is_other), (held, "$faint")
        )

    def on_mount(self) -> None:
        self._show_draft()
        if self._choices.count:
            self._choices.styles.height = self._choices.count
            self._line.display = False
            self._choices.focus()
            self._show_draft()
        else:
            self._choices.display = False
            self._line.focus()

    def fit(self) -> None:
        super().fit()
        room = max(1, self.most_rows - 3 - max(1, self._choices.count))
        self._text.styles.max_height = room

    def on_resize(self) -> None:
        self._begin_guard()

    def on_screen_resume(self) -> None:
        self._begin_guard()

    def _begin_guard(self) -> None:
        self.guard.hide()
        self.call_after_refresh(lambda: self.guard.show(monotonic()))

    @property
    def _is_writing(self) -> bool:
        return self._line.has_focus

    def _hear(self, event: events.Key) -> Verdict:
        """Judge a key; where there is nothing to choose from, it may be meant for the line."""
        if self._choices.count:
            return super()._hear(event)
        character = event.character if event.is_printable else None
        verdict = self._judge.take_for_line(event.key, character, event.time, monotonic())
        if isinstance(verdict, Dropped) and event.key == "tab":
            self._go_to_line()
        return verdict

    def on_click(self, event: events.Click) -> None:
        """A click on the line is for the answer, as Tab is."""
        if event.widget is self._line:
            self._go_to_line()

    def _go_to_line(self) -> None:
        self._judge.go_to_line()
        self.query_one("#question").border_subtitle = Content(self._hint)

    def _send_prompt(self) -> None:
        sentence = told_of_sending(self._prompt)
        self.query_one("#question").border_subtitle = Content(sentence)

    def _show_draft(self) -> None:
        """Say where letters went while the prompt holds text."""
        width = self.columns + 2
        ways = "Esc skip" if self._choices.count else "Tab answer · Esc skip"
        words = told_of_draft(self._prompt, ways, width)
        self.query_one("#question").border_subtitle = Content(words or self._hint)

    @property
    def answer_keys(self) -> list[tuple[str, str]]:
        """The digits of the choices; the last one opens a line."""
        return [(f"1-{self._choices.count}", "Answer")] if self._choices.count else []

    @property
    def _hint(self) -> str:
        """The keys of the question, as many as its frame holds."""
        room = (self.query_one("#question").size.width or self.size.width - 6) - 4
        hints = _HINTS if self._choices.count else _HINTS[1:]
        return next((each for each in hints if len(each) <= room), hints[-1])

    @on(Rows.Chosen)
    def _take_choice(self, event: Rows.Chosen) -> None:
        event.stop()
        self._release()
        self.choose(event.index)

    def choose(self, index: int) -> None:
        """Answer with a choice; the last row opens a line for another answer."""
        if index < len(self.question.choices):
            self.dismiss(self.question.choices[index])
        elif index == len(self.question.choices) and self._choices.count:
            self._choices.cursor = index
            self._line.display = True
            self._line.focus()
            self.query_one("#question").border_subtitle = Content(_HINT_OF_LINE)

    @on(LineInput.Submitted)
    def _take_line(self, event: LineInput.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.dismiss(clean(event.value.strip()))

    def action_back(self) -> None:
        """Return from the line to the choices; otherwise leave the question unanswered."""
        if self._line.has_focus and self._choices.count:
            self._line.display = False
            self._choices.focus()
        else:
            self.dismiss("")
