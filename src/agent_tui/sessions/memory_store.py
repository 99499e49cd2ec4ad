"""The store of a run that writes nothing: new sessions are in memory, those on disk only read."""

from __future__ import annotations

from pathlib import Path

from agent_tui.core.errors import SessionError
from agent_tui.core.records import SessionHeader
from agent_tui.sessions.memory_log import MemoryLog
from agent_tui.sessions.session_log import ForkPoint, SessionLog
from agent_tui.sessions.store import SessionStore

_WRITES_NOTHING = "this run writes nothing (--ephemeral)"


class MemoryStore(SessionStore):
    """Every session of a data folder, read-only, and new ones that leave no trace in it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._logs: dict[str, MemoryLog] = {}

    async def create(self, header: SessionHeader) -> SessionLog:
        """Begin a session in memory."""
        log = self._logs[header.session_id] = MemoryLog(header)
        return log

    def find(self, session_id: str) -> Path:
        """The folder of a session; one that does not exist for a session in memory."""
        held = self._logs.get(session_id)
        return held.folder if held is not None else super().find(session_id)

    async def open_folder(self, folder: Path, read_only: str = "") -> SessionLog:
        """Open a session of this run, or one on disk for reading only."""
        held = self._logs.get(folder.name)
        return held if held is not None else await super().open_folder(folder, _WRITES_NOTHING)

    async def fork(self, path: Path, upto: ForkPoint, header: SessionHeader) -> SessionLog:
        """Refused: a fork is a session on disk."""
        raise SessionError("Nothing can be forked here: " + _WRITES_NOTHING + ".")

    async def discard(self, session_id: str) -> None:
        """Forget a session in which nothing was ever said."""
        self._logs.pop(session_id, None)
