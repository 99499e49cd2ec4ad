"""Which session wrote this line: the calls that put it into a file, and the prompt behind each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from agent_tui.core.errors import UsageError
from agent_tui.core.format import format_too_big
from agent_tui.core.text import clean, first_line, format_count
from agent_tui.importers.codex import CODEX
from agent_tui.importers.importer import SessionRef
from agent_tui.library.search.copies import origin_of
from agent_tui.library.search.finding import Lines, is_live_log
from agent_tui.library.search.line_text import LineText
from agent_tui.library.search.sources import OURS
from agent_tui.library.search.words import facet
from agent_tui.sessions.session_summary import parents_of

_MOST = 500
_MOST_BETWEEN = 8
_MOST_FILE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class WritingCall:
    """One call that wrote to the file.

    Attributes:
        said: the line as the call wrote it; empty where only the file was asked for.
        prompt: what the person had asked for last, in one line.
        in_context: whether that prompt was still in the context then: no compaction came between.
        copied_to: the ids of sessions that began as a copy of this one and repeat the call.
    """

    session_id: str
    source: str
    path: str
    title: str
    place: int
    at: str
    tools: tuple[str, ...]
    said: str
    prompt: str
    in_context: bool
    copied_to: tuple[str, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether the call is in the live log of a session of ours."""
        return is_live_log(self.source, self.path)


def why(base: sqlite3.Connection, target: str, cwd: Path, limit: int = 20) -> list[WritingCall]:
    """The calls that wrote FILE, or its LINE (``FILE:LINE``), newest first; no call twice.

    Raises:
        UsageError: the file or the line is not there, or the line is blank.
    """
    file, wanted = _target(target, cwd)
    found: list[_Writer] = []
    lines = Lines()
    for row in _writers(base, file):
        said = lines.read(row)
        if said is None or (wanted and wanted not in _squeezed(said.text)):
            continue
        if any(_names(path, file) for path in said.touched) and not _failed(base, lines, row, said):
            found.append(_writer(row, said, _origin(base, lines, row, said, wanted)))
    originals = sorted(_originals(found), key=lambda each: each.at, reverse=True)
    return originals[:limit]


@dataclass(frozen=True, slots=True)
class _Writer:
    """A call that was found, and what tells whether it is the copy of another one.

    Attributes:
        at: when it was called; empty where the log does not say.
        ids: of the call, or the calls of its line.
        root: what files of Claude Code share that began as copies.
        parents: by what name the session was copied from: its id, or its file.
    """

    origin: WritingCall
    file: int
    at: str
    ids: frozenset[str]
    root: str
    parents: frozenset[str]

    def repeats(self, other: _Writer) -> bool:
        """Whether it was copied from the other one's session, with the session.

        Codex gives what a fork begins with new times; every other copy keeps the old ones.
        """
        is_timed = bool(self.at and other.at) and self.origin.source != CODEX
        if not self.ids & other.ids or (is_timed and self.at != other.at):
            return False
        names = {other.origin.session_id, other.origin.path.partition("#")[0]}
        is_later = bool(self.root) and self.root == other.root and self.file > other.file
        return is_later or bool(self.parents & names)


def _writer(row: sqlite3.Row, said: LineText, origin: WritingCall) -> _Writer:
    ids = frozenset(call for call, _ in said.calls if call)
    path, parents = Path(row["path"]), frozenset[str]()
    if row["source"] == OURS:
        parents = parents_of(path)
    elif row["source"] == CODEX:
        parents = frozenset(filter(None, [origin_of(SessionRef(CODEX, path))]))
    return _Writer(origin, row["file"], row["at"] or "", ids, row["root"] or "", parents)


def _originals(found: list[_Writer]) -> Iterator[WritingCall]:
    """Every call once, as the session that made it has it."""
    for each in found:
        if any(each.repeats(other) for other in found if other is not each):
            continue
        copies = {other.origin.session_id for other in found if other.repeats(each)}
        yield replace(each.origin, copied_to=tuple(sorted(copies - {each.origin.session_id})))


