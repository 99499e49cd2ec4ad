"""Bringing the index up to date: each file from where it was left, and no line a second time.

A file is known by path, size, inode and the hash of its head. One that has grown is read from the
byte where the last reading ended; one that was replaced is read anew. What is read and taken apart
in one thread is written by another: SQLite works without the interpreter's lock.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.jsonl import MAX_LINE_BYTES
from agent_tui.core.record_writing import record_fields
from agent_tui.importers.importer import SessionRef
from agent_tui.importers.registry import importer_of, read
from agent_tui.library.search.line_text import LineText, decode, read_object
from agent_tui.library.search.sources import OURS, folder_refs, is_lined, is_ours
from agent_tui.library.search.tallies import Tally
from agent_tui.library.search.words import facet, path_facets, split_cjk
from agent_tui.sessions.session_summary import parent_session

Statement: TypeAlias = tuple[str, tuple[object, ...]]

_HEAD = 4096
_BLOCK = 1 << 20
_BATCH_CHARS = 2_000_000
_SESSIONS_HELD = 50
_ROTATED = frozenset({OURS, "kimi"})
"""Agents whose archives repeat what the live log says: a line is indexed once for a session."""


@dataclass(slots=True)
class Progress:
    """How far the indexing has come; ``troubles`` are sentences on files that cannot be read."""

    files: int = 0
    changed: int = 0
    lines: int = 0
    bytes: int = 0
    troubles: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Row:
    file: int
    offset: int
    length: int
    at: str
    role: str
    text: str
    digest: int
    session: str


@dataclass(frozen=True, slots=True)
class _Known:
    """A file as the index knows it: up to ``offset`` it was read."""

    id: int
    path: str
    key: str
    size: int
    mtime: int
    inode: int
    head: bytes
    offset: int

    @property
    def stamp(self) -> tuple[int, int, int]:
        return (self.size, self.mtime, self.inode)


class Indexer:
    """Writes one index; ``close`` it when done. Not for several threads."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._writer = ThreadPoolExecutor(1, "index-writer")
        self._pending: Future[None] | None = None
        self._rows: list[_Row] = []
        self._before: list[Statement] = []
        self._after: list[Statement] = []
        self._chars = 0
        rows = [_Known(*row) for row in base.execute(_KNOWN)]
        self._known = {(row.path, row.key): row for row in rows}
        self._by_inode = {row.inode: row for row in rows}
        about = base.execute("SELECT id, updated, model FROM files")
        self._about = {file: (updated or "", model or "") for file, updated, model in about}
        self._next_file = max((row.id for row in rows), default=0) + 1
        self._said: dict[str, set[int]] = {}
        self._folders: dict[str, Path] = {}
        self.progress = Progress()

    def close(self) -> None:
        """Write what is left and let the index go."""
        self._flush()
        self._settle()
        self._writer.shutdown()
        self._base.close()

    def update(
        self, refs: Iterable[SessionRef], told: Callable[[Progress], None] | None = None
    ) -> Progress:
        """Read what is new in these files; everything else stays as it is indexed."""
        refs = list(refs)
        self._folders = {ref.path.parent.name: ref.path.parent for ref in refs if is_ours(ref)}
        for ref in refs:
            self.progress.files += 1
            row = self._known.get((str(ref.path), ref.key))
            if row is not None and row.stamp == ref.stamp:
                continue
            try:
                self._update_one(ref, row)
            except (AgentTuiError, OSError) as error:
                self.progress.troubles.append(f"{ref.path}: {error}")
            self.progress.changed += 1
            if told is not None:
                told(self.progress)
        self._flush()
        self._settle()
        return self.progress

    def forget_missing(self, refs: Iterable[SessionRef]) -> int:
        """Take out the files that are not among these; returns how many."""
        there = {(str(ref.path), ref.key) for ref in refs}
        gone = [row for place, row in self._known.items() if place not in there]
        for row in gone:
            self._drop(row)
        self._flush()
        self._settle()
        return len(gone)

    def _update_one(self, ref: SessionRef, row: _Known | None) -> None:
        head = _head_hash(ref) if is_lined(ref) else b""
        if head and (row is None or row.inode != ref.stamp[2]):
            row = self._moved(ref) or row
        if row is not None and head and row.inode == ref.stamp[2] and _has_grown(ref, row):
            self._read_lines(ref, row.id, row.offset, head)
            return
        if row is not None:
            self._drop(row)
        file = self._add_file(ref)
        if head:
            self._read_lines(ref, file, 0, head)
        else:
            self._read_whole(ref, file)

    def _moved(self, ref: SessionRef) -> _Known | None:
        """The file under its new name: a log that was rotated keeps its place in the index."""
        row = self._by_inode.get(ref.stamp[2])
        if row is None or row.path == str(ref.path) or not _has_grown(ref, row):
            return None
        self._known.pop((row.path, row.key), None)
        if (other := self._known.pop((str(ref.path), ref.key), None)) is not None:
            self._drop(other)
        self._before.append(("UPDATE files SET path = ? WHERE id = ?", (str(ref.path), row.id)))
        return row

    def _add_file(self, ref: SessionRef) -> int:
        session, cwd, title, model, updated = ref.path.stem, "", "", "", ""
        with suppress(AgentTuiError, OSError):
            about = importer_of(ref.source).summarise(ref)
            session, cwd, title = about.session_id, about.cwd, about.title
            model, updated = about.model, about.updated_at
        file, self._next_file = self._next_file, self._next_file + 1
        values = (file, ref.source, str(ref.path), ref.key, session, cwd, title, model, updated)
        self._before.append((_ADD_FILE, values))
        self._about[file] = (updated, model)
        return file

    def _drop(self, row: _Known) -> None:
        self._known.pop((row.path, row.key), None)
        self._by_inode.pop(row.inode, None)
        self._before.append(("DELETE FROM entries WHERE file = ?", (row.id,)))
        for table in ("days", "tools"):
            self._before.append((f"DELETE FROM {table} WHERE file = ?", (row.id,)))
        self._before.append(("DELETE FROM files WHERE id = ?", (row.id,)))

    def _read_lines(self, ref: SessionRef, file: int, start: int, head: bytes) -> None:
        end = start
        tally = Tally(*self._about.get(file, ("", "")))
        copied = set() if start else self._copied_lines(ref)
        for offset, line in whole_lines(ref, start):
            end = offset + len(line) + 1
            value = decode(line)
            if value is None:
                continue
            said = read_object(value)
            digest = _digest(line) if ref.source in _ROTATED else 0
            if digest and self._was_said(ref, digest):
                continue
            if digest not in copied:
                tally.add(value, said)
            if said is not None:
                self._add(_row(ref, file, (offset, len(line)), said, digest))
            elif digest:
                self._after.append((_SAID, (str(ref.path.parent), digest)))
        self._count(file, tally)
        self.progress.bytes += end - start
        self._read_up_to(ref, file, head, end)

    def _copied_lines(self, ref: SessionRef) -> set[int]:
        """The lines of the session that this one was copied from; they were counted there.

        It may be written to after the copy was made, and be indexed after it: it is read here.
        """
        origin = parent_session(ref.path) if is_ours(ref) else ""
        folder = self._folders.get(origin)
        if folder is None or folder == ref.path.parent:
            return set()
        logs = folder_refs(folder)
        return {_digest(line) for log in logs for _, line in whole_lines(log, 0)}

    def _read_whole(self, ref: SessionRef, file: int) -> None:
        tally = Tally(*self._about.get(file, ("", "")))
        for number, record in enumerate(read(ref).records):
            value = record_fields(record)
            said = read_object(value)
            tally.add(value, said)
            if said is not None:
                said.at = said.at or (record.stamp.at or "")
                self._add(_row(ref, file, (number, -1), said, 0))
        self._count(file, tally)
        self.progress.bytes += ref.stamp[0]
        self._read_up_to(ref, file, b"", ref.stamp[0])

    def _was_said(self, ref: SessionRef, digest: int) -> bool:
        """Whether another log of the session holds the line; from now on, one does."""
        session = str(ref.path.parent)
        if session not in self._said:
            self._flush()
            self._settle()
            if len(self._said) >= _SESSIONS_HELD:
                self._said.clear()
            found = self._base.execute("SELECT digest FROM said WHERE session = ?", (session,))
            self._said[session] = {row[0] for row in found}
        known = digest in self._said[session]
        self._said[session].add(digest)
        return known

    def _count(self, file: int, tally: Tally) -> None:
        self._after += [(_COUNT_DAY, (file, *row)) for row in tally.days()]
        self._after += [(_COUNT_TOOL, (file, *row)) for row in tally.tools()]

    def _read_up_to(self, ref: SessionRef, file: int, head: bytes, end: int) -> None:
        row = _Known(file, str(ref.path), ref.key, *ref.stamp, head, end)
        self._known[(row.path, row.key)] = self._by_inode[row.inode] = row
        self._after.append((_READ_UP_TO, (*ref.stamp, head, end, file)))

    def _add(self, row: _Row) -> None:
        self._rows.append(row)
        self.progress.lines += 1
        self._chars += len(row.text) + 200
        if self._chars >= _BATCH_CHARS:
            self._flush()

    def _flush(self) -> None:
        if not (self._rows or self._before or self._after):
            return
        rows, before, after = self._rows, self._before, self._after
        self._rows, self._before, self._after, self._chars = [], [], [], 0
        self._settle()
        self._pending = self._writer.submit(self._write, before, rows, after)

    def _settle(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    def _write(self, before: list[Statement], rows: list[_Row], after: list[Statement]) -> None:
        """All texts in one statement: SQLite takes them apart while the next lines are read."""
        base = self._base
        base.execute("BEGIN IMMEDIATE")
        try:
            for statement, values in before:
                base.execute(statement, values)
            # A number is never given again: the words of a line that is gone stay with its own.
            last = base.execute("SELECT last FROM given").fetchone()[0]
            base.execute("UPDATE given SET last = ?", (last + len(rows),))
            texts = json.dumps([row.text for row in rows], ensure_ascii=False)
            base.execute(_WORDS, (last, texts))
            base.executemany(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (number, row.file, row.offset, row.length, row.at, row.role)
                    for number, row in enumerate(rows, last + 1)
                ),
            )
            said = ((row.session, row.digest) for row in rows if row.digest)
            base.executemany(_SAID, said)
            for statement, values in after:
                base.execute(statement, values)
            base.execute("COMMIT")
        except BaseException:
            base.execute("ROLLBACK")
            raise


