"""When a server that ended is started again: later from time to time, and not forever."""

from __future__ import annotations

_FIRST_SECONDS = 1.0
_LONGEST_SECONDS = 30.0
_STABLE_SECONDS = 60.0


class Restarts:
    """The restarts of one server.

    Attributes:
        most: how many there may be in a row.
        count: how many there were in a row.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = 0

    def next_wait(self, ready_seconds: float | None) -> float | None:
        """How many seconds to wait for the next start; None for no more.

        Args:
            ready_seconds: how long it was ready before it ended; None where it never was. One
                that has never been ready needs a person.
        """
        if ready_seconds is None and not self.count:
            return None
        if ready_seconds is not None and ready_seconds >= _STABLE_SECONDS:
            self.count = 0
        if self.count >= self.most:
            return None
        self.count += 1
        return float(min(_LONGEST_SECONDS, _FIRST_SECONDS * 2 ** (self.count - 1)))

    @property
    def words(self) -> str:
        """Which restart this is, such as ``2/3``."""
        return f"{self.count}/{self.most}"
