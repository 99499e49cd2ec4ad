"""A question whose yes widens what the agent may do: it defaults to no and ignores early keys."""

from __future__ import annotations

from time import monotonic

from textual import events
from textual.keys import key_to_character

from agent_tui.ui.screens.dialogs.answer_guard import AnswerGuard
from agent_tui.ui.screens.dialogs.answered_by_keys import AnsweredByKeys
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.typed_answers import (
    REJECT_HOLD_SECONDS,
    WIDE_HOLD_SECONDS,
    Draft,
    NoDraft,
    Typed,
    TypedAnswers,
)
from agent_tui.ui.widgets.lists.rows import Rows


class GrantScreen(ConfirmScreen, AnsweredByKeys[bool]):
    """Is dismissed with True where it is granted; Esc and Enter grant nothing.

    Args:
        question: a short question.
        consequence: what is granted.
        act: the word on the answer that grants it.
        refusal: the word on the other answer.
        draft: the prompt behind the question: what is typed goes there.
    """

    def __init__(
        self, question: str, consequence: str, act: str, refusal: str, draft: Draft | None = None
    ) -> None:
        super().__init__(question, consequence, act, refusal)
        self._guard = AnswerGuard()
        self._prompt = draft or NoDraft()
        self._letters: dict[str, int] = {}
        self._judge = TypedAnswers(
            self._guard,
            self._letters,
            (WIDE_HOLD_SECONDS, REJECT_HOLD_SECONDS),
            lambda: bool(self._prompt.text),
        )
        self._press_counts = False

    def on_mount(self) -> None:
        self._rows = self.query_one(Rows)
        self._rows.cursor = 1
        for row, (answer, own) in enumerate((("yes", "y"), ("no", "n"))):
            chosen = self.app._keymap.get(f"confirm-answer-{answer}", own)
            self._letters |= dict.fromkeys(map(_typed_by, chosen.split(",")), row)
        self.call_after_refresh(lambda: self._guard.show(monotonic()))

    def choose(self, index: int) -> None:
        """Grant it, or refuse it."""
        self.action_answer(index == 0)

    def _leave_to_prompt(self, typed: Typed) -> None:
        self._rows.cursor = 1
        super()._leave_to_prompt(typed)

    def _forward_event(self, event: events.Event) -> None:
        if isinstance(event, events.MouseDown):
            self._press_counts = self._guard.accepts(event.time, monotonic())
        elif isinstance(event, events.Click) and not self._press_counts:
            return
        super()._forward_event(event)


def _typed_by(key: str) -> str:
    """What a key of the settings types; a key that types nothing has its name, which is none."""
    return key_to_character(key) or key
