"""The search index of one machine: kept up to date, asked, explained, and checked against disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from agent_tui.core.errors import StorageError
from agent_tui.importers.importer import Places
from agent_tui.importers.listing import stamp_of
from agent_tui.library.search.finding import Finder, Lines, SearchAnswer
from agent_tui.library.search.indexing import Indexer, Progress
from agent_tui.library.search.sources import refs_to_index
from agent_tui.library.search.tables import FILE_NAME, forget_index, open_index, read_index
from agent_tui.library.search.why import Origin, why
from agent_tui.library.statistics import Statistic, statistics


@dataclass(frozen=True, slots=True)
class Findings:
    """What a check found: files and lines that were compared, and sentences on what differs."""

    files: int
    lines: int
    differences: tuple[str, ...]


class SearchIndex:
    """Everything blocks: call it in a thread. The index is a cache; deleting it loses nothing.

    Args:
        data: where our sessions are, and the index beside them.
        places: where other agents keep theirs.
    """

    def __init__(self, data: Path, places: Places) -> None:
        self.data = data
        self.places = places
        self.path = data / FILE_NAME

    def update(self, told: Callable[[Progress], None] | None = None) -> Progress:
        """Read what is new in every session; raises StorageError."""
        with _in_words(self.path):
            indexer = Indexer(open_index(self.path))
            try:
                refs = list(refs_to_index(self.data, self.places))
                refs.sort(key=lambda ref: ref.stamp[1])
                return indexer.update(refs, told)
            finally:
                indexer.close()

    def rebuild(self, told: Callable[[Progress], None] | None = None) -> Progress:
        """Forget everything and read it again; raises StorageError."""
        with _in_words(self.path):
            forget_index(self.path)
        return self.update(told)

    def search(self, text: str, limit: int = 20, hits: int = 3) -> SearchAnswer:
        """The sessions that fit a query best; raises UsageError, StorageError."""
        with self._reading() as base:
            return Finder(base, date.today()).find(text, limit, hits)

    def why(self, target: str, cwd: Path, limit: int = 20) -> list[Origin]:
        """Who wrote a file or a line of it; raises UsageError, StorageError."""
        with self._reading() as base:
            return why(base, target, cwd, limit)

    def statistics(self, by: str, since: str = "") -> list[Statistic]:
        """What was used and done, grouped; raises UsageError, StorageError."""
        with self._reading() as base:
            return statistics(base, by, since)

    def check(self, every: int = 1) -> Findings:
        """Compare each ``every``-th line with its file; raises StorageError."""
        with self._reading() as base:
            differences = list(_changed_files(base))
            lines, compared = Lines(), 0
            cursor = base.execute(_ALL, (every,))
            cursor.row_factory = sqlite3.Row
            for row in cursor:
                compared += 1
                said = lines.read(row)
                if said is None or said.role != row["role"]:
                    differences.append(f"{row['path']}: no entry at {row['offset']} any longer")
            files = base.execute("SELECT count(*) FROM files").fetchone()[0]
            return Findings(files, compared, tuple(differences))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with _in_words(self.path):
            base = read_index(self.path)
            if base is None:
                raise StorageError("There is no index yet. Create it with: agent-tui index")
            with closing(base):
                base.execute("BEGIN")  # one state of it, whatever is indexed meanwhile
                yield base


def _changed_files(base: sqlite3.Connection) -> Iterator[str]:
    for path, size, inode in base.execute("SELECT path, size, inode FROM files"):
        now = stamp_of(Path(path))
        if now[0] < size or now[2] != inode:
            yield f"{path}: the file was replaced or deleted since it was indexed"


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(
            f"The search index {path} cannot be used: {error}. "
            "Rebuild it with: agent-tui index --rebuild"
        ) from error
    except OSError as error:
        raise StorageError(f"{path} cannot be used: {error.strerror}.") from error


_ALL = """SELECT files.source, files.path, files.key, entries.offset, entries.length, entries.role
    FROM entries JOIN files ON files.id = entries.file WHERE entries.id % ? = 0"""
