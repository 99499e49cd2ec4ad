"""Waiting until a turn has said something, before anything that would delay its request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.core.events import Event
    from agent_tui.runtime.live_session import LiveSession

_PATIENCE_SECONDS = 3.0


async def first_words(session: LiveSession) -> None:
    """Wait until the running turn has said or done something, but not for long.

    Until then its request is being made: whatever else is done meanwhile delays the answer.
    """
    from agent_tui.core.events import (
        StepInterrupted,
        StepRetried,
        TextDelta,
        ThinkDelta,
        ToolCallBegan,
        TurnFinished,
    )

    words = TextDelta | ThinkDelta | ToolCallBegan | StepRetried | StepInterrupted | TurnFinished
    begun = asyncio.Event()

    def hear(event: Event) -> None:
        if isinstance(event, words):
            begun.set()

    stop = session.subscribe(hear)
    try:
        await asyncio.wait_for(begun.wait(), _PATIENCE_SECONDS)
    except TimeoutError:
        return
    finally:
        stop()
