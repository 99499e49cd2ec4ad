"""What is open: the engine once it has started, and the session once it was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.core.errors import UsageError

if TYPE_CHECKING:
    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.runtime.starting.working_folder import WorkingFolder


class SessionHolder:
    """Holds the engine and the open session for all who act on them."""

    def __init__(self) -> None:
        self.engine: Engine | None = None
        self.session: LiveSession | None = None

    @property
    def folder(self) -> WorkingFolder | None:
        """Where the open session works; until it is open, where it will; None at first."""
        open_first = self.session or self.engine
        return open_first.folder if open_first else None

    def require_engine(self) -> Engine:
        """The engine; raises UsageError while it is starting."""
        if self.engine is None:
            raise UsageError("agent-tui is still starting; try again in a moment.")
        return self.engine

    def require_session(self) -> LiveSession:
        """The open session; raises UsageError while none is open."""
        if self.session is None:
            raise UsageError("The session is still being opened; try again in a moment.")
        return self.session
