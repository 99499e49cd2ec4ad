"""The rows of all sessions for a command that prints them: no engine is needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.core.summary import SessionSummary
from agent_tui.library.own_sessions import OwnSessions, listed
from agent_tui.library.row_cache import RowCache
from agent_tui.places import data_root
from agent_tui.sessions.store import SessionStore

if TYPE_CHECKING:
    from agent_tui.config import Settings


def list_rows(home: Path, others: Settings | None = None) -> list[SessionSummary]:
    """Every session below a home, newest first; with ``others``, other agents' too. Blocks.

    ``others`` are the settings, which are only read where they are needed.
    """
    rows = listed(OwnSessions(SessionStore(home), RowCache(home)).rows())
    if others is not None:
        from agent_tui.library.agent_sessions import AgentSessions
        from agent_tui.runtime.stored.agent_places import agent_places

        rows += AgentSessions(data_root(), agent_places(others)).rows()
        rows.sort(key=lambda row: row.updated_at, reverse=True)
    return rows


def encoded_rows(home: Path) -> list[bytes]:
    """The rows of ours as JSON, newest first. Blocks."""
    return OwnSessions(SessionStore(home), RowCache(home)).encoded_rows()
