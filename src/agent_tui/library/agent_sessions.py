"""The sessions of other agents as rows of the list; what has not changed comes from a cache.

The cache may be deleted at any time: it is made again. A row is read anew when its file's size,
modification time or inode differ from what they were.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

from agent_tui.core.summary import SessionSummary
from agent_tui.importers.importer import Places, SessionRef
from agent_tui.importers.registry import discover, summarise

CACHE = "agent-sessions.sqlite"
_VERSION = 1
_FIRST = 20
_BATCH = 100
_SMALL = 32 << 10
_TABLE = (
    "create table if not exists rows (source text, path text, key text, size int, changed int,"
    " inode int, row blob, primary key (source, path, key)) without rowid"
)

_Id = tuple[str, str, str]
_Known = dict[_Id, tuple[tuple[int, int, int], bytes]]


class AgentSessions:
    """Lists what other agents keep on this machine. Reads only; call it in a thread.

    Args:
        folder: where the cache is kept.
        places: where the agents keep their sessions.
    """

    def __init__(self, folder: Path, places: Places) -> None:
        self._path = folder / CACHE
        self._places = places

    def cached_rows(self) -> list[SessionSummary]:
        """What the cache holds, files changed last first: at once, and perhaps not up to date."""
        known = sorted(self._load().values(), key=lambda each: each[0][1], reverse=True)
        return [row for _, kept in known if _is_worth_a_row(row := _decode(kept))]

    def batches(self) -> Iterator[list[SessionSummary]]:
        """All rows, those of the files changed last first, a few at a time as they are read."""
        refs = sorted(discover(self._places), key=lambda ref: ref.stamp[1], reverse=True)
        known = self._load()
        fresh: list[tuple[SessionRef, bytes]] = []
        rows: list[SessionSummary] = []
        read = 0
        for ref in refs:
            kept = known.pop(_id_of(ref), None)
            if kept is not None and kept[0] == ref.stamp:
                rows.append(_decode(kept[1]))
                continue
            row = summarise(ref)
            rows.append(row)
            fresh.append((ref, _encode(row)))
            read += 1
            if read % _BATCH == 0 or read == _FIRST:
                self._save(fresh, ())  # whoever reads on may stop here
                fresh = []
                yield [row for row in rows if _is_worth_a_row(row)]
                rows = []
        if rows:
            yield [row for row in rows if _is_worth_a_row(row)]
        self._save(fresh, list(known))

    def rows(self) -> list[SessionSummary]:
        """All rows at once, those of the files changed last first."""
        return [row for batch in self.batches() for row in batch]

    def _load(self) -> _Known:
        if not self._path.exists():
            return {}
        try:
            with closing(self._open()) as database:
                found = database.execute(
                    "select source, path, key, size, changed, inode, row from rows"
                )
                return {(s, p, k): ((n, t, i), row) for s, p, k, n, t, i, row in found}
        except sqlite3.Error:
            return {}

    def _save(self, fresh: Sequence[tuple[SessionRef, bytes]], gone: Sequence[_Id]) -> None:
        if not fresh and not gone:
            return
        lines = [(*_id_of(ref), *ref.stamp, row) for ref, row in fresh]
        with suppress(OSError, sqlite3.Error):  # it is only a cache
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
            with closing(self._open()) as database, database:
                database.execute(_TABLE)
                database.executemany("insert or replace into rows values (?,?,?,?,?,?,?)", lines)
                database.executemany(
                    "delete from rows where source = ? and path = ? and key = ?", gone
                )

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, timeout=1)
        try:
            if database.execute("pragma user_version").fetchone() != (_VERSION,):
                database.execute("drop table if exists rows")
                database.execute(f"pragma user_version = {_VERSION}")
            database.execute(_TABLE)
        except sqlite3.DatabaseError:
            database.close()
            self._path.unlink(missing_ok=True)
            raise
        return database


def _is_worth_a_row(row: SessionSummary) -> bool:
    """Whether something was said; of a big file the ends alone do not tell."""
    return bool(row.title or row.first_prompt) or row.size_bytes > _SMALL


def _id_of(ref: SessionRef) -> _Id:
    return ref.source, str(ref.path), ref.key


def _encode(row: SessionSummary) -> bytes:
    import msgspec

    return msgspec.json.encode(row)


@cache
def _decoder() -> Any:
    import msgspec

    return msgspec.json.Decoder(SessionSummary).decode


def _decode(row: bytes) -> SessionSummary:
    found: SessionSummary = _decoder()(row)
    return found
