"""A question of the agent, in the place of the prompt: choices, and room for another answer."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agent_tui.core.events import Question
from agent_tui.core.text import clean, first_line, reveal
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.answer_guard import (
    GUARD_SECONDS,
    TYPING_GUARD_SECONDS,
    AnswerGuard,
)
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.prompt.line_input import LineInput

_OTHER = "Another answer …"


class QuestionScreen(ModalScreen[str]):
    """Shows one question and is dismissed with the answer; Esc leaves it unanswered.

    Args:
        question: what the agent asks.
        typing: a prompt is being written: the next keys are probably meant for it.
        on_typed: is given the letters that came before the question could be read.
        on_scroll: scrolls the conversation above by so many rows.
    """

    CSS_PATH = [
        stylesheet("widgets/rows.tcss"),
        stylesheet("widgets/line_input.tcss"),
        stylesheet("screens/question.tcss"),
    ]
    AUTO_FOCUS = None
    BINDINGS = [
        *(Binding(str(number), f"choose({number - 1})", show=False) for number in range(1, 10)),
        Binding("escape", "back", "Skip the question", show=False),
        Binding("ctrl+up,shift+pageup", "scroll_above(-1)", "Scroll up", show=False),
        Binding("ctrl+down,shift+pagedown", "scroll_above(1)", "Scroll down", show=False),
        Binding("pageup", "scroll_text(-1)", "Scroll", show=False, priority=True),
        Binding("pagedown", "scroll_text(1)", "Scroll", show=False, priority=True),
    ]

    def __init__(
        self,
        question: Question,
        *,
        typing: bool = False,
        on_typed: Callable[[str], None] | None = None,
        on_scroll: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__()
        self.question = question
        self.guard = AnswerGuard(TYPING_GUARD_SECONDS if typing else GUARD_SECONDS)
        self._on_typed = on_typed
        self._on_scroll = on_scroll
        self._press_counts = False
        self._text = VerticalScroll(
            Static(Content(clean(question.text).strip())), id="question-text", can_focus=False
        )
        count = len(question.choices) + 1 if question.choices else 0
        self._choices = Rows(self._draw_row, count=count, choose_on_click=True)
        self._line = LineInput("Type your answer", id="question-line")

    def compose(self) -> ComposeResult:
        with Vertical(id="question") as box:
            box.border_title = Content("The agent asks")
            box.border_subtitle = Content("Enter answers · Esc skips")
            yield self._text
            yield self._choices
            yield self._line

    def _draw_row(self, index: int, width: int) -> Content:
        pointer = "▸ " if index == self._choices.cursor else "  "
        is_other = index == len(self.question.choices)
        text = _OTHER if is_other else first_line(reveal(self.question.choices[index]), width)
        return Content.assemble(pointer, (f"{index + 1} ", "$ok"), (text, "$muted" * is_other))

    def on_mount(self) -> None:
        if self._choices.count:
            self._choices.styles.height = self._choices.count
            self._line.display = False
            self._choices.focus()
        else:
            self._choices.display = False
            self._line.focus()

    def on_resize(self) -> None:
        self.guard.hide()
        room = max(1, self.size.height - 3 - self._choices.count)
        self._text.styles.max_height = room
        self.call_after_refresh(lambda: self.guard.show(monotonic()))

    def on_key(self, event: events.Key) -> None:
        """Drop a key that came too early; a letter goes to the prompt, which it was meant for."""
        is_other = self._line.has_focus and self._choices.count > 0
        if is_other or self.guard.accepts(event.time, monotonic()):
            return
        event.stop()
        event.prevent_default()
        if self._on_typed is not None and event.is_printable and event.character:
            self._on_typed(event.character)

    def _forward_event(self, event: events.Event) -> None:
        """Drop clicks that came too early; a click is as old as the press that it ends."""
        if isinstance(event, events.MouseDown):
            self._press_counts = self.guard.accepts(event.time, monotonic())
        elif isinstance(event, events.Click) and not self._press_counts:
            return
        super()._forward_event(event)

    @on(Rows.Chosen)
    def _take_choice(self, event: Rows.Chosen) -> None:
        event.stop()
        self.action_choose(event.index)

    def action_choose(self, index: int) -> None:
        """Answer with a choice; the last row opens a line for another answer."""
        if index < len(self.question.choices):
            self.dismiss(self.question.choices[index])
        elif index == len(self.question.choices) and self._choices.count:
            self._choices.cursor = index
            self._line.display = True
            self._line.focus()

    @on(LineInput.Submitted)
    def _take_line(self, event: LineInput.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.dismiss(clean(event.value.strip()))

    def action_back(self) -> None:
        """From the line back to the choices; else leave the question unanswered."""
        if self._line.has_focus and self._choices.count:
            self._line.display = False
            self._choices.focus()
        else:
            self.dismiss("")

    def action_scroll_above(self, direction: int) -> None:
        """Scroll the conversation that the question is about."""
        if self._on_scroll is not None:
            self._on_scroll(direction * max(1, self.size.height // 2))

    def action_scroll_text(self, direction: int) -> None:
        """Scroll a question that is longer than its room."""
        self._text.scroll_relative(y=direction * max(1, self._text.size.height - 1), animate=False)
