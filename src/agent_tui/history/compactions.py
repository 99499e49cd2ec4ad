"""The compactions that a session went through, both sides of each; everything reads the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from agent_tui.context.compaction.compaction import view_past
from agent_tui.core.errors import AgentTuiError, SessionError
from agent_tui.core.records import CompactionRecord, Message
from agent_tui.core.summary import CompactionView
from agent_tui.sessions.index import LogIndex
from agent_tui.sessions.replay import Entry, SessionState, read_log
from agent_tui.sessions.store import SessionLog


def list_compactions(log: SessionLog) -> list[tuple[int, CompactionRecord]]:
    """Every compaction, undone ones too: its archive and its record, newest first."""
    found = {record.archive: record for record in log.state.compactions}
    for path in log.archive_files().values():
        for record in _compactions_in(path):
            found.setdefault(record.archive, record)
    return sorted(found.items(), reverse=True)


def _compactions_in(path: Path) -> Iterator[CompactionRecord]:
    """The compactions of one log, without parsing anything else of it."""
    try:
        index = LogIndex(path)
        index.grow()
        for line in index.lines_of("_compaction"):
            for item in index.read(line, line + 1):
                if isinstance(item, Entry) and isinstance(item.record, CompactionRecord):
                    yield item.record
    except AgentTuiError:
        return  # an archive that cannot be read now, or went meanwhile, hides no other


def view_compaction(
    log: SessionLog, archive: int, count: Callable[[Message], int]
) -> CompactionView:
    """Both sides of the compaction that made an archive; raises UnknownArchive, SessionError."""
    before = log.read_archive(archive)
    after = _state_after(log, archive)
    return view_past(
        [entry.record for entry in before.entries],
        [entry.record for entry in after.entries],
        count,
    )


def _state_after(log: SessionLog, archive: int) -> SessionState:
    """The log that follows the compaction into ``archive``: live, or since archived."""
    if any(record.archive == archive for record in log.state.compactions):
        return log.state
    for number, path in sorted(log.archive_files().items()):
        if number > archive and any(record.archive == archive for record in _compactions_in(path)):
            return read_log(path)
    raise SessionError(f"No log of this session begins with the compaction of archive {archive}.")
