"""Answering queries: lines by the index, ranked by session; those shown are checked in their files.

Of all lines that fit, only number, file and role are fetched; the rest only of what is shown.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from agent_tui.core.errors import AgentTuiError, UsageError
from agent_tui.core.record_writing import record_fields
from agent_tui.core.text import clean
from agent_tui.importers.importer import SessionRef
from agent_tui.importers.registry import read
from agent_tui.library.search.line_text import TITLE, LineText, read_line, read_object
from agent_tui.library.search.longer_words import LongerWords
from agent_tui.library.search.query import Query, parse_query

_MOST_LINES = 1_000
"""Lines that are looked at for one query, newest first."""
_SNIPPET = 160
_LINES_KEPT = 50
_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that a query found: ``place`` is its byte offset, or its number among the records.

    ``mark`` is the first of the words looked for that it holds; empty where a filter found it.
    """

    place: int
    at: str
    role: str
    snippet: str
    tools: tuple[str, ...] = ()
    mark: str = ""


def is_live_log(source: str, path: str) -> bool:
    """Whether a file is the live log of a session of ours, which can be opened by its id."""
    return source == "agent-tui" and Path(path).name == "context.jsonl"


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session with the lines found in it, best first; ``hits`` holds a few of ``matches``."""

    session_id: str
    source: str
    path: str
    title: str
    cwd: str
    model: str
    updated_at: str
    matches: int
    score: float
    hits: tuple[Hit, ...]

    @property
    def is_live(self) -> bool:
        """Whether it was found in the live log of a session of ours."""
        return is_live_log(self.source, self.path)


@dataclass(frozen=True, slots=True)
class _File:
    """What ranks the lines of a file."""

    source: str
    session: str
    title: str
    updated: str


@dataclass(slots=True)
class _Gathered:
    """What was found in one session: some lines, newest first, and how many there are.

    Attributes:
        newest: the file of the newest line.
        lines: number and role of each that may be shown.
    """

    newest: _File
    lines: list[tuple[int, str]] = field(default_factory=list)
    count: int = 0

    def add(self, line: int, role: str) -> None:
        """Add one that is older than all others."""
        self.count += role != TITLE
        if len(self.lines) < _LINES_KEPT:
            self.lines.append((line, role))


class Lines:
    """Reads lines again where the index says that they are."""

    def __init__(self) -> None:
        self._records: tuple[str, list[LineText | None]] = ("", [])

    def read(self, row: sqlite3.Row) -> LineText | None:
        """What the file says there now; None where it says something else since."""
        path = Path(row["path"])
        try:
            if row["length"] >= 0:
                with path.open("rb") as file:
                    file.seek(row["offset"])
                    return read_line(file.read(row["length"]))
            name = f"{path}#{row['key']}"
            if self._records[0] != name:
                session = read(SessionRef(row["source"], path, row["key"]))
                fields = [read_object(record_fields(record)) for record in session.records]
                self._records = (name, fields)
            said = self._records[1]
            return said[row["offset"]] if row["offset"] < len(said) else None
        except (OSError, AgentTuiError):
            return None


class Finder:
    """Asks one index. For one thread at a time."""

    def __init__(self, base: sqlite3.Connection, today: date) -> None:
        self._base = base
        self._today = today
        self._lines = Lines()
        self._longer = LongerWords(base)

    def find(self, text: str, limit: int = 20, hits: int = 3) -> list[FoundSession]:
        """The sessions that fit best, each with its best lines.

        Raises:
            UsageError: the query has a filter or a day that does not exist, or nothing to look for.
        """
        query = parse_query(text, self._today)
        if not query.match:
            raise UsageError("What do you want to find? Type a word, a “phrase” or a filter.")
        deadline = time.monotonic() + _SECONDS
        gathered = self._gather(query, deadline)
        best = sorted(gathered, key=lambda each: -self._score(each, query))
        found: list[FoundSession] = []
        for each in best:
            if len(found) == limit or time.monotonic() > deadline:
                break
            if shown := self._show(each, query, hits):
                found.append(shown)
        return found

    def _gather(self, query: Query, deadline: float) -> list[_Gathered]:
        """The lines that fit by session; those with the very words, where they are enough."""
        query = query.with_all_unwanted(self._longer.all_of)
        if query.exact:
            found = list(self._lines_of(query, query.exact))
            self._longer.are_all = True
            if len(found) < _MOST_LINES:
                found = list(self._lines_of(query, query.spelt_out(self._longer.of).match))
            if len(found) == _MOST_LINES or self._longer.are_all:
                return self._by_session(found, deadline)
        return self._by_session(self._lines_of(query, query.match), deadline)

    def _by_session(
        self, lines: Iterable[tuple[int, int, str]], deadline: float
    ) -> list[_Gathered]:
        gathered: dict[tuple[str, str], _Gathered] = {}
        by_file: dict[int, _Gathered] = {}
        for line, number, role in lines:
            if time.monotonic() > deadline:
                break
            each = by_file.get(number)
            if each is None:
                row = self._base.execute(_FILE, (number,)).fetchone()
                file = _File(row[0], row[1], row[2] or "", row[3] or "")
                each = gathered.setdefault((file.source, file.session), _Gathered(file))
                by_file[number] = each
            each.add(line, role)
        return list(gathered.values())

    def _lines_of(self, query: Query, match: str) -> Iterator[tuple[int, int, str]]:
        """Number, file and role of each line that fits, newest first."""
        conditions, values = ["words MATCH ?"], [match]
        for column, wanted in (("source", query.agents), ("session", query.sessions)):
            if wanted:
                conditions.append(f"({' OR '.join([f'files.{column} LIKE ?'] * len(wanted))})")
                values += [f"{_escaped(each)}%" for each in wanted]
        for project in query.projects:
            conditions.append("files.cwd LIKE ?")
            values.append(f"%{_escaped(project)}%")
        if query.after:
            conditions.append("coalesce(nullif(entries.at, ''), files.updated) >= ?")
            values.append(query.after)
        if query.before:
            conditions.append("coalesce(nullif(entries.at, ''), files.updated) < ?")
            values.append(query.before)
        statement = _LINES.format(conditions=" AND ".join(conditions), limit=_MOST_LINES)
        return iter(self._base.execute(statement, values))

    def _row(self, line: int) -> sqlite3.Row:
        cursor = self._base.execute(_LINE, (line,))
        cursor.row_factory = sqlite3.Row
        row: sqlite3.Row = cursor.fetchone()
        return row

    def _hits(self, each: _Gathered, query: Query, most: int) -> Iterator[Hit]:
        """What people said before what tools printed; a line that no longer exists is not."""
        order = {"user": 0, "assistant": 1}
        count = 0
        said_there = [line for line in each.lines if line[1] != TITLE]
        for line, _ in sorted(said_there or each.lines, key=lambda line: order.get(line[1], 2)):
            row = self._row(line)
            said = self._lines.read(row)
            if said is not None and _says(said, query.literals):
                snippet = clean(snippet_of(said.text, query.marks))
                tools = tuple(sorted(said.tools))
                mark = next((mark for mark in query.marks if mark in said.text.lower()), "")
                yield Hit(row["offset"], row["at"] or "", row["role"], snippet, tools, mark)
                count += 1
            if count >= most:
                return

    def _score(self, each: _Gathered, query: Query) -> float:
        """More lines, a prompt or title that says it, and youth rank a session higher."""
        prompts = any(role == "user" for _, role in each.lines)
        title = each.newest.title.lower()
        score = math.log2(1 + each.count) + 1.5 * prompts
        score += 3.0 * bool(query.marks) * all(mark in title for mark in query.marks)
        return score + 3.0 / (1 + self._age_days(each.newest.updated) / 30)

    def _show(self, each: _Gathered, query: Query, most: int) -> FoundSession | None:
        """The session with its lines as they stand in its file; None where none of them does."""
        hits = tuple(self._hits(each, query, most))
        if not hits:
            return None
        first = self._row(each.lines[0][0])
        return FoundSession(
            session_id=first["session"],
            source=first["source"],
            path=first["path"] + (f"#{first['key']}" if first["key"] else ""),
            title=first["title"] or "",
            cwd=first["cwd"] or "",
            model=first["model"] or "",
            updated_at=first["updated"] or "",
            matches=max(1, each.count),
            score=round(self._score(each, query), 2),
            hits=hits,
        )

    def _age_days(self, at: str) -> float:
        try:
            return max(0.0, float((self._today - date.fromisoformat(at[:10])).days))
        except ValueError:
            return 365.0


def _says(said: LineText, literals: tuple[str, ...]) -> bool:
    if not literals:
        return True
    text = " ".join(said.text.lower().split())
    return all(literal in text for literal in literals)


def _escaped(value: str) -> str:
    return value.replace("%", "")


def snippet_of(text: str, marks: tuple[str, ...]) -> str:
    """The part of a text around the first of the words looked for, in one line."""
    lowered = text.lower()
    found = [at for mark in marks if (at := lowered.find(mark.split()[0] if mark else "")) >= 0]
    start = max(0, min(found, default=0) - _SNIPPET // 3)
    if start and (blank := text.rfind(" ", start - 20, start)) >= 0:
        start = blank + 1
    part = " ".join(text[start : start + 2 * _SNIPPET].split())
    cut = part[:_SNIPPET]
    return f"{'… ' if start else ''}{cut}{' …' if len(part) > _SNIPPET else ''}"


_LINES = """SELECT words.rowid, entries.file, entries.role
    FROM words JOIN entries ON entries.id = words.rowid JOIN files ON files.id = entries.file
    WHERE {conditions} ORDER BY words.rowid DESC LIMIT {limit}"""
_FILE = "SELECT source, session, title, updated FROM files WHERE id = ?"
_LINE = """SELECT files.source, files.path, files.key, files.session, files.title, files.cwd,
    files.model, files.updated, entries.offset, entries.length, entries.at, entries.role
    FROM entries JOIN files ON files.id = entries.file WHERE entries.id = ?"""