_KNOWN = "SELECT id, path, key, size, mtime, inode, head, offset FROM files WHERE head NOT NULL"
_ADD_FILE = """INSERT OR REPLACE INTO files
    (id, source, path, key, session, cwd, title, model, updated)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_READ_UP_TO = """UPDATE files SET size = ?, mtime = ?, inode = ?, head = ?, offset = ?
    WHERE id = ?"""
_SAID = "INSERT OR IGNORE INTO said VALUES (?, ?)"
_COUNT_DAY = f"INSERT INTO days VALUES ({', '.join('?' * 13)})"
_COUNT_TOOL = "INSERT INTO tools VALUES (?, ?, ?, ?)"
_WORDS = "INSERT INTO words (rowid, text) SELECT ? + 1 + key, value FROM json_each(?)"


def _row(ref: SessionRef, file: int, place: tuple[int, int], said: LineText, digest: int) -> _Row:
    text = split_cjk(f"{said.text}\n{facets(said)}").encode("utf-8", "replace").decode()
    session = str(ref.path.parent) if digest else ""
    return _Row(file, *place, said.at, said.role, text, digest, session)


def facets(said: LineText) -> str:
    """What is known of a line besides its text, as words that a filter looks for."""
    found = [facet("r", said.role)] if said.role else []
    found += [facet("t", tool) for tool in sorted(said.tools)]
    found += path_facets("f", sorted(said.paths))
    found += path_facets("w", sorted(said.touched))
    if said.model:
        found.append(facet("m", said.model))
    if said.is_error:
        found.append(facet("h", "error"))
    if said.is_compaction:
        found.append(facet("h", "compaction"))
    return " ".join(dict.fromkeys(found))


def _digest(line: bytes) -> int:
    """63 bits of a line's hash: what two logs of a session share is the same to the byte."""
    return int.from_bytes(blake2b(line, digest_size=8).digest()) >> 1 or 1


def _head_hash(ref: SessionRef, size: int = _HEAD) -> bytes:
    with ref.path.open("rb") as file:
        head = file.read(min(size, _HEAD))
    return blake2b(head, digest_size=8).digest() + len(head).to_bytes(2)


def _has_grown(ref: SessionRef, row: _Known) -> bool:
    """Whether the file still begins as it did, and holds all that was read of it."""
    return ref.stamp[0] >= row.offset and row.head == _head_hash(ref, row.size)


def whole_lines(ref: SessionRef, start: int) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of every finished line from a place on; longer ones than we read are not."""
    with ref.path.open("rb") as file:
        file.seek(start)
        offset, rest, left_out = start, b"", 0
        while block := file.read(_BLOCK):
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                if not left_out and len(line) > 2:
                    yield offset, line
                offset += left_out + len(line) + 1
                left_out = 0
            if len(rest) > MAX_LINE_BYTES:
                left_out, rest = left_out + len(rest), b""
