"""Keeps what is typed and what waits in a file, a moment after it changed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from agent_tui.core.errors import AgentTuiError

if TYPE_CHECKING:
    from agent_tui.core.drafts import Drafts
    from agent_tui.runtime.live_session import LiveSession

_PAUSE_SECONDS = 0.4


class DraftKeeper:
    """Writes the newest drafts of a session; what comes quickly is written once."""

    def __init__(self) -> None:
        self._kept: Drafts | None = None

    async def take_up(self, session: LiveSession) -> Drafts:
        """Another session is on the screen: what was kept for it."""
        self._kept = await asyncio.to_thread(session.read_drafts)
        return self._kept

    async def keep(self, session: LiveSession, drafts: Drafts) -> None:
        """Write the drafts after a pause; run it so that a newer call ends the one before."""
        await asyncio.sleep(_PAUSE_SECONDS)
        await self.keep_now(session, drafts)

    async def keep_now(self, session: LiveSession, drafts: Drafts) -> None:
        """Write the drafts where they changed; a disk that refuses is no reason to disturb."""
        if drafts == self._kept or session.read_only:
            return
        self._kept = drafts
        with suppress(AgentTuiError):
            await session.keep_drafts(drafts)
