"""The lines that fit a query, newest first and by session, until there are enough or time is over.

Of each line only number, file and role are fetched.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agent_tui.library.search.line_text import TITLE
from agent_tui.library.search.longer_words import LongerWords
from agent_tui.library.search.query import Query

MOST_LINES = 1_000
"""Lines that are looked at for one query, newest first."""
SECONDS = 2.0
_LINES_KEPT = 50
_STEPS_BETWEEN_LOOKS = 20_000

Line: TypeAlias = tuple[int, int, str]
"""Number, file and role."""
Stop: TypeAlias = Literal["", "time", "lines"]
"""What ended a search before its end: the time, or the lines that are looked at."""


@dataclass(frozen=True, slots=True)
class File:
    """What ranks the lines of a file."""

    source: str
    session: str
    title: str
    updated: str


@dataclass(slots=True)
class Gathered:
    """What was found in one session: some lines, newest first, and how many there are.

    Attributes:
        newest: the file of the newest line.
        lines: number and role of each that may be shown.
    """

    newest: File
    lines: list[tuple[int, str]] = field(default_factory=list)
    count: int = 0

    def add(self, line: int, role: str) -> None:
        """Add one that is older than all others."""
        self.count += role != TITLE
        if len(self.lines) < _LINES_KEPT:
            self.lines.append((line, role))


class Matching:
    """Finds what fits one query. The time runs from when it is made.

    Attributes:
        stopped_by: why older lines were not looked at; empty where all were.
    """

    def __init__(self, base: sqlite3.Connection, query: Query) -> None:
        self._base = base
        self._longer = LongerWords(base)
        self._query = query
        self._ends_at = time.monotonic() + SECONDS
        self._last: int | None = None
        self._passed: set[int] = set()
        self.stopped_by: Stop = ""

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self._ends_at

    def is_late(self, *, has_found: bool) -> bool:
        """Whether to show no more: where nothing is shown yet, only after twice the time."""
        return self.is_over and (has_found or time.monotonic() > self._ends_at + SECONDS)

    def sessions(self, limit: int) -> list[Gathered]:
        """The sessions with the lines that fit; of filters alone those written to last."""
        found: dict[tuple[str, str], Gathered] = {}
        self._base.set_progress_handler(lambda: self.is_over, _STEPS_BETWEEN_LOOKS)
        try:
            if self._query.match:
                self._gather_lines(found)
            else:
                self._gather_newest(found, limit)
        except sqlite3.OperationalError:
            if not self.is_over:
                raise
            self.stopped_by = "time"
        finally:
            self._base.set_progress_handler(None, 0)
        return list(found.values())

    def count_unsearched(self) -> int:
        """Sessions that were not looked at when the time was over, or not to their end."""
        conditions, values = self._file_conditions()
        if self._query.match and self._last is not None:
            conditions.append("(SELECT max(id) FROM entries WHERE file = files.id) < ?")
            values.append(self._last)
        rows = self._base.execute(_FILES.format(conditions=_joined(conditions)), values)
        return len({(row[1], row[2]) for row in rows if row[0] not in self._passed})

    def _gather_lines(self, found: dict[tuple[str, str], Gathered]) -> None:
        by_file: dict[int, Gathered] = {}
        for line, number, role in self._lines():
            each = by_file.get(number)
            if each is None:
                row = self._base.execute(_FILE, (number,)).fetchone()
                file = File(row[0], row[1], row[2] or "", row[3] or "")
                each = found.setdefault((file.source, file.session), Gathered(file))
                by_file[number] = each
            each.add(line, role)

    def _lines(self) -> Iterable[Line]:
        """The lines that fit; those with the very words, where they are enough."""
        found: list[Line] = []
        try:
            return self._best_lines(found)
        except sqlite3.OperationalError:
            if not self.is_over:
                raise
            self.stopped_by = "time"
            self._base.set_progress_handler(None, 0)  # what was found is still shown
            return sorted(set(found), reverse=True)

    def _best_lines(self, found: list[Line]) -> list[Line]:
        query = self._query.with_all_unwanted(self._longer.all_of)
        if query.exact:
            exact = self._all_of(query, query.exact, found)
            if len(exact) == MOST_LINES:
                return exact
            self._longer.are_all = True
            spelt_out = query.spelt_out(self._longer.of).match
            lines = self._all_of(query, spelt_out, found)
            if len(lines) == MOST_LINES or self._longer.are_all:
                return lines
        return self._all_of(query, query.match, found)

    def _all_of(self, query: Query, match: str, found: list[Line]) -> list[Line]:
        """All lines of one expression, which are put with those found as they come."""
        self._last, begun = None, len(found)
        for line in self._lines_of(query, match):
            found.append(line)
            self._last = line[0]
            if self.is_over:
                raise sqlite3.OperationalError("interrupted")
        self.stopped_by = "lines" if len(found) - begun == MOST_LINES else ""
        return found[begun:]

    def _lines_of(self, query: Query, match: str) -> Iterator[Line]:
        """Number, file and role of each line that fits, newest first."""
        conditions, values = self._file_conditions()
        bounds, days = self._bounds()
        statement = _LINES.format(conditions=_joined([*conditions, *bounds]), limit=MOST_LINES)
        return iter(self._base.execute(statement, [match, *values, *days]))

    def _file_conditions(self) -> tuple[list[str], list[object]]:
        conditions: list[str] = []
        values: list[object] = []
        query = self._query
        for column, wanted in (("source", query.agents), ("session", query.sessions)):
            if wanted:
                conditions.append(f"({' OR '.join([f'files.{column} LIKE ?'] * len(wanted))})")
                values += [f"{_escaped(each)}%" for each in wanted]
        for project in query.projects:
            conditions.append("files.cwd LIKE ?")
            values.append(f"%{_escaped(project)}%")
        if query.after:  # no line of a file is younger than the file
            conditions.append("files.updated >= ?")
            values.append(query.after)
        if query.before and not query.match:  # and none is older than its oldest one
            conditions.append("(files.began IS NULL OR files.began < ?)")
            values.append(query.before)
        return conditions, values

    def _bounds(self) -> tuple[list[str], list[object]]:
        query = self._query
        bounds = [(f"{_AT} >= ?", query.after), (f"{_AT} < ?", query.before)]
        return [name for name, day in bounds if day], [day for _, day in bounds if day]

    def _gather_newest(self, found: dict[tuple[str, str], Gathered], limit: int) -> None:
        conditions, values = self._file_conditions()
        bounds, days = self._bounds()
        files = self._base.execute(_FILES.format(conditions=_joined(conditions)), values)
        for number, source, session, title, updated in files.fetchall():
            name = (source, session)
            if len(found) == limit and name not in found:
                continue
            inside = [number, *days]
            rows = self._base.execute(_NEWEST.format(conditions=_joined(bounds)), inside)
            lines = sorted(rows.fetchall(), reverse=True)
            if lines:
                count = self._base.execute(_COUNT.format(conditions=_joined(bounds)), inside)
                each = found.setdefault(
                    name, Gathered(File(source, session, title or "", updated or ""))
                )
                each.lines = (each.lines + lines)[:_LINES_KEPT]
                each.count += count.fetchone()[0]
            self._passed.add(number)


def _joined(conditions: Iterable[str]) -> str:
    return "".join(f" AND {each}" for each in conditions)


def _escaped(value: str) -> str:
    return value.replace("%", "")


_AT = "coalesce(nullif(entries.at, ''), files.updated)"
_LINES = """SELECT words.rowid, entries.file, entries.role
    FROM words JOIN entries ON entries.id = words.rowid JOIN files ON files.id = entries.file
    WHERE words MATCH ?{conditions} ORDER BY words.rowid DESC LIMIT {limit}"""
_FILE = "SELECT source, session, title, updated FROM files WHERE id = ?"
_FILES = """SELECT id, source, session, title, updated FROM files
    WHERE session NOT NULL{conditions} ORDER BY updated DESC, id DESC"""
_OF_FILE = "FROM entries JOIN files ON files.id = entries.file WHERE entries.file = ?{conditions}"
_NEWEST = f"SELECT entries.id, entries.role {_OF_FILE} ORDER BY entries.id DESC LIMIT {_LINES_KEPT}"
_COUNT = f"SELECT count(*) {_OF_FILE} AND entries.role <> '{TITLE}'"
