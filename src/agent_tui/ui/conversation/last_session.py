"""What the first screen offers to continue: the last session of the folder."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent_tui.core.format import format_since
from agent_tui.core.text import first_line
from agent_tui.runtime.starting.glimpse import read_last
from agent_tui.ui.widgets.panes.welcome import NOTHING, Suggestion

if TYPE_CHECKING:
    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.live_session import LiveSession


async def find_last(engine: Engine, session: LiveSession) -> Suggestion:
    """What continues the last session of this folder; nothing where the open one is the last."""
    last = await asyncio.to_thread(read_last, engine.launch)
    if last is None or last.session_id == session.session_id:
        return NOTHING
    title = first_line(last.title or last.first_prompt, 200) or "Untitled"
    since = format_since(last.updated_at)
    return Suggestion(f"Continue “{title}”", "sessions", last.session_id, since)
