"""A log that is only looked at: an archive, another agent's session, or a file by path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_tui.core.records import Record
from agent_tui.core.summary import CheckpointGlance
from agent_tui.runtime import history
from agent_tui.runtime.records_view import RecordsView
from agent_tui.sessions.replay import SessionState


@dataclass(frozen=True)
class BrowsedSession:
    """Records to look at, and what stands around them."""

    session_id: str
    title: str
    records: Sequence[Record]
    damaged: int
    token_count: int
    read_only: str = "opened read-only"

    @classmethod
    def of_state(cls, state: SessionState, title: str, session_id: str = "") -> BrowsedSession:
        """Wrap a replayed log."""
        return cls(
            session_id, title, RecordsView(state.entries), len(state.damaged), state.token_count
        )

    def checkpoints(self) -> list[CheckpointGlance]:
        """Every checkpoint, oldest first."""
        return history.list_checkpoints(self.records)
