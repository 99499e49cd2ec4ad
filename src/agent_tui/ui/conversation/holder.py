"""What is open: the engine once it has started, and the session once it was read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent_tui.core.errors import UsageError

if TYPE_CHECKING:
    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.runtime.starting.working_folder import WorkingFolder


class NotBegunError(UsageError):
    """The program is still starting."""


class SessionHolder:
    """Holds the engine and the open session for all who act on them.

    Attributes:
        has_begun: set when the program has started, or has failed to.
    """

    def __init__(self) -> None:
        self.engine: Engine | None = None
        self.session: LiveSession | None = None
        self.has_begun = asyncio.Event()

    @property
    def folder(self) -> WorkingFolder | None:
        """Where the open session works; until it is open, where it will; None at first."""
        open_first = self.session or self.engine
        return open_first.folder if open_first else None

    def require_engine(self) -> Engine:
        """The engine; raises NotBegunError while it is starting."""
        if self.engine is None:
            raise NotBegunError("agent-tui is still starting; try again in a moment.")
        return self.engine

    def require_session(self) -> LiveSession:
        """The open session; raises NotBegunError while none is open."""
        if self.session is None:
            raise NotBegunError("The session is still being opened; try again in a moment.")
        return self.session
