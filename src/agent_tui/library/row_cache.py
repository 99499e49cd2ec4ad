"""Rows of the session list kept in SQLite, each with the stamp of the file it was read from.

It is only a cache: it may be deleted at any time, and what cannot be kept is read again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from agent_tui.core.summary import OURS, SessionSummary

CACHE = "agent-sessions.sqlite"
_VERSION = 2
_TABLE = (
    "create table if not exists rows (source text, path text, key text, stamp text, updated text,"
    " row blob, primary key (source, path, key)) without rowid;"
    "create index if not exists rows_by_time on rows (updated)"
)

RowId: TypeAlias = tuple[str, str, str]
"""Source, path and key of a session."""
Known: TypeAlias = dict[RowId, tuple[str, bytes]]
"""Rows by id: the stamp of the file, and the row as it is kept."""


class RowCache:
    """The rows of one data folder. Methods block: call them in a thread.

    Args:
        folder: where the cache is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / CACHE

    def load(self, *, ours: bool) -> Known:
        """All rows of our sessions, or all of other agents'."""
        which = "=" if ours else "<>"
        statement = f"select source, path, key, stamp, row from rows where source {which} ?"
        found = self._ask(statement, OURS)
        return {(source, path, key): (stamp, row) for source, path, key, stamp, row in found}

    def newest(self, limit: int) -> list[SessionSummary]:
        """The rows that were last written to, of all agents, as they were when they were kept."""
        found = self._ask("select row from rows order by updated desc limit ?", limit)
        return [decode_row(row) for (row,) in found]

    def save(
        self, fresh: Iterable[tuple[RowId, str, SessionSummary]], gone: Iterable[RowId] = ()
    ) -> None:
        """Keep rows, and forget others."""
        lines = [(*name, stamp, row.updated_at, encode_row(row)) for name, stamp, row in fresh]
        gone = list(gone)
        if not lines and not gone:
            return
        with suppress(OSError, sqlite3.Error):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
            with closing(self._open()) as database, database:
                database.executemany("insert or replace into rows values (?,?,?,?,?,?)", lines)
                database.executemany(
                    "delete from rows where source = ? and path = ? and key = ?", gone
                )

    def _ask(self, statement: str, value: object) -> list[tuple[Any, ...]]:
        if not self._path.exists():
            return []
        try:
            with closing(self._open()) as database:
                return database.execute(statement, (value,)).fetchall()
        except sqlite3.Error:
            return []

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, timeout=1)
        try:
            if database.execute("pragma user_version").fetchone() != (_VERSION,):
                database.executescript(
                    f"drop table if exists rows; {_TABLE}; pragma user_version = {_VERSION}"
                )
        except sqlite3.OperationalError:
            database.close()
            raise
        except sqlite3.DatabaseError:
            database.close()
            self._path.unlink(missing_ok=True)
            raise
        return database


def encode_row(row: SessionSummary) -> bytes:
    """A row as the cache keeps it."""
    import msgspec

    return msgspec.json.encode(row)


@cache
def _decoder() -> Any:
    import msgspec

    return msgspec.json.Decoder(SessionSummary).decode


def decode_row(row: bytes) -> SessionSummary:
    """A row that the cache kept."""
    found: SessionSummary = _decoder()(row)
    return found
