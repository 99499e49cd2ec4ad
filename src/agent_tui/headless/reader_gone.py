"""When nobody reads the output, the work ends, and the reason is raised where it began."""

from __future__ import annotations

import asyncio


class ReaderGone:
    """Cancels the task that it is made in once an event cannot be printed.

    Attributes:
        failure: why; None while everything can be printed.
    """

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self.failure: Exception | None = None

    def stop(self, failure: Exception) -> None:
        """End the work: what was being printed failed."""
        self.failure = self.failure or failure
        if self._task is not None:
            self._task.cancel()

    def check(self) -> None:
        """Raise the failure; call it where the cancellation arrives."""
        if self.failure is not None:
            raise self.failure
