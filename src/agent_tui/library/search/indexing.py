"""Bringing the index up to date: each file from where it was left, and no line a second time.

A file is known by path, size, inode and the hash of its head. One that has grown is read from the
byte where the last reading ended; one that was replaced is read again.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias, assert_never

from agent_tui.core.errors import AgentTuiError
from agent_tui.importers.claude_code import CLAUDE
from agent_tui.importers.codex import CODEX
from agent_tui.importers.importer import SessionRef
from agent_tui.importers.lines import open_to_read
from agent_tui.library.search.copies import (
    Entries,
    held_before,
    origin_of,
    original_first,
    read_entries,
)
from agent_tui.library.search.readers import LazyUnit, read_units
from agent_tui.library.search.reading import (
    ROTATED,
    About,
    Failed,
    Finished,
    Job,
    Part,
    Piece,
    Unit,
)
from agent_tui.library.search.sources import folder_refs, is_lined, is_ours, tell_trouble
from agent_tui.library.search.words import facet

Statement: TypeAlias = tuple[str, tuple[object, ...]]

_HEAD = 4096
_BATCH_CHARS = 64_000_000
"""What is written at once: of less, the full-text table would merge what it wrote more often."""
_MERGE_LINES = 16
_MERGE_PAGES = 32
"""Pages that are merged for so many lines: few enough that nobody waits for those of an update."""
_ID_LENGTH = 36


@dataclass(slots=True)
class Progress:
    """How far the indexing has come; ``troubles`` are sentences on files that cannot be read."""

    files: int = 0
    changed: int = 0
    lines: int = 0
    bytes: int = 0
    troubles: list[str] = field(default_factory=list)


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
    counted: int

    @property
    def stamp(self) -> tuple[int, int, int]:
        return (self.size, self.mtime, self.inode)


class Indexer:
    """Writes one index; ``close`` it when done. Not for several threads."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._digests: defaultdict[int, list[int]] = defaultdict(list)
        self._times: dict[int, tuple[str, str]] = {}
        self._said: list[tuple[str, int]] = []
        self._statements: list[Statement] = []
        self._chars = 0
        self._merges = 0
        rows = [_Known(*row) for row in base.execute(_KNOWN)]
        self._known = {(row.path, row.key): row for row in rows}
        self._by_inode = {row.inode: row for row in rows}
        about = base.execute("SELECT id, updated, model FROM files")
        self._about = {file: (updated or "", model or "") for file, updated, model in about}
        self._next_file = max(self._about, default=0) + 1
        self._roots: defaultdict[str, set[str]] = defaultdict(set)
        for root, path in base.execute(_ROOTS):
            self._roots[root].add(path)
        self._named: dict[str, SessionRef | Path] = {}
        self._left: set[str] = set()
        self._is_bulk = bool(base.execute("SELECT is_bulk FROM given").fetchone()[0])
        self.progress = Progress()

    def close(self) -> None:
        """Write what is left and let the index go."""
        try:
            self._flush()
        finally:
            self._base.close()

    def update(
        self, refs: Iterable[SessionRef], told: Callable[[Progress], None] | None = None
    ) -> Progress:
        """Read what is new in these files, and forget all others."""
        refs = [ref for ref in refs if self._can_be_named(ref)]
        self._named = {name: place for ref in refs for name, place in _names_of(ref)}
        units: defaultdict[str, list[Job]] = defaultdict(list)
        self.progress.files += len(refs)
        for ref in refs:
            row = self._known.get((str(ref.path), ref.key))
            if row is None or row.stamp != ref.stamp:
                units[_unit_of(ref)] += self._planned(ref, row)
        self._forget_missing(refs)
        self._plan_anew(refs, units)
        self._tell_copies(refs, units)
        jobs = [job for unit in units.values() for job in unit]
        self.progress.changed += len(jobs)
        size = sum(job.ref.stamp[0] - max(0, job.start) for job in jobs)
        self._flush()  # what moved or went, before what took its place
        for part in read_units([self._lazy(unit) for unit in units.values() if unit], size):
            self._take(part)
            if told is not None and isinstance(part, Finished):
                told(self.progress)
        self._flush()
        if self._is_bulk and self.progress.lines:
            self._set_apart()
        return self.progress

    def _can_be_named(self, ref: SessionRef) -> bool:
        """Whether the index can hold the name of a file; one that is not UTF-8 it cannot."""
        try:
            f"{ref.path}{ref.key}".encode()
        except UnicodeEncodeError:
            why = "its name is not UTF-8; rename it to have it searched"
            self.progress.troubles.append(f"{ref.path}: {why}")
            return False
        return True

    def _forget_missing(self, refs: Iterable[SessionRef]) -> None:
        there = {(str(ref.path), ref.key) for ref in refs}
        for row in [row for place, row in self._known.items() if place not in there]:
            self._drop(row)

    def _plan_anew(self, refs: Iterable[SessionRef], units: dict[str, list[Job]]) -> None:
        """A log that went may have held lines for the others of its session: read those again."""
        left = [ref for ref in refs if ref.source in ROTATED]
        left = [ref for ref in left if str(ref.path.parent) in self._left]
        for folder in {_unit_of(ref) for ref in left}:
            for job in units.get(folder, ()):
                self._by_inode.pop(job.ref.stamp[2], None)
                self._delete(job.file)
            units[folder] = []
        for ref in left:
            if (row := self._known.get((str(ref.path), ref.key))) is not None:
                self._drop(row)
            units[_unit_of(ref)] += self._planned(ref, None)

    def _planned(self, ref: SessionRef, row: _Known | None) -> list[Job]:
        try:
            return [self._plan(ref, row)]
        except (AgentTuiError, OSError) as error:
            self.progress.troubles.append(tell_trouble(ref, error))
            return []

    def _plan(self, ref: SessionRef, row: _Known | None) -> Job:
        """What is to be read of a file that is not as it was."""
        head = _head_hash(ref) if is_lined(ref) else b""
        if head and (row is None or row.inode != ref.stamp[2]):
            row = self._moved(ref) or row
        if row is not None and head and row.inode == ref.stamp[2] and _has_grown(ref, row):
            self._statements.append((_FORGET_BEHIND, (row.id, row.offset)))
            day, model = self._about.get(row.id, ("", ""))
            grown = Job(ref, row.id, row.offset, head, is_new=False, counted=row.counted)
            return replace(grown, day=day, model=model)
        if row is not None:
            self._drop(row)
        file, self._next_file = self._next_file, self._next_file + 1
        if not head:
            return Job(ref, file, -1, head, is_new=True)
        name = origin_of(ref)
        if ref.source == CLAUDE:
            self._roots[name].add(str(ref.path))
            return Job(ref, file, 0, head, is_new=True, root=name)
        return Job(ref, file, 0, head, is_new=True, origins=tuple(self._origins(ref, name)))

    def _origins(self, ref: SessionRef, name: str) -> Iterator[SessionRef]:
        """The files that a new one may be a copy of.

        They may be written to after the copy was made, and be indexed after it: they are read.
        """
        origin = self._named.get(name)
        if isinstance(origin, SessionRef):
            yield origin
        elif origin is not None and origin != ref.path.parent:
            yield from folder_refs(origin)

    def _tell_copies(self, refs: Iterable[SessionRef], units: dict[str, list[Job]]) -> None:
        """Number files of Claude Code that share a beginning so that the original is the first.

        A known copy is read again when its original turns up behind it.
        """
        there = {str(ref.path): ref for ref in refs if ref.source == CLAUDE}
        fresh = {job.root for unit in units.values() for job in unit if job.root}
        for root in sorted(fresh):
            group = [there[path] for path in sorted(self._roots[root]) if path in there]
            jobs: list[Job] = []
            order = original_first(self._entries_of(group)) if len(group) > 1 else []
            for each, held in zip(order, held_before(order), strict=True):
                ref = each.ref
                planned = units[_unit_of(ref)]
                if jobs and not any(job.is_new for job in planned):
                    if (row := self._known.get((str(ref.path), ref.key))) is not None:
                        self._drop(row)
                    planned = self._planned(ref, None)
                jobs += [replace(job, held=held) for job in planned if job.root]
            numbers = sorted(job.file for job in jobs)
            for number, job in zip(numbers, jobs, strict=True):
                units[_unit_of(job.ref)] = [replace(job, file=number)]

    def _entries_of(self, group: Iterable[SessionRef]) -> Iterator[Entries]:
        """What the files hold; one that cannot be read is told, and is found as it is known."""
        for ref in group:
            try:
                yield read_entries(ref)
            except (AgentTuiError, OSError) as error:
                self.progress.troubles.append(tell_trouble(ref, error))
                if (row := self._known.get((str(ref.path), ref.key))) is not None:
                    self._leave_to_copies(row)

    def _leave_to_copies(self, row: _Known) -> None:
        """Count what a file holds in its copies, until it can be read again."""
        for table in ("days", "tools"):
            self._statements.append((f"DELETE FROM {table} WHERE file = ?", (row.id,)))
        self._statements.append(("UPDATE files SET inode = 0 WHERE id = ?", (row.id,)))

    def _lazy(self, jobs: list[Job]) -> LazyUnit:
        def make() -> Unit:
            ref = jobs[0].ref
            if ref.source not in ROTATED:
                return Unit(tuple(jobs))
            found = self._base.execute(_DIGESTS, (str(ref.path.parent),))
            return Unit(tuple(jobs), frozenset(digest for (digest,) in found))

        return make

    def _moved(self, ref: SessionRef) -> _Known | None:
        """The file under its new name: a log that was rotated keeps its place in the index."""
        row = self._by_inode.get(ref.stamp[2])
        if row is None or row.path == str(ref.path) or not _has_grown(ref, row):
            return None
        self._known.pop((row.path, row.key), None)
        if (other := self._known.pop((str(ref.path), ref.key), None)) is not None:
            self._drop(other)
        self._statements.append(("UPDATE files SET path = ? WHERE id = ?", (str(ref.path), row.id)))
        return row

    def _drop(self, row: _Known) -> None:
        self._known.pop((row.path, row.key), None)
        self._by_inode.pop(row.inode, None)
        folder = str(Path(row.path).parent)
        self._left.add(folder)
        self._statements.append(("DELETE FROM said WHERE session = ?", (folder,)))
        self._delete(row.id)

    def _delete(self, file: int) -> None:
        self._about.pop(file, None)
        for table in ("entries", "days", "tools"):
            self._statements.append((f"DELETE FROM {table} WHERE file = ?", (file,)))
        self._statements.append(("DELETE FROM files WHERE id = ?", (file,)))

    def _take(self, part: Part) -> None:
        match part:
            case About(ref, file):
                told = (part.session, part.cwd, part.title, part.model, part.updated)
                values = (file, ref.source, str(ref.path), ref.key, *told)
                self._statements.append((_ADD_FILE, values))
                self._about[file] = (part.updated, part.model)
            case Piece():
                self._write(part)
                if self._chars >= _BATCH_CHARS:
                    self._is_bulk = True
                    self._statements.append(("UPDATE given SET is_bulk = 1", ()))
                    self._flush()
            case Finished():
                self._finish(part)
            case Failed(trouble):
                self.progress.troubles.append(trouble)
            case _:
                assert_never(part)

    def _finish(self, part: Finished) -> None:
        job, ref = part.job, part.job.ref
        self._statements += [(_COUNT_DAY, (job.file, *row)) for row in part.days]
        self._statements += [(_COUNT_TOOL, (job.file, *row)) for row in part.tools]
        self.progress.bytes += part.end - max(0, job.start)
        row = _Known(job.file, str(ref.path), ref.key, *ref.stamp, job.head, part.end, part.counted)
        self._known[(row.path, row.key)] = self._by_inode[row.inode] = row
        # Only now: a file that is read again after a failure must not find its own lines held.
        folder = str(ref.path.parent)
        self._said += [(folder, digest) for digest in self._digests.pop(job.file, ())]
        first, last = self._times.pop(job.file, (None, ""))
        place = (*ref.stamp, job.head, part.end, part.counted, job.root, first, first, last)
        self._statements.append((_READ_UP_TO, (*place, job.file)))

    def _flush(self) -> None:
        """Keep the rows that were written, with what says that they are there."""
        if not (self._statements or self._base.in_transaction):
            return
        with self._writing() as base:
            for statement, values in self._statements:
                base.execute(statement, values)
            base.executemany(_SAID, self._said)
            base.execute("COMMIT")
        self._statements, self._said, self._chars = [], [], 0
        merges, self._merges = self._merges, 0
        if merges:
            self._base.execute(_MERGE, (merges * _MERGE_PAGES,))

    def _set_apart(self) -> None:
        """Keep what was written in bulk from being merged with the lines that come next.

        The full-text table merges the parts of a level all at once when they are too many. Asked
        to merge everything, it puts the parts of all levels on a new one and begins; of parts on
        one level it only begins, so that the second time moves what the first left on two.
        """
        for _ in range(2):
            with self._writing() as base:
                base.execute(_ADD_WORDS, (self._give(1), facet("z", "")))
                base.execute("COMMIT")
            self._base.execute(_MERGE, (-1,))
        self._base.execute("UPDATE given SET is_bulk = 0")
        self._is_bulk = False

    def _give(self, count: int) -> int:
        """The first of so many new numbers.

        One is never given again: the words of a line that is gone stay with its own.
        """
        last: int = self._base.execute("SELECT last FROM given").fetchone()[0]
        self._base.execute("UPDATE given SET last = last + ?", (count,))
        self._merges += (last + count) // _MERGE_LINES - last // _MERGE_LINES
        return last + 1

    def _write(self, piece: Piece) -> None:
        """Write rows as they come: the full-text table gathers them until they are kept."""
        rows, file = piece.rows, piece.file
        self._digests[file] += [row[5] for row in rows if row[5]] + piece.mute
        times = [*self._times.get(file, ()), *(row[2] for row in rows if row[2])]
        if times:
            self._times[file] = (min(times), max(times))
        self.progress.lines += len(rows)
        self._chars += piece.chars
        with self._writing() as base:
            first = self._give(len(rows))
            texts = ((number, row[4]) for number, row in enumerate(rows, first))
            base.executemany(_ADD_WORDS, texts)
            entries = ((number, file, *row[:4]) for number, row in enumerate(rows, first))
            base.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", entries)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction until what is written is kept; of one that fails nothing is."""
        base = self._base
        try:
            if not base.in_transaction:
                base.execute("BEGIN IMMEDIATE")
            yield base
        except BaseException:
            self._statements, self._said, self._chars = [], [], 0
            if base.in_transaction:
                base.execute("ROLLBACK")
            raise


