"""Answering queries: sessions by the lines that fit, ranked; those shown are read again."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import assert_never

from agent_tui.core.errors import AgentTuiError, UsageError
from agent_tui.core.record_writing import record_fields
from agent_tui.core.text import clean, format_count
from agent_tui.importers.importer import SessionRef
from agent_tui.importers.lines import open_to_read
from agent_tui.importers.registry import read
from agent_tui.library.search.line_text import TITLE, LineText, read_line, read_object
from agent_tui.library.search.matching import MOST_LINES, SECONDS, Gathered, Matching, Stop
from agent_tui.library.search.query import Query, parse_query
from agent_tui.library.search.unknown import explain_nothing

_SNIPPET = 160
_PASSAGE = 1_200


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that a query found: ``place`` is its byte offset, or its number among the records.

    ``mark`` is the first of the words looked for that it holds; empty where a filter found it.
    ``passage`` is what is said around it, with its line breaks. ``path`` is its file: a session
    may have several.
    """

    place: int
    at: str
    role: str
    snippet: str
    tools: tuple[str, ...] = ()
    mark: str = ""
    passage: str = ""
    path: str = ""


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

    def has_live(self, hit: Hit) -> bool:
        """Whether one of its lines is in the live log of a session of ours."""
        return is_live_log(self.source, hit.path)


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The sessions that a search found, best first, and what it did not look through.

    Attributes:
        stopped_by: why not all lines of all sessions were looked through; empty where all were.
        unsearched: sessions that were left out when the time was over, or about so many.
        unknown: of a search that found nothing, which of its filters no session can fit.
        marks: the words and phrases that were looked for, in small letters.
    """

    sessions: tuple[FoundSession, ...] = ()
    stopped_by: Stop = ""
    unsearched: int = 0
    unknown: str = ""
    marks: tuple[str, ...] = ()

    @property
    def left_out(self) -> str:
        """What was not looked through, as a sentence; empty where nothing was left out."""
        match self.stopped_by:
            case "":
                return ""
            case "lines":
                return f"Only the newest {MOST_LINES:,} matching lines were looked at."
            case "time":
                were = "was" if self.unsearched == 1 else "were"
                older = (
                    format_count(self.unsearched, "session") if self.unsearched else "older lines"
                )
                return f"Stopped after {SECONDS:.0f} s; {older} {were} not searched."
            case _:
                assert_never(self.stopped_by)

    @property
    def nothing(self) -> str:
        """What to say where no session was found."""
        if self.warning:
            return f"Nothing found yet. {self.warning}"
        return f"Nothing found. {self.unknown}" if self.unknown else "Nothing found."

    @property
    def warning(self) -> str:
        """What was not looked through and what to do, as sentences; empty where nothing was."""
        return f"{self.left_out} {HOW_TO_NARROW}" if self.stopped_by else ""


HOW_TO_NARROW = "Add a word, or a filter such as project: or after:7d."


class Lines:
    """Reads lines again where the index says that they are."""

    def __init__(self) -> None:
        self._records: tuple[str, list[LineText | None]] = ("", [])

    def read(self, row: sqlite3.Row) -> LineText | None:
        """What the file says there now; None where it says something else since."""
        path = Path(row["path"])
        try:
            if row["length"] >= 0:
                with open_to_read(path) as file:
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

    def find(self, text: str, limit: int = 20, hits: int = 3) -> SearchAnswer:
        """The sessions that fit best, each with its best lines; of filters alone the newest.

        Raises:
            UsageError: the query has a filter or a day that does not exist, or nothing to look for.
        """
        query = parse_query(text, self._today)
        if not (query.match or query.chooses_sessions):
            raise UsageError("What do you want to find? Type a word, a “phrase” or a filter.")
        matching = Matching(self._base, query)
        best = matching.sessions(limit)
        if query.match:
            best.sort(key=lambda each: -self._score(each, query))
        found: list[FoundSession] = []
        unread = len(best)
        for each in best:
            if len(found) == limit:
                unread = 0
                break
            if matching.is_late(has_found=bool(found)):
                break
            if shown := self._show(each, query, hits, matching):
                found.append(shown)
            elif matching.is_late(has_found=False):
                break  # there may be lines of it that were not looked at
            unread -= 1
        stopped_by: Stop = "time" if unread else matching.stopped_by
        if matching.stopped_by == "time":
            unread += matching.count_unsearched()
        unknown = "" if found or stopped_by else explain_nothing(self._base, query)
        return SearchAnswer(tuple(found), stopped_by, unread, unknown, query.marks)

    def _row(self, line: int) -> sqlite3.Row:
        cursor = self._base.execute(_LINE, (line,))
        cursor.row_factory = sqlite3.Row
        row: sqlite3.Row = cursor.fetchone()
        return row

    def _hits(self, each: Gathered, query: Query, most: int, matching: Matching) -> Iterator[Hit]:
        """What people said before what tools printed; a line that no longer exists is not."""
        order = {"user": 0, "assistant": 1}
        count = 0
        said_there = [line for line in each.lines if line[1] != TITLE]
        for line, _ in sorted(said_there or each.lines, key=lambda line: order.get(line[1], 2)):
            if matching.is_late(has_found=count > 0):
                return
            row = self._row(line)
            said = self._lines.read(row)
            if said is not None and _says(said, query.literals):
                snippet = clean(snippet_of(said.text, query.marks))
                tools = tuple(sorted(said.tools))
                mark = next((mark for mark in query.marks if mark in said.text.lower()), "")
                passage = clean(passage_of(said.text, query.marks))
                at, place = row["at"] or "", row["offset"]
                yield Hit(place, at, row["role"], snippet, tools, mark, passage, _file_of(row))
                count += 1
            if count >= most:
                return

    def _score(self, each: Gathered, query: Query) -> float:
        """More lines, a prompt or title that says it, and youth rank a session higher."""
        prompts = any(role == "user" for _, role in each.lines)
        title = each.newest.title.lower()
        score = math.log2(1 + each.count) + 1.5 * prompts
        score += 3.0 * bool(query.marks) * all(mark in title for mark in query.marks)
        return score + 3.0 / (1 + self._age_days(each.newest.updated) / 30)

    def _show(
        self, each: Gathered, query: Query, most: int, matching: Matching
    ) -> FoundSession | None:
        """The session with its lines as they stand in its file; None where none of them does."""
        hits = tuple(self._hits(each, query, most, matching))
        if not hits:
            return None
        first = self._row(each.lines[0][0])
        return FoundSession(
            session_id=first["session"],
            source=first["source"],
            path=_file_of(first),
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


def _file_of(row: sqlite3.Row) -> str:
    """The file of a line, with the name of the session in it where it holds several."""
    return f"{row['path']}#{row['key']}" if row["key"] else str(row["path"])


def _says(said: LineText, literals: tuple[str, ...]) -> bool:
    if not literals:
        return True
    text = " ".join(said.text.lower().split())
    return all(literal in text for literal in literals)


def snippet_of(text: str, marks: tuple[str, ...]) -> str:
    """The part of a text around the first of the words looked for, in one line."""
    start = max(0, _first_of(text, marks) - _SNIPPET // 3)
    if start and (blank := text.rfind(" ", start - 20, start)) >= 0:
        start = blank + 1
    part = " ".join(text[start : start + 2 * _SNIPPET].split())
    cut = part[:_SNIPPET]
    return f"{'… ' if start else ''}{cut}{' …' if len(part) > _SNIPPET else ''}"


def passage_of(text: str, marks: tuple[str, ...]) -> str:
    """The lines of a text around the first of the words looked for."""
    start = max(0, _first_of(text, marks) - _PASSAGE // 3)
    if start:  # at the beginning of a line or a word, where one is near
        cut = max(text.rfind("\n", 0, start), text.rfind(" ", start - 20, start))
        start = cut + 1 if start - cut < _PASSAGE // 3 else start
    part = text[start : start + _PASSAGE].strip()
    return f"{'… ' if start else ''}{part}{' …' if start + _PASSAGE < len(text) else ''}"


def _first_of(text: str, marks: tuple[str, ...]) -> int:
    """Where the first of the words looked for stands; 0 where none does."""
    lowered = text.lower()
    found = [at for mark in marks if (at := lowered.find(mark.split()[0] if mark else "")) >= 0]
    return min(found, default=0)


_LINE = """SELECT files.source, files.path, files.key, files.session, files.title, files.cwd,
    files.model, files.updated, entries.offset, entries.length, entries.at, entries.role
    FROM entries JOIN files ON files.id = entries.file WHERE entries.id = ?"""