def _target(target: str, cwd: Path) -> tuple[Path, str]:
    """The file, and the line's text without blanks around it; empty for the whole file."""
    name, colon, number = target.rpartition(":")
    if not (colon and number.isdigit()):
        return cwd / target, ""
    path = cwd / name
    if not path.is_file():
        raise UsageError(f"There is no file {name}.")
    if (size := path.stat().st_size) > _MOST_FILE_BYTES:
        raise UsageError(format_too_big(name, "look up its lines", size, _MOST_FILE_BYTES))
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if not 1 <= int(number) <= len(lines):
        raise UsageError(
            f"{name} has {format_count(len(lines), 'line')}; there is no line {number}."
        )
    wanted = _squeezed(lines[int(number) - 1])
    if not wanted:
        raise UsageError(f"Line {number} of {name} is blank; choose another line.")
    return path, wanted


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _names(path: str, file: Path) -> bool:
    """Whether a path that a call named can mean the file: one is the end of the other."""
    said = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    parts = [part for part in file.parts if part != "/"]
    shorter = min(len(said), len(parts))
    return bool(said) and said[-shorter:] == parts[-shorter:]


def _writers(base: sqlite3.Connection, file: Path) -> Iterator[sqlite3.Row]:
    cursor = base.execute(_WRITERS, (f'"{facet("w", file.name)}"', _MOST))
    cursor.row_factory = sqlite3.Row
    return iter(cursor)


def _failed(base: sqlite3.Connection, lines: Lines, row: sqlite3.Row, said: LineText) -> bool:
    """Whether every call of the line was rejected or failed, so that it wrote nothing."""
    waiting = {call for call, _ in said.calls if call}
    cursor = base.execute(_ANSWERS, (row["file"], row["offset"], len(waiting) + _MOST_BETWEEN))
    cursor.row_factory = sqlite3.Row
    for each in cursor if waiting else ():
        answer = lines.read(each)
        if answer is None or not answer.role:
            continue
        for call in waiting.intersection(answer.answers):
            if not answer.has_failed(call):
                return False
            waiting.remove(call)
        if not waiting:
            return True
    return False


def _origin(
    base: sqlite3.Connection, lines: Lines, row: sqlite3.Row, said: LineText, wanted: str
) -> WritingCall:
    prompt, place = "", -1
    cursor = base.execute(_PROMPTS, (row["file"], row["offset"]))
    cursor.row_factory = sqlite3.Row
    for each in cursor:
        asked = lines.read(each)
        if asked is not None and asked.role == "user" and (text := first_line(asked.text, 200)):
            prompt, place = text, each["offset"]
            break
    between = (f'"{facet("h", "compaction")}"', row["file"], place, row["offset"])
    compacted = base.execute(_COMPACTIONS, between).fetchone()
    return WritingCall(
        session_id=row["session"],
        source=row["source"],
        path=row["path"] + (f"#{row['key']}" if row["key"] else ""),
        title=clean(row["title"] or ""),
        place=row["offset"],
        at=row["at"] or row["updated"] or "",
        tools=tuple(sorted(said.tools)),
        said=clean(wanted),
        prompt=prompt,
        in_context=bool(prompt) and compacted is None,
    )


_COLUMNS = """SELECT files.source, files.path, files.key, files.session, files.title, files.updated,
    files.root, entries.file, entries.offset, entries.length, entries.at, entries.role"""
_WRITERS = f"""{_COLUMNS} FROM words JOIN entries ON entries.id = words.rowid
    JOIN files ON files.id = entries.file WHERE words MATCH ? ORDER BY words.rowid DESC LIMIT ?"""
_PROMPTS = f"""{_COLUMNS} FROM entries JOIN files ON files.id = entries.file
    WHERE file = ? AND role = 'user' AND entries.offset < ?
    ORDER BY entries.offset DESC LIMIT 20"""
_ANSWERS = f"""{_COLUMNS} FROM entries JOIN files ON files.id = entries.file
    WHERE file = ? AND entries.offset > ? ORDER BY entries.offset LIMIT ?"""
_COMPACTIONS = """SELECT 1 FROM words JOIN entries ON entries.id = words.rowid
    WHERE words MATCH ? AND file = ? AND entries.offset BETWEEN ? AND ? LIMIT 1"""
