"""A question whose yes widens what the agent may do: it stands on no, and hears nothing early."""

from __future__ import annotations

from time import monotonic
from typing import assert_never

from textual import events
from textual.keys import key_to_character

from agent_tui.ui.screens.dialogs.answer_guard import AnswerGuard
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.typed_answers import (
    REJECT_HOLD_SECONDS,
    TICK_SECONDS,
    WIDE_HOLD_SECONDS,
    Counts,
    Draft,
    Dropped,
    Held,
    NoDraft,
    Sent,
    Typed,
    TypedAnswers,
)
from agent_tui.ui.widgets.lists.rows import Rows


class GrantScreen(ConfirmScreen):
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
        self._ticking = self.set_interval(TICK_SECONDS, self._tick, pause=True)
        self.call_after_refresh(lambda: self._guard.show(monotonic()))

    def on_key(self, event: events.Key) -> None:
        """Take an answer, or leave to the prompt what was meant for it."""
        character = event.character if event.is_printable else None
        verdict = self._judge.take(event.key, character, event.time, monotonic())
        if isinstance(verdict, Counts):
            return
        event.stop()
        event.prevent_default()
        match verdict:
            case Typed():
                self._rows.cursor = 1
                verdict.put_into(self._prompt)
            case Held(index):
                self._rows.cursor = index
                self._ticking.resume()
            case Sent() | Dropped():
                pass
            case _:
                assert_never(verdict)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._judge.take_paste(event.text, event.time).put_into(self._prompt)

    def _tick(self) -> None:
        """Give the held answer once nothing was typed behind it."""
        if not self._judge.is_holding:
            self._ticking.pause()
        elif self._judge.settle(monotonic()):
            self._ticking.pause()
            self.action_answer(self._rows.cursor == 0)

    def _forward_event(self, event: events.Event) -> None:
        if isinstance(event, events.MouseDown):
            self._press_counts = self._guard.accepts(event.time, monotonic())
        elif isinstance(event, events.Click) and not self._press_counts:
            return
        super()._forward_event(event)


def _typed_by(key: str) -> str:
    """What a key of the settings types; a key that types nothing has its name, which is none."""
    return key_to_character(key) or key
