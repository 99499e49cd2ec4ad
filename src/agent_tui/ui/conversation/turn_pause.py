"""Waiting for the end of a turn, before anything that would delay its answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.core.events import Event
    from agent_tui.runtime.live_session import LiveSession

_PATIENCE_SECONDS = 3.0


async def wait_for_pause(session: LiveSession) -> None:
    """Wait until the running turn has ended, but not for long."""
    from agent_tui.core.events import TurnFinished

    ended = asyncio.Event()

    def hear(event: Event) -> None:
        if isinstance(event, TurnFinished):
            ended.set()

    stop = session.subscribe(hear)
    try:
        await asyncio.wait_for(ended.wait(), _PATIENCE_SECONDS)
    except TimeoutError:
        return
    finally:
        stop()
