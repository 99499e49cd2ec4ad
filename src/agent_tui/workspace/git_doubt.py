"""Entries of an index that git may take for unchanged although they are not.

git compares times by the second. A file that is written again within the second in which the index
took it up, with its size and its time of writing kept, looks the same to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from agent_tui.workspace.git_index import Entry, entries_since, entry_at

_SECOND = 1_000_000_000
_CLOCKS_NS = 100_000_000
"""Times of files come from a clock that ticks: they may lie so far behind the clock of now."""
_WRITING_SECONDS = 2
"""An index that was found may have been written so long after it took up its files."""


class DoubtfulEntries:
    """Says which entries differ from their files by less than git looks at.

    What was compared once, and had been written in a second that is over, needs no other look.
    """

    def __init__(self, top: str, algorithm: str) -> None:
        self._top = os.fsencode(top) + b"/"
        self._algorithm = algorithm
        self._since: int | None = None

    def find(self, index: str, began: int, newest: int | None = None) -> Iterator[Entry]:
        """Compare by the nanosecond; ``began`` is when git began to look, of ``time.time_ns``.

        ``newest`` is the second in which an entry changed last, where that is known.
        """
        since, self._since = self._since, (began - _CLOCKS_NS) // _SECOND
        try:
            status = os.stat(index)
            if since is None:
                since = int(status.st_mtime) - _WRITING_SECONDS
            # No entry is newer than the file that holds it.
            if (status.st_ctime if newest is None else newest) < since:
                return
            with open(index, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return
        lstat, top = os.lstat, self._top
        for path, changed_at, written_at, place in entries_since(data, self._algorithm, since):
            try:
                status = lstat(top + path)
            except OSError:
                continue  # git has seen that
            if status.st_ctime_ns != changed_at or status.st_mtime_ns != written_at:
                yield entry_at(data, self._algorithm, place, path)
