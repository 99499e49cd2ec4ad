"""The records of a session as if it had never been compacted."""

from __future__ import annotations

import mmap
from pathlib import Path

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.records import Record
from agent_tui.sessions.replay import SessionState
from agent_tui.sessions.session_log import SessionLog


def uncompacted_records(log: SessionLog, mark: bytes) -> list[Record]:
    """The messages of this branch, oldest first and each once, with what compactions took out.

    Reads the archives, which blocks, and only where one of them holds ``mark``. One that cannot be
    read hides no other.
    """
    states = [log.state]
    if log.state.compactions and any(_holds(path, mark) for path in log.archive_files().values()):
        states = _states_before(log)
    found: dict[str, Record] = {}
    for state in states:
        for entry in list(state.messages):
            found.setdefault(entry.record.stamp.uuid or f"no id {len(found)}", entry.record)
    return list(found.values())


def _states_before(log: SessionLog) -> list[SessionState]:
    """The logs that compactions replaced, and the one there is now; the oldest first."""
    states, seen = [log.state], set[int]()
    while compactions := [each for each in states[0].compactions if each.archive not in seen]:
        number = compactions[-1].archive
        seen.add(number)
        try:
            states.insert(0, log.read_archive(number))
        except AgentTuiError:
            break
    return states


def _holds(path: Path, mark: bytes) -> bool:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(mark) >= 0
    except (OSError, ValueError):  # it is gone, or empty
        return False
