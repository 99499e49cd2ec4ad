"""The sessions of other agents as rows of the list; what has not changed comes from a cache.

The cache may be deleted at any time: it is rebuilt. A row is read again when its file's size,
modification time or inode differ from what they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_tui.core.summary import OURS, SessionSummary
from agent_tui.importers.importer import Places, SessionRef
from agent_tui.importers.registry import discover, summarise
from agent_tui.library.row_cache import KeptRow, RowCache, RowId, decode_row

_FIRST = 20
_NEWEST = 200
_BATCH = 100
_SMALL = 32 << 10


class AgentSessions:
    """Lists what other agents keep on this machine. Reads only; call it in a thread.

    Args:
        folder: where the cache is kept.
        places: where the agents keep their sessions.
    """

    def __init__(self, folder: Path, places: Places) -> None:
        self._cache = RowCache(folder)
        self._places = places

    def cached_rows(self) -> list[SessionSummary]:
        """The newest rows that the cache holds: at once, and perhaps not up to date."""
        rows = self._cache.newest(_NEWEST)
        return [row for row in rows if row.source != OURS and _is_worth_a_row(row)]

    def batches(self) -> Iterator[list[SessionSummary]]:
        """All rows, those of the files changed last first, a few at a time as they are read."""
        refs = sorted(discover(self._places), key=lambda ref: ref.stamp[1], reverse=True)
        known = self._cache.load_others()
        fresh: list[tuple[RowId, KeptRow]] = []
        rows: list[SessionSummary] = []
        read = 0
        for ref in refs:
            kept = known.pop(_id_of(ref), None)
            if kept is not None and kept[0] == _stamp(ref):
                rows.append(decode_row(kept[1]))
                continue
            row = summarise(ref)
            rows.append(row)
            fresh.append((_id_of(ref), KeptRow.of(str(ref.path), _stamp(ref), row)))
            read += 1
            if read % _BATCH == 0 or read == _FIRST:
                self._cache.save(fresh)  # whoever reads on may stop here
                fresh = []
                yield [row for row in rows if _is_worth_a_row(row)]
                rows = []
        if rows:
            yield [row for row in rows if _is_worth_a_row(row)]
        self._cache.save(fresh, known)

    def rows(self) -> list[SessionSummary]:
        """All rows at once, those of the files changed last first."""
        return [row for batch in self.batches() for row in batch]


def _is_worth_a_row(row: SessionSummary) -> bool:
    """Whether something was said; of a big file the ends alone do not tell."""
    return bool(row.title or row.first_prompt) or row.size_bytes > _SMALL


def _id_of(ref: SessionRef) -> RowId:
    return ref.source, str(ref.path), ref.key


def _stamp(ref: SessionRef) -> str:
    return " ".join(map(str, ref.stamp))
