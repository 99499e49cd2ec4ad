"""Which keys and clicks may answer a question: only those made after it was on the screen."""

from __future__ import annotations

import math

GUARD_SECONDS = 0.3
TYPING_GUARD_SECONDS = 1.2
LATE_SECONDS = 0.3


class AnswerGuard:
    """Judges input by the time when it was made, never by when the program got to it.

    Nothing counts before the question was painted and for a moment after; nor does what waited
    while the program was busy, for it was typed at a frozen screen.
    """

    def __init__(self, seconds: float = GUARD_SECONDS) -> None:
        self._seconds = seconds
        self._opens_at = math.inf

    @property
    def is_hidden(self) -> bool:
        """Whether the question is not on the screen as it is now."""
        return self._opens_at == math.inf

    def hide(self) -> None:
        """The question is not on the screen, or not whole: nothing counts until it is shown."""
        self._opens_at = math.inf

    def show(self, now: float) -> None:
        """The question has just been painted."""
        self._opens_at = now + self._seconds

    def accepts(self, made_at: float, now: float) -> bool:
        """Whether input made at ``made_at`` counts; input that does not starts the wait again."""
        if made_at >= self._opens_at and now - made_at < LATE_SECONDS:
            return True
        if not self.is_hidden:
            self._opens_at = max(self._opens_at, made_at + self._seconds)
        return False

    def accepts_refusal(self, made_at: float) -> bool:
        """Whether a key that only refuses counts; an early one does not prolong the wait.

        It allows nothing, so neither a slow machine nor a hasty key may keep a person from leaving.
        """
        return made_at >= self._opens_at

    def wait_again(self, made_at: float) -> None:
        """Somebody is typing: nothing counts until they have paused."""
        if not self.is_hidden:
            self._opens_at = max(self._opens_at, made_at + TYPING_GUARD_SECONDS)
