"""Tells a key that answers a question from a letter of a sentence that somebody is typing.

A question that opens by itself may come up under the hands of a person who types. So a letter or
digit answers only alone: after a quiet moment, and with nothing typed behind it for another one,
longer for answers that allow more. All else that is typed belongs to the prompt, and while the
prompt holds text, letters answer nothing: arrows with Enter, a digit, Esc and the mouse do. Enter
alone sends the prompt then, as it does while no question is open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from rich.cells import cell_len, set_cell_size

from agent_tui.core.text import first_line, reveal
from agent_tui.ui.screens.dialogs.answer_guard import AnswerGuard

REJECT_HOLD_SECONDS = 0.3
ALLOW_HOLD_SECONDS = 0.6
WIDE_HOLD_SECONDS = 0.9
ENTER_PAUSE_SECONDS = 0.25
TICK_SECONDS = 0.05
_STILL_SECONDS = 0.2
BACKSPACE = "\b"
_TELLS_KEYS = "f1"
"""It answers nothing, so it need not wait."""
_TYPED_TO = "In the prompt: "
_DRAFT_CELLS, _LEAST_CELLS = 30, 4
_EDGES = 4


class Draft(Protocol):
    """The prompt behind a question, as far as typing continues in it."""

    @property
    def text(self) -> str:
        """What stands in it now."""
        ...

    def paste(self, text: str) -> None:
        """Insert a text as it is; it is not sent."""
        ...

    def erase(self) -> None:
        """Delete the character before the cursor."""
        ...

    def send(self) -> bool:
        """Send it, as Enter does; False where it stays, because a command waits for its turn."""
        ...


class NoDraft:
    """No prompt is behind the question: what is typed is dropped."""

    text = ""

    def paste(self, text: str) -> None:
        """Drop it."""

    def erase(self) -> None:
        """Do nothing."""

    def send(self) -> bool:
        """Send nothing."""
        return False


@dataclass(frozen=True, slots=True)
class Typed:
    """Text that belongs to the prompt; a backspace deletes from it."""

    text: str

    def put_into(self, draft: Draft) -> None:
        """Leave it to the prompt, where it was meant to go."""
        if self.text.endswith(BACKSPACE):
            draft.erase()
        else:
            draft.paste(self.text)


@dataclass(frozen=True, slots=True)
class Held:
    """An answer by its index, which is given once ``settle`` says so."""

    index: int


@dataclass(frozen=True, slots=True)
class Sent:
    """Enter that belongs to the prompt: what stands there is sent."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A key that counts for nothing; ``is_quick``: an Enter right behind another key."""

    is_quick: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """A key that does what it always does."""


Verdict: TypeAlias = Typed | Held | Sent | Dropped | Counts


def told_of_sending(draft: Draft) -> str:
    """Send a draft while a question is open; a sentence says what became of it."""
    if draft.send():
        return "Queued: the agent reads it after this answer"
    return "Commands wait: answer this first"


def told_of_draft(draft: Draft, ways: str, width: int) -> str:
    """Say that what is typed went to the prompt, how to delete it, and how to answer anyway."""
    rest = f" · Enter send · Backspace remove · {ways}"
    text = first_line(reveal(draft.text[-400:].replace("\n", " ")), 400)
    room = min(_DRAFT_CELLS, max(_LEAST_CELLS, width - _EDGES - len(_TYPED_TO) - len(rest)))
    end = text
    if cell_len(text) > room:
        end = f"…{set_cell_size(text[::-1], room - 1)[::-1]}"
    return f"{_TYPED_TO}{end}{rest}" if text else ""


