"""A key that does more when it is pressed twice."""

from __future__ import annotations

import time


class SecondPress:
    """Tells the second press of a key from the first.

    Args:
        within_seconds: how soon the second must follow.
    """

    def __init__(self, within_seconds: float) -> None:
        self._within_seconds = within_seconds
        self._pressed_at = self._used_at = -within_seconds

    def use(self) -> None:
        """The key did something else: neither that press counts nor those that follow at once."""
        self._used_at = time.monotonic()

    def press(self) -> bool:
        """Note a press; whether it is the second of two."""
        now = time.monotonic()
        if now - self._used_at < self._within_seconds:
            self._used_at, self._pressed_at = now, -self._within_seconds
            return False
        is_second = now - self._pressed_at < self._within_seconds
        self._pressed_at = -self._within_seconds if is_second else now
        return is_second
