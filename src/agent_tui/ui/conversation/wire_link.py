"""The link from the open session's wire to the view that shows what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.notices import Notices
    from agent_tui.ui.conversation.wire_view import WireView


class WireLink:
    """Connects a view to one session's wire at a time.

    Attributes:
        is_broken: whether the view failed: it hears nothing until it listens again.
    """

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._stop: Callable[[], None] | None = None
        self.is_broken = False

    def listen(self, session: LiveSession, view: WireView) -> None:
        """Listen to this session from now on, and to no other."""
        if self._stop is not None:
            self._stop()
        self.is_broken = False
        self._stop = session.subscribe(view.handle, self._break)

    def _break(self, failure: Exception) -> None:
        """An event could not be shown: the turn continues, and is shown from its log at its end."""
        self.is_broken = True
        reason = f"{type(failure).__name__}: {failure}"
        self._notices.failure(
            f"Internal error: {reason}. The turn continues; its result will be shown."
        )
