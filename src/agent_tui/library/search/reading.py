"""Reading session files for the index: lines become rows, counted as they come.

Nothing here knows the index, so that it can be done in other processes as well.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.record_writing import record_fields
from agent_tui.core.times import known_time
from agent_tui.importers.importer import SessionRef
from agent_tui.importers.registry import importer_of, read
from agent_tui.library.search.copies import Copies
from agent_tui.library.search.line_text import LineText, decode, encodable, read_object
from agent_tui.library.search.raw_lines import digest_of, lines_before, whole_lines
from agent_tui.library.search.sources import OURS, tell_trouble
from agent_tui.library.search.tallies import Tally
from agent_tui.library.search.words import facet, path_facets, split_cjk

ROTATED = frozenset({OURS, "kimi"})
"""Agents whose archives repeat what the live log says: a line is indexed once for a session."""
_PIECE_CHARS = 1_000_000

Row: TypeAlias = tuple[int, int, str, str, str, int]
"""Offset, length, time, role, text and digest of a line; the digest is 0 where none is kept."""


@dataclass(frozen=True, slots=True)
class Job:
    """A file to be read from a byte on; ``start`` is -1 where it has no lines.

    Attributes:
        file: its number in the index.
        head: the hash of its beginning.
        is_new: whether the index knows nothing of it.
        day, model: what is known for lines that say none.
        origins: the files that it may be a copy of.
        held: the keys of its lines that another file holds, where those are known.
        root: what it shares with its copies, where nothing else tells of them.
        counted: where the last line stands whose tokens may be said again; -1 for none.
    """

    ref: SessionRef
    file: int
    start: int
    head: bytes
    is_new: bool
    day: str = ""
    model: str = ""
    origins: tuple[SessionRef, ...] = ()
    held: bytes = b""
    root: str = ""
    counted: int = -1


@dataclass(frozen=True, slots=True)
class Unit:
    """Files that are read one after another, and the lines of them that the index has."""

    jobs: tuple[Job, ...]
    said: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class About:
    """What the index says of a new file."""

    ref: SessionRef
    file: int
    session: str
    cwd: str
    title: str
    model: str
    updated: str


@dataclass(slots=True)
class Piece:
    """Rows of a file, and the digests of its lines that say nothing."""

    file: int
    rows: list[Row] = field(default_factory=list)
    mute: list[int] = field(default_factory=list)
    chars: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """A file was read up to ``end``; what was counted in it, by day and by tool.

    Attributes:
        counted: where the last line stands whose tokens may be said again; -1 for none.
    """

    job: Job
    end: int
    counted: int
    days: list[tuple[object, ...]]
    tools: list[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Failed:
    """A file could not be read, and why."""

    trouble: str


Part: TypeAlias = About | Piece | Finished | Failed


def read_unit(unit: Unit) -> Iterator[Part]:
    """Everything that the index keeps of some files; a trouble with one stops no other."""
    said = set(unit.said)
    for job in unit.jobs:
        try:
            yield from _read(job, said)
        except (AgentTuiError, OSError) as error:
            yield Failed(tell_trouble(job.ref, error))


def _read(job: Job, said: set[int]) -> Iterator[Part]:
    day, model = job.day, job.model
    if job.is_new:
        about = _describe(job)
        day, model = about.updated, about.model
        yield about
    tally = Tally(day, model)
    if job.start >= 0:
        end, counted = yield from _read_lines(job, said, tally)
    else:
        end, counted = (yield from _read_whole(job, tally)), -1
    yield Finished(job, end, counted, list(tally.days()), list(tally.tools()))


def _describe(job: Job) -> About:
    ref = job.ref
    with suppress(AgentTuiError, OSError):
        row = importer_of(ref.source).summarise(ref)
        told = [row.session_id, row.cwd, row.title, row.model, row.updated_at]
        return About(ref, job.file, *encodable(told))
    return About(ref, job.file, ref.path.stem, "", "", "", "")


def _read_lines(job: Job, said: set[int], tally: Tally) -> Generator[Part, None, tuple[int, int]]:
    ref, end, counted = job.ref, job.start, job.counted
    if counted >= 0:
        _, line = next(whole_lines(ref, counted), (0, b""))
        tally.begin_behind(decode(line) or {})
    if job.start:
        tally.follow(lines_before(ref, job.start))
    is_rotated = ref.source in ROTATED
    may_repeat = job.origins or job.held
    copies = Copies(ref.source, job.origins, job.held) if may_repeat else None
    piece = Piece(job.file)
    for offset, line in whole_lines(ref, job.start):
        end = offset + len(line) + 1
        value = decode(line)
        if value is None:
            continue
        digest = digest_of(line) if is_rotated else 0
        if digest in said:
            continue
        text = read_object(value)
        if copies is not None and copies.hold(line, value):
            if text is not None:  # it was counted in the other session
                tally.learn_calls(text)
        elif tally.add(value, text):
            counted = offset
        if digest:
            said.add(digest)
        if text is not None:
            _add(piece, (offset, len(line)), text, tally, digest)
        elif digest:
            piece.mute.append(digest)
        if piece.chars >= _PIECE_CHARS:
            yield piece
            piece = Piece(job.file)
    yield piece
    return end, counted


def _read_whole(job: Job, tally: Tally) -> Generator[Part, None, int]:
    piece = Piece(job.file)
    for number, record in enumerate(read(job.ref).records):
        value = encodable(record_fields(record))
        text = read_object(value)
        tally.add(value, text)
        if text is not None:
            text.at = text.at or known_time(record.stamp.at)
            _add(piece, (number, -1), text, tally)
        if piece.chars >= _PIECE_CHARS:
            yield piece
            piece = Piece(job.file)
    yield piece
    return job.ref.stamp[0]


def _add(
    piece: Piece, place: tuple[int, int], said: LineText, tally: Tally, digest: int = 0
) -> None:
    text = split_cjk(f"{said.text}\n{facets(said, tally.failed_tools(said))}")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    piece.rows.append((*place, said.at, said.role, text, digest))
    piece.chars += len(text) + 200


def facets(said: LineText, failed: Sequence[str] = ()) -> str:
    """What is known of a line besides its text, as words that a filter looks for.

    ``failed`` are the tools whose failed calls it answers: who looks for both means one line.
    """
    about = _about_facets(said.role, said.model, said.is_error, said.is_compaction)
    if failed:
        about = " ".join((about, *dict.fromkeys(facet("t", tool) for tool in failed)))
    if not (said.calls or said.paths or said.touched):
        return about
    found = [facet("t", tool) for tool in sorted(said.tools)]
    for path in sorted(said.paths):
        found += _path_facets("f", path)
    for path in sorted(said.touched):
        found += _path_facets("w", path)
    return " ".join((about, *dict.fromkeys(found)))


@lru_cache(256)
def _about_facets(role: str, model: str, is_error: bool, is_compaction: bool) -> str:
    found = [facet("r", role)] if role else []
    if model:
        found.append(facet("m", model))
    if is_error:
        found.append(facet("h", "error"))
    if is_compaction:
        found.append(facet("h", "compaction"))
    return " ".join(found)


@lru_cache(2048)
def _path_facets(kind: str, path: str) -> tuple[str, ...]:
    return tuple(path_facets(kind, (path,)))
