"""The title of a session on disk, and writing it into its log."""

from __future__ import annotations

from agent_tui.agent.settle import settle
from agent_tui.core.records import TitleRecord
from agent_tui.core.text import first_line
from agent_tui.history.records.checkpoints import first_prompt
from agent_tui.history.records.records_view import RecordsView
from agent_tui.sessions.replay import SessionState
from agent_tui.sessions.store import Durability, SessionLog

_LONGEST_TITLE = 200


async def rename_log(log: SessionLog, title: str) -> None:
    """Name the session of a log, so that it can be undone."""
    title, before = first_line(title, _LONGEST_TITLE), log.state.title
    if title != before:
        await settle(log.append(TitleRecord(title, before), durability=Durability.D1))


async def name_copy(log: SessionLog, title: str) -> None:
    """Give a session that was just made of another one its name, and close it."""
    try:
        await log.append(TitleRecord(title), durability=Durability.D1)
    finally:
        await log.close()


def title_of(state: SessionState) -> str:
    """What a session is called: its name, else its first prompt."""
    return state.title or first_prompt(RecordsView(state.entries)) or "New session"
