"""What the first screen offers to continue: the last session of the folder."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.core.format import format_since, format_tokens
from agent_tui.core.text import first_line
from agent_tui.runtime.starting.glimpse import read_last, read_last_count
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
    note = format_since(last.updated_at)
    if counted := await asyncio.to_thread(read_last_count, Path(last.folder)):
        tokens = format_tokens(counted.token_count, estimated=counted.estimated)
        note = f"{note} · {tokens} tokens"
    return Suggestion(f"Continue “{title}”", "sessions", last.session_id, note)