_KNOWN = """SELECT id, path, key, size, mtime, inode, head, offset, counted FROM files
    WHERE head NOT NULL"""
_ROOTS = "SELECT root, path FROM files WHERE root <> ''"
_DIGESTS = "SELECT digest FROM said WHERE session = ?"
_ADD_FILE = """INSERT OR REPLACE INTO files
    (id, source, path, key, session, cwd, title, model, updated)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_READ_UP_TO = """UPDATE files SET size = ?, mtime = ?, inode = ?, head = ?, offset = ?,
    counted = ?, root = coalesce(nullif(?, ''), root), began = coalesce(min(began, ?), began, ?),
    updated = max(updated, ?) WHERE id = ?"""
_ADD_WORDS = "INSERT INTO words (rowid, text) VALUES (?, ?)"
_MERGE = "INSERT INTO words (words, rank) VALUES ('merge', ?)"
_SAID = "INSERT OR IGNORE INTO said VALUES (?, ?)"
_FORGET_BEHIND = "DELETE FROM entries WHERE file = ? AND offset >= ?"
"""What a reading wrote that failed before its end."""
_COUNT_DAY = f"INSERT INTO days VALUES ({', '.join('?' * 13)})"
_COUNT_TOOL = "INSERT INTO tools VALUES (?, ?, ?, ?)"


def _unit_of(ref: SessionRef) -> str:
    """What is read together: the logs of a session repeat each other's lines."""
    return str(ref.path.parent) if ref.source in ROTATED else f"{ref.path}#{ref.key}"


def _names_of(ref: SessionRef) -> Iterator[tuple[str, SessionRef | Path]]:
    """The ids by which copies name a session: a folder of ours, or a file of Codex."""
    if is_ours(ref):
        yield ref.path.parent.name, ref.path.parent
    elif ref.source == CODEX and is_lined(ref):
        yield ref.path.stem[-_ID_LENGTH:], ref


def _head_hash(ref: SessionRef, size: int = _HEAD) -> bytes:
    with open_to_read(ref.path) as file:
        head = file.read(min(size, _HEAD))
    return blake2b(head, digest_size=8).digest() + len(head).to_bytes(2)


def _has_grown(ref: SessionRef, row: _Known) -> bool:
    """Whether the file still begins as it did, and holds all that was read of it."""
    return ref.stamp[0] >= row.offset and row.head == _head_hash(ref, row.size)
