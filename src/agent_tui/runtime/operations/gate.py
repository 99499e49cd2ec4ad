"""One operation at a time: what changes a session waits its turn, or is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_tui.core.errors import SessionError, SessionReadOnly
from agent_tui.sessions.lock import name_window
from agent_tui.sessions.session_log import SessionLog


class Gate:
    """Guards the log of one open session.

    Attributes:
        busy: whether a turn, or a command of the user, is running.
        reviewing: whether the turn that runs waits while a person looks at its compaction.
    """

    def __init__(self, log: SessionLog) -> None:
        self._log = log
        self._lock = asyncio.Lock()
        self.busy = False
        self.reviewing = False

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold the log alone: it is as the operation before left it.

        Raises:
            SessionReadOnly: the session cannot be written now.
            SessionError: a turn is running.
        """
        self.require_idle()
        async with self._lock:
            self.require_idle()
            yield

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Run a turn or a command; until its end, ``alone`` refuses everything else."""
        async with self.alone():
            self.busy = True
        try:
            yield
        finally:
            self.busy = False

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Hold the log alone, or while the turn that needs it waits for a review."""
        self.require_pause()
        async with self._lock:
            yield

    def require_writable(self) -> None:
        """Raise SessionReadOnly where the session cannot be written now."""
        if self._log.read_only:
            why = name_window(self._log.read_only, self._log.folder)
            raise SessionReadOnly(f"This session is read-only here: {why.rstrip('.')}.")

    def require_idle(self) -> None:
        """Raise SessionError while a turn is running."""
        self.require_writable()
        if self.busy:
            raise SessionError(
                "A turn is running: send a message to steer it, or interrupt it first."
            )

    def require_pause(self) -> None:
        """Raise SessionError while a turn is running that does not wait for a review."""
        self.require_writable()
        if not self.reviewing:
            self.require_idle()
