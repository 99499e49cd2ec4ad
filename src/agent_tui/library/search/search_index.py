"""The search index of one machine: kept up to date, asked, explained, and checked against disk."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from agent_tui.core.errors import AgentTuiError, IndexBusy, SessionNotFound, StorageError
from agent_tui.core.text import format_count
from agent_tui.importers.importer import Places
from agent_tui.importers.lines import open_to_read
from agent_tui.importers.listing import stamp_of
from agent_tui.library.search.finding import Finder, Lines, SearchAnswer
from agent_tui.library.search.indexing import Indexer, Progress
from agent_tui.library.search.sources import refs_to_index
from agent_tui.library.search.tables import FILE_NAME, forget_index, open_index, read_index
from agent_tui.library.search.why import WritingCall, why
from agent_tui.library.statistics import Statistic, statistics
from agent_tui.sessions.lock import find_holder, try_lock

PATIENCE_SECONDS = 60.0
"""How long one who wants an index that is up to date waits for another process."""
WAIT_SECONDS = 10.0
"""How long one waits who can as well be answered from the index as it is."""
_PAUSE_SECONDS = 0.05
_ADVICE = {
    "SQLITE_FULL": "Free some space, then try again.",
    "SQLITE_IOERR": "Check the disk and its free space, then try again.",
    "SQLITE_CANTOPEN": "Check its permissions and the free space, then try again.",
    "SQLITE_READONLY": "Check its permissions, then try again.",
    "SQLITE_BUSY": "Another process is using it. Try again.",
}
"""What to do about errors that are no damage, by how SQLite's names of them begin."""


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

    def update(
        self, told: Callable[[Progress], None] | None = None, *, is_patient: bool = False
    ) -> Progress:
        """Read what is new in every session; raises StorageError.

        One process at a time: another waits, and finds what the first has read. The first may be
        stopped, or hang: after a while, longer where ``is_patient``, IndexBusy is raised.
        """
        wait = PATIENCE_SECONDS if is_patient else WAIT_SECONDS
        with _in_words(self.path), _alone(self.path, wait):
            indexer = Indexer(open_index(self.path))
            try:
                refs = list(refs_to_index(self.data, self.places))
                refs.sort(key=lambda ref: ref.stamp[1])
                return indexer.update(refs, told)
            finally:
                indexer.close()

    def rebuild(self, told: Callable[[Progress], None] | None = None) -> Progress:
        """Forget everything and read it again; raises StorageError."""
        with _in_words(self.path), _alone(self.path, PATIENCE_SECONDS):
            forget_index(self.path)
        return self.update(told, is_patient=True)

    def search(self, text: str, limit: int = 20, hits: int = 3) -> SearchAnswer:
        """The sessions that fit a query best; raises UsageError, StorageError."""
        with self._reading() as base:
            return Finder(base, date.today()).find(text, limit, hits)

    def why(self, target: str, cwd: Path, limit: int = 20) -> list[WritingCall]:
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
            gone = dict(_files_not_readable(base))
            differences = [*gone.values(), *_replaced_files(base, gone), *_doubled_lines(base)]
            lines, compared = Lines(), 0
            cursor = base.execute(_ALL, (every,))
            cursor.row_factory = sqlite3.Row
            for row in cursor:
                if row["path"] in gone:
                    continue
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


def _files_not_readable(base: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """The files that cannot be compared, each with a sentence that says why."""
    for (path,) in base.execute("SELECT DISTINCT path FROM files"):
        try:
            open_to_read(Path(path)).close()
        except SessionNotFound:
            yield path, f"{path}: the file was deleted since it was indexed"
        except AgentTuiError as error:
            yield path, str(error)


def _replaced_files(base: sqlite3.Connection, gone: Collection[str]) -> Iterator[str]:
    for path, size, inode in base.execute(
        "SELECT path, size, inode FROM files WHERE size NOT NULL"
    ):
        now = stamp_of(Path(path))
        if path not in gone and (now[0] < size or now[2] != inode):
            yield f"{path}: the file was replaced since it was indexed"


def _doubled_lines(base: sqlite3.Connection) -> Iterator[str]:
    for path, count in base.execute(_DOUBLED):
        yield f"{path}: {format_count(count, 'line')} indexed more than once"


@contextmanager
def _alone(path: Path, wait: float) -> Iterator[None]:
    """Keep other processes from writing the index: each would add the same lines once more."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = path.with_suffix(".lock")
    lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        _lock(lock, wait)
        yield
    finally:
        os.close(lock)


def _lock(descriptor: int, wait: float) -> None:
    deadline = time.monotonic() + wait
    while not try_lock(descriptor):
        if time.monotonic() >= deadline:
            pid = find_holder(descriptor)
            raise IndexBusy(
                f"Another process{f' (pid {pid})' if pid else ''} has been updating the search "
                f"index for over {wait:g} s. Results may be incomplete until it ends."
            )
        time.sleep(_PAUSE_SECONDS)


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(
            f"The search index {path} cannot be used: {error}. {_what_to_do(error)}"
        ) from error
    except OSError as error:
        raise StorageError(f"{path} cannot be used: {error.strerror}.") from error


def _what_to_do(error: sqlite3.Error) -> str:
    """A rebuild helps against damage only, and on a full disk leaves no index."""
    name = getattr(error, "sqlite_errorname", "")
    for beginning, advice in _ADVICE.items():
        if name.startswith(beginning):
            return advice
    return "Rebuild it with: agent-tui index --rebuild"


_DOUBLED = """SELECT files.path, count(*) FROM files JOIN (SELECT file FROM entries
    GROUP BY file, offset HAVING count(*) > 1) AS doubled ON doubled.file = files.id
    GROUP BY files.id"""
_ALL = """SELECT files.source, files.path, files.key, entries.offset, entries.length, entries.role
    FROM entries JOIN files ON files.id = entries.file WHERE entries.id % ? = 0"""
