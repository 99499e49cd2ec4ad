"""What every guarded question does with a key: it answers, or belongs to the prompt behind."""

from __future__ import annotations

from abc import abstractmethod
from time import monotonic
from typing import TypeVar, assert_never

from textual import events
from textual.screen import Screen

from agent_tui.ui.screens.dialogs.typed_answers import (
    TICK_SECONDS,
    Counts,
    Draft,
    Dropped,
    Held,
    Sent,
    Typed,
    TypedAnswers,
    Verdict,
)
from agent_tui.ui.widgets.lists.rows import Rows

Result = TypeVar("Result")

_TOO_QUICK = "Too quick to be an answer: press Enter again"


class AnsweredByKeys(Screen[Result]):
    """A question whose answers are rows; a letter or digit gives one, once it is known to be meant.

    A question has its rows, its prompt and its judge before the first key.
    """

    _rows: Rows
    _prompt: Draft
    _judge: TypedAnswers
    _was_too_quick = False

    def on_mount(self) -> None:
        self._ticking = self.set_interval(TICK_SECONDS, self._tick, pause=True)

    @abstractmethod
    def choose(self, index: int) -> None:
        """Give the answer of a row."""

    def tell(self, sentence: str) -> None:
        """Show a sentence in place of the key hints, where there is room to say it."""

    @property
    def _is_writing(self) -> bool:
        """Whether an answer is written in a line, which takes the keys."""
        return False

    def on_key(self, event: events.Key) -> None:
        """Take an answer, or pass on to the prompt what was meant for it."""
        verdict = self._hear(event)
        if self._was_too_quick:
            self._was_too_quick = False
            self._show_draft()
        if isinstance(verdict, Counts):
            return
        event.stop()
        event.prevent_default()
        match verdict:
            case Typed():
                self._leave_to_prompt(verdict)
            case Held(index):
                self._hold(index)
                self._ticking.resume()
            case Sent():
                self._send_prompt()
            case Dropped(is_quick):
                self._was_too_quick = is_quick
                if is_quick:
                    self.tell(_TOO_QUICK)
            case _:
                assert_never(verdict)

    def _hear(self, event: events.Key) -> Verdict:
        if self._is_writing:
            return Counts()
        character = event.character if event.is_printable else None
        verdict = self._judge.take(event.key, character, event.time, monotonic())
        if isinstance(verdict, Counts):
            self._release()
        return verdict

    def on_paste(self, event: events.Paste) -> None:
        if not self._is_writing:
            event.stop()
            self._leave_to_prompt(self._judge.take_paste(event.text, event.time))

    def _leave_to_prompt(self, typed: Typed) -> None:
        """Put what was typed for the prompt there, and show that it is not lost."""
        self._release()
        typed.put_into(self._prompt)
        self._show_draft()

    def _hold(self, index: int) -> None:
        """Select an answer that is held for a moment."""
        self._rows.cursor = index
        self._rows.redraw()

    def _release(self) -> None:
        """No answer is held any more."""
        self._judge.release()
        self._rows.redraw()

    def _send_prompt(self) -> None:
        """Send what stands in the prompt, where it can be sent from here; the question stays."""

    def _show_draft(self) -> None:
        """Say where letters go while the prompt holds text, where there is room to say it."""

    def _tick(self) -> None:
        """Give the held answer once nothing was typed behind it."""
        if not self._judge.is_holding:
            self._ticking.pause()
        elif self._judge.settle(monotonic()):
            self._ticking.pause()
            self._release()
            self.choose(self._rows.cursor)
