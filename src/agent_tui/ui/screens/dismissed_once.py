"""A screen that closes once, however often it is asked to."""

from __future__ import annotations

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import Screen

Result = TypeVar("Result")


class DismissedOnce(Screen[Result]):
    """Ignores a second dismissal: two keys may arrive before the first has closed it."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close it with an answer; where it is not on top, or was closed before, nothing.

        What is on top by then is what would be closed.
        """
        return super().dismiss(result) if self.is_active else AwaitComplete()
