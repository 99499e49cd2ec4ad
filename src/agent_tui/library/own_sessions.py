"""Our sessions as rows of the list; a log that has not changed is not read again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.summary import OURS, SessionSummary
from agent_tui.library.row_cache import (
    KeptRow,
    RowCache,
    RowId,
    decode_row,
    encode_row,
    was_said,
)
from agent_tui.sessions.archive import LIVE
from agent_tui.sessions.folders import folders_of_projects, may_hold_log
from agent_tui.sessions.lineage import SESSION_ID
from agent_tui.sessions.session_summary import read_session_summary
from agent_tui.sessions.store import SessionStore

_KEPT_AT_ONCE = 2_000


class OwnSessions:
    """Lists what the store holds. Methods block: call them in a thread.

    Args:
        store: the sessions.
        rows: where what was read of them is kept.
    """

    def __init__(self, store: SessionStore, rows: RowCache) -> None:
        self._store = store
        self._cache = rows

    def newest(self, limit: int) -> list[SessionSummary]:
        """Some of the sessions that were last used, at once: from the cache, or else by name.

        A new session's id begins with its time, so that the last names are the newest.
        """
        kept = [row for row in self._cache.newest(limit) if row.source == OURS]
        if kept:
            return [row for row in kept if os.path.lexists(f"{row.folder}/{LIVE}")]
        names = ((name, project) for project, name in _session_names(self._store.projects))
        last = sorted(names, reverse=True)[:limit]
        return [read_session_summary(Path(project, name)) for name, project in last]

    def rows(self, told: Callable[[SessionSummary], None] | None = None) -> list[SessionSummary]:
        """Every session, newest first, as the store lists them; ``told`` hears of each at once."""
        reading = _Reading(self._cache, told)
        try:
            return self._store.list(reading.read)
        finally:
            reading.keep()

    def encoded_rows(self) -> list[bytes]:
        """The rows that are listed, as JSON; what the cache holds is not even taken apart."""
        unlisted: dict[Path, AgentTuiError] = {}
        folders = list(folders_of_projects(self._store.projects, unlisted))
        if unlisted or _same_id(folders):  # their titles say so
            return list(map(encode_row, listed(self.rows())))
        reading = _Reading(self._cache)
        try:
            rows = [row for folder in folders if (row := reading.find(folder)) is not None]
        finally:
            reading.keep()
        known = {row.session_id for row in rows}
        rows = [row for row in rows if row.is_said and row.agent_of not in known]
        rows.sort(key=lambda row: row.updated_at, reverse=True)
        return [row.row for row in rows]


def _same_id(folders: Sequence[str]) -> bool:
    """Whether an id would open another folder than its own, or none."""
    names = [folder.rpartition("/")[2] for folder in folders]
    return len(set(names)) < len(names) or not all(map(SESSION_ID.fullmatch, names))


def listed(rows: list[SessionSummary]) -> list[SessionSummary]:
    """Those in which something was said, without the subagents of those that are there."""
    known = {row.session_id for row in rows}
    said = filter(was_said, rows)
    return [row for row in said if row.agent_of not in known]


class _Reading:
    """One reading of all logs: what the cache knows is taken from there."""

    def __init__(
        self, rows: RowCache, told: Callable[[SessionSummary], None] | None = None
    ) -> None:
        self._cache, self._told = rows, told
        self._known = rows.load_ours()
        self._fresh: list[tuple[RowId, KeptRow]] = []

    def read(self, folder: str) -> SessionSummary | None:
        """The row of a session's folder; None where it holds no log."""
        kept = self.find(folder)
        if kept is None:
            return None
        row = decode_row(kept.row)
        if self._told is not None:
            self._told(row)
        return row

    def find(self, folder: str) -> KeptRow | None:
        """The same as it is kept."""
        stamp = _stamp_of(folder)
        if not stamp and not may_hold_log(folder):
            return None
        kept = self._known.pop(folder, None)
        if kept is not None and stamp and kept.stamp == stamp:
            return kept
        kept = KeptRow.of(folder, stamp, read_session_summary(Path(folder)))
        if stamp:
            self._fresh.append(((OURS, folder, ""), kept))
        if len(self._fresh) >= _KEPT_AT_ONCE:
            self._cache.save(self._fresh)  # who reads may be stopped
            self._fresh = []
        return kept

    def keep(self) -> None:
        """Keep what was read, and forget what is there no longer."""
        self._cache.save(self._fresh, [(OURS, folder, "") for folder in self._known])


def _stamp_of(folder: str) -> str:
    """What changes when a log is written, or an archive comes or goes; empty where neither is."""
    try:
        log, around = os.lstat(f"{folder}/{LIVE}"), os.lstat(folder)
    except OSError:
        return ""
    return f"{log.st_size} {log.st_mtime_ns} {log.st_ino} {around.st_mtime_ns}"


def _session_names(projects: Path) -> list[tuple[str, str]]:
    """The folders of all projects, without a look into them."""
    found = []
    for project in _names_in(str(projects)):
        path = f"{projects}/{project}"
        found += [(path, name) for name in _names_in(path)]
    return found


def _names_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []
