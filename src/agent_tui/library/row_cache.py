"""Rows of the session list kept in SQLite, each with the stamp of the file it was read from.

It is only a cache: it may be deleted at any time, and what cannot be kept is read again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from agent_tui.core.summary import OURS, SessionSummary

CACHE = "agent-sessions.sqlite"
_VERSION = 5
_TABLE = (
    "create table if not exists rows (source text, path text, key text, stamp text, updated text,"
    " session text, agent_of text, said int, row blob, primary key (source, path, key))"
    " without rowid;"
    "create index if not exists rows_by_time on rows (updated);"
    "create table if not exists counts (path text primary key, stamp text, messages int)"
    " without rowid"
)

RowId: TypeAlias = tuple[str, str, str]
"""Source, path and key of a session."""
Known: TypeAlias = dict[RowId, tuple[str, bytes]]
"""Rows by id: the stamp of the file, and the row as it is kept."""


class KeptRow(NamedTuple):
    """A row as it is kept, with what lists look at: ``row`` need not be taken apart for one.

    Attributes:
        path: of the file, or of the folder of a session of ours.
        stamp: of the file as it was read.
        is_said: whether anything was said in the session.
    """

    path: str
    stamp: str
    updated_at: str
    session_id: str
    agent_of: str
    is_said: bool
    row: bytes

    @classmethod
    def of(cls, path: str, stamp: str, row: SessionSummary) -> KeptRow:
        """A row that was just read."""
        about = (row.updated_at, row.session_id, row.agent_of, was_said(row))
        return cls(path, stamp, *about, encode_row(row))


def was_said(row: SessionSummary) -> bool:
    """Whether anything was said in a session of ours."""
    return bool(row.title or row.first_prompt or row.archives)


class RowCache:
    """The rows of one data folder. Methods block: call them in a thread.

    Args:
        folder: where the cache is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / CACHE

    def load_ours(self) -> dict[str, KeptRow]:
        """All rows of our sessions, by their folders."""
        found = self._ask(
            "select path, stamp, updated, session, agent_of, said, row from rows where source = ?",
            OURS,
        )
        return {row.path: row for row in map(KeptRow._make, found)}

    def load_others(self) -> Known:
        """All rows of other agents' sessions."""
        found = self._ask("select source, path, key, stamp, row from rows where source <> ?", OURS)
        return {(source, path, key): (stamp, row) for source, path, key, stamp, row in found}

    def newest(self, limit: int) -> list[SessionSummary]:
        """The rows that were last written to, of all agents, as they were when they were kept."""
        found = self._ask("select row from rows order by updated desc limit ?", limit)
        return [decode_row(row) for (row,) in found]

    def save(self, fresh: Iterable[tuple[RowId, KeptRow]], gone: Iterable[RowId] = ()) -> None:
        """Keep rows, and forget others."""
        lines = [(*name, *row[1:]) for name, row in fresh if _is_text(*name, *row[:5])]
        gone = list(gone)
        if not lines and not gone:
            return
        with suppress(OSError, sqlite3.Error), self._writing() as database:
            database.executemany("insert or replace into rows values (?,?,?,?,?,?,?,?,?)", lines)
            database.executemany("delete from rows where source = ? and path = ? and key = ?", gone)

    def count_of(self, path: str, stamp: str) -> int | None:
        """The messages of a session whose file has this stamp; None where they are not known."""
        found = self._ask("select messages, stamp from counts where path = ?", path)
        return next((messages for messages, kept in found if kept == stamp), None)

    def keep_count(self, path: str, stamp: str, messages: int) -> None:
        """Keep how many messages were counted in a file."""
        with suppress(OSError, sqlite3.Error, UnicodeEncodeError), self._writing() as database:
            row = (path, stamp, messages)
            database.execute("insert or replace into counts values (?,?,?)", row)

    def _ask(self, statement: str, value: object) -> list[tuple[Any, ...]]:
        if not self._path.exists():
            return []
        try:
            with closing(self._open()) as database:
                return database.execute(statement, (value,)).fetchall()
        except (sqlite3.Error, UnicodeEncodeError):
            return []

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.touch(mode=0o600)
        with closing(self._open()) as database, database:
            yield database

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, timeout=1)
        try:
            if database.execute("pragma user_version").fetchone() != (_VERSION,):
                database.executescript(
                    f"drop table if exists rows; drop table if exists counts; {_TABLE};"
                    f" pragma user_version = {_VERSION}"
                )
        except sqlite3.OperationalError:
            database.close()
            raise
        except sqlite3.DatabaseError:
            database.close()
            self._path.unlink(missing_ok=True)
            raise
        return database


def _is_text(*words: str) -> bool:
    """Whether all is Unicode: a name on disk may be any bytes, and SQLite keeps only text."""
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        return False
    return True


def encode_row(row: SessionSummary) -> bytes:
    """A row as the cache keeps it."""
    import msgspec

    try:
        return msgspec.json.encode(row)
    except UnicodeEncodeError:  # half a character, which only the slower way can write
        return json.dumps(asdict(row)).encode()


@cache
def _decoder() -> Any:
    import msgspec

    return msgspec.json.Decoder(SessionSummary).decode


def decode_row(row: bytes) -> SessionSummary:
    """A row that the cache kept."""
    import msgspec

    try:
        found: SessionSummary = _decoder()(row)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return SessionSummary(**json.loads(row))
    return found
