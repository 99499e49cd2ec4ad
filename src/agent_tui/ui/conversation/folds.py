"""What was opened and folded in the open session: kept in a file for another time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agent_tui.core.errors import AgentTuiError
from agent_tui.runtime.starting.folds import read_folds, write_folds

if TYPE_CHECKING:
    from textual.screen import Screen

    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.holder import SessionHolder
    from agent_tui.ui.conversation.panes import Panes

_PAUSE_SECONDS = 0.4


class FoldKeeper:
    """Writes what the timeline shows open or folded; what comes quickly is written once.

    Args:
        screen: whose workers write.
        panes: where the timeline is.
        holder: the session that it shows.
    """

    def __init__(self, screen: Screen[Any], panes: Panes, holder: SessionHolder) -> None:
        self._screen = screen
        self._panes = panes
        self._holder = holder
        self._kept: Mapping[str, bool] | None = None
        self._read: Mapping[str, bool] | None = None

    def keep(self) -> None:
        """Write after a pause what is open and folded; a newer call ends the one before."""
        keep: Callable[[], Awaitable[None]] = self._keep
        self._screen.run_worker(keep, group="folds", exclusive=True, exit_on_error=False)

    async def _keep(self) -> None:
        await asyncio.sleep(_PAUSE_SECONDS)
        await self.keep_now()

    async def keep_now(self) -> None:
        """Write it at once if it changed; a disk that refuses it is no reason to interrupt."""
        session = self._holder.session
        if session is None or session.read_only or not self._panes.has_timeline:
            return
        folds = dict(self._panes.timeline.folds)
        if (folder := session.kept_in) is None or folds == self._kept:
            return
        self._kept = folds
        with suppress(AgentTuiError):
            await asyncio.to_thread(write_folds, folder, folds)

    async def change_session(self, session: LiveSession, *, is_shown: bool) -> None:
        """Another session will be shown: write what is kept of the one before, and read its own.

        ``is_shown``: its end is on the screen already; then, and where it is the same session, what
        is open there stays as it is.
        """
        await self.keep_now()
        before = self._holder.session
        if is_shown or (before is not None and before.session_id == session.session_id):
            return
        folder = session.kept_in
        self._read = {} if folder is None else await asyncio.to_thread(read_folds, folder)

    def take_up(self) -> None:
        """The session is about to be loaded: show open in it what was."""
        if self._read is not None:
            self._panes.timeline.remember_folds(self._read)
            self._kept, self._read = self._read, None