class TypedAnswers:
    """Judges the keys pressed while a question is open, by the times when they were pressed.

    Args:
        guard: knows since when the question is on the screen.
        keys: the index of the answer that each letter or digit gives.
        holds: for how many seconds each answer is held back.
        has_draft: whether the prompt holds text.
    """

    def __init__(
        self,
        guard: AnswerGuard,
        keys: Mapping[str, int],
        holds: Sequence[float],
        has_draft: Callable[[], bool],
    ) -> None:
        self._guard = guard
        self._keys = keys
        self._holds = holds
        self._has_draft = has_draft
        self._held = ""
        self._due = self._ticked_at = 0.0
        self._has_moved = False
        self._last_at = -1.0

    @property
    def is_holding(self) -> bool:
        """Whether an answer waits for its moment to pass."""
        return bool(self._held)

    def release(self) -> None:
        """The held answer was given, or is not wanted any longer."""
        self._held = ""

    def take(self, key: str, character: str | None, made_at: float, now: float) -> Verdict:
        """Judge the next key; ``character`` is what it types, None for one that types nothing."""
        pause, self._last_at = made_at - self._last_at, made_at
        typed = BACKSPACE if key == "backspace" else character or ""
        if key == "escape":
            return self._refuse(made_at)
        if key == _TELLS_KEYS:
            return Counts()
        if not self._guard.accepts(made_at, now):
            if key == "enter" and not self._held and self._has_draft():
                return self._send(made_at)
            return self._type(typed, made_at) if typed else Dropped()
        if typed:
            return self._take_letter(typed, made_at, now)
        if key == "enter":
            return self._take_enter(pause, made_at)
        self._held = ""
        self._has_moved = True
        return Counts()

    def take_for_line(self, key: str, character: str | None, made_at: float, now: float) -> Verdict:
        """Judge the next key where an answer is written, not chosen.

        While the prompt holds text, letters belong there until somebody goes to the line.
        """
        if key == "escape":
            return self._refuse(made_at)
        counts = self._guard.accepts(made_at, now)
        typed = BACKSPACE if key == "backspace" else character or ""
        goes_to_prompt = self._has_draft() and not self._has_moved
        if counts and key == "tab":
            self.go_to_line()
            return Dropped()
        if key == "enter" and goes_to_prompt:
            return self._send(made_at)
        if typed and (goes_to_prompt or not counts):
            return self._type(typed, made_at)
        return Counts() if counts else Dropped()

    def go_to_line(self) -> None:
        """The person wants to write the answer: letters go to it, whatever the prompt holds."""
        self._has_moved = True

    def take_paste(self, text: str, made_at: float) -> Typed:
        """Judge pasted text: it is never an answer."""
        return self._type(text, made_at)

    def settle(self, now: float) -> bool:
        """Whether the held answer counts now; asked every ``TICK_SECONDS``.

        Where the program stood still, what was typed meanwhile is heard first.
        """
        pause, self._ticked_at = now - self._ticked_at, now
        if pause > _STILL_SECONDS:
            self._due = max(self._due, now + TICK_SECONDS)
        return bool(self._held) and now >= self._due

    def _refuse(self, made_at: float) -> Counts | Dropped:
        """Esc refuses, whatever was held, as soon as the question can have been seen."""
        if not self._guard.accepts_refusal(made_at):
            return Dropped()
        self._held = ""
        return Counts()

    def _take_letter(self, typed: str, made_at: float, now: float) -> Verdict:
        index = self._keys.get(typed)
        is_letter = not typed.isdecimal()
        if self._held or index is None or (is_letter and self._has_draft()):
            return self._type(typed, made_at)
        self._held, self._ticked_at = typed, now
        self._due = made_at + self._holds[index]
        return Held(index)

    def _type(self, typed: str, made_at: float) -> Typed:
        """Give a character to the prompt, with the held letter that was taken for an answer."""
        before, self._held = self._held, ""
        self._guard.wait_again(made_at)
        self._has_moved = False
        return Typed(before + typed)

    def _take_enter(self, pause: float, made_at: float) -> Verdict:
        """Enter gives the answer under the cursor, if the person moved there."""
        if self._has_draft() and not self._has_moved and not self._held:
            return self._send(made_at)
        if self._held or pause < ENTER_PAUSE_SECONDS:
            return Dropped(is_quick=not self._held)
        return Counts()

    def _send(self, made_at: float) -> Sent:
        """It ends what was typed; pressed twice, it is no answer either."""
        self._guard.wait_again(made_at)
        self._has_moved = False
        return Sent()
