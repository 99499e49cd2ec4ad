"""The end of one session's log, as the writer thread knows it: what is stamped, written, rotated.

Nothing here runs on the event loop. Every change gives back a Change, which the session applies to
its state on the loop: memory follows the disk and never runs ahead of it.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, fields, replace
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias, get_args

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import AgentTuiError, LogChanged
from agent_tui.core.jsonl import LineReader, encode
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import (
    HeadRecord,
    Record,
    RevertRecord,
    SessionHeader,
    Stamp,
)
from agent_tui.sessions.chosen import Chosen
from agent_tui.sessions.disk import reading, translate_os_errors
from agent_tui.sessions.lineage import highest_number
from agent_tui.sessions.log import Build, Durability, LogFile, OpenLog, Piece, Span
from agent_tui.sessions.replay import (
    Entry,
    Item,
    SessionState,
    load_log,
    read_items,
    read_log,
)

BuildLog: TypeAlias = Callable[[int], Sequence[Record | Entry]]


@dataclass(frozen=True, slots=True)
class LogMark:
    """A fingerprint of a log: one that still begins with the same bytes matches it."""

    inode: int
    size: int
    crc: int


@dataclass(frozen=True, slots=True)
class Change:
    """What a write did: records appended to the old state, or a new state in its place."""

    records: list[Record] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    state: SessionState | None = None
    inode: int = -1
    archive: int = 0


def utc_now() -> str:
    """The time as RFC 3339 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_uuid() -> str:
    """An id that no other record has; ids of later milliseconds sort later."""
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"


def stamped(record: Record, parent_uuid: str | None, at: str) -> Record:
    """The record with an id, a parent and a time, where it has none yet."""
    old = record.stamp
    stamp = Stamp(old.uuid or new_uuid(), old.parent_uuid or parent_uuid, old.at or at)
    kind: Callable[..., Record] = type(record)
    return kind(*_WITHOUT_STAMP[kind](record), stamp=stamp)


def _without_stamp(kind: type[Any]) -> Callable[[Record], tuple[Any, ...]]:
    names = [field.name for field in fields(kind) if field.name != "stamp"]
    if len(names) == 1:
        return lambda record: (getattr(record, names[0]),)
    return attrgetter(*names)


_WITHOUT_STAMP: dict[Callable[..., Record], Callable[[Record], tuple[Any, ...]]] = {
    kind: _without_stamp(kind) for kind in get_args(Record)
}
"""Reads the fields of a record: dataclasses.replace would take three times as long."""


class LogWriter:
    """Writes one session's log, in the writer thread only."""

    def __init__(self, file: LogFile, state: SessionState, inode: int) -> None:
        self.file = file
        self._follow(state, inode)

    def _follow(self, state: SessionState, inode: int) -> None:
        self._inode = inode
        self._size = state.size
        self._leaf = state.leaf_uuid
        # The state of all that was written, including what the event loop has not settled yet.
        self._chosen = Chosen.of(state)
        acts: list[Record] = [*state.compactions, *state.reverts]
        self.file.highest_number = highest_number(state.header, acts)

    def reload(self) -> Change:
        """Read the whole log again."""
        state, inode = load_log(self.file.path)
        self._follow(state, inode)
        return Change(state=state, inode=inode)

    def catch_up(self) -> Change:
        """Read the log again if it is not as last seen here; otherwise an empty change."""
        with translate_os_errors("read", self.file.path):
            status = os.lstat(self.file.path)
        if (status.st_ino, status.st_size) == (self._inode, self._size):
            return Change()
        return self.reload()

    def append(
        self, batches: Sequence[Sequence[Record]], durability: Durability
    ) -> list[Change | AgentTuiError]:
        """Write many callers' records with one write and at most one flush.

        A caller whose records cannot be encoded fails alone; if the disk refuses, all do.
        """
        at = utc_now()
        leaf = self._leaf
        outcomes: list[list[tuple[Record, bytes]] | AgentTuiError] = []
        lines: list[bytes] = []
        for batch in batches:
            try:
                written, leaf = encode_records(batch, leaf, at)
            except AgentTuiError as error:
                outcomes.append(error)
                continue
            outcomes.append(written)
            lines += [line for _, line in written]
        try:
            landing = self.file.append(b"".join(lines), durability)
        except AgentTuiError as error:
            return [out if isinstance(out, AgentTuiError) else error for out in outcomes]
        inode, size_before, healing = landing
        if (inode, size_before) != (self._inode, self._size):
            return self._after_foreign_write(outcomes)
        self._leaf = leaf
        self._size = size_before + len(healing)
        return [out if isinstance(out, AgentTuiError) else self._land(out) for out in outcomes]

    def _land(self, written: list[tuple[Record, bytes]]) -> Change:
        records, entries = [], []
        for record, line in written:
            records.append(record)
            entries.append(Entry(record, self._size, len(line)))
            self._size += len(line)
        self._chosen = self._chosen.and_then(records)
        return Change(records, entries)

    def _after_foreign_write(
        self, outcomes: list[list[tuple[Record, bytes]] | AgentTuiError]
    ) -> list[Change | AgentTuiError]:
        seen = self.reload()
        return [
            out
            if isinstance(out, AgentTuiError)
            else replace(seen, records=[record for record, _ in out])
            for out in outcomes
        ]

    def mark(self) -> LogMark:
        """The fingerprint of the log as it is now."""
        with reading(self.file.path) as (descriptor, status):
            return LogMark(status.st_ino, self._size, _checksum(descriptor, self._size))

    def revert(self, inode: int, old: SessionState, cut: int, act: RevertRecord) -> Change:
        """Keep the first ``cut`` bytes of the log, and add the operation's record behind them.

        Like ``clear`` and ``restore``, it changes only the log that it was worked out from, which
        ``inode`` tells; what was appended to that since goes into the archive.

        Raises:
            LogChanged: the log is another one by now; nothing was changed.
        """
        state = old.prefix(cut)
        new = [act, *self._chosen.missing_in(state)]

        def build(log: OpenLog, number: int) -> Iterable[Piece]:
            self._check_unchanged(log, inode)
            yield Span(log[0], 0, cut)
            yield self._extend(state, new, number)

        return self._replace(build, state)

    def clear(self, inode: int, kept: Sequence[Entry]) -> Change:
        """Keep a few entries, and add the operation's record behind them."""
        state = SessionState()

        def build(log: OpenLog, number: int) -> Iterable[Piece]:
            self._check_unchanged(log, inode)
            for entry in kept:
                yield from _keep(log[0], entry, state)
            new = [RevertRecord(0, "clear"), *self._chosen.missing_in(state)]
            yield self._extend(state, new, number)

        return self._replace(build, state)

    def restore(
        self, inode: int, path: Path, act: RevertRecord, header: Entry | None = None
    ) -> Change:
        """Put a copy of an archive in the place of the log; the archive stays.

        One of another session comes under ``header``, this log's own, in the place of its own.
        """
        state, start, shift = read_log(path), 0, 0
        if header is not None:
            state, start = _under_header(header, state)
            shift = header.length - start
        new = [act, *self._chosen.missing_in(state)]
        with reading(path) as (descriptor, status):

            def build(log: OpenLog, number: int) -> Iterable[Piece]:
                self._check_unchanged(log, inode)
                if header is not None:
                    yield Span(log[0], header.offset, header.length)
                yield Span(descriptor, start, status.st_size - start)
                newline = _missing_newline(descriptor, status.st_size)
                yield newline
                state.size = status.st_size + shift + len(newline)
                yield self._extend(state, new, number)

            return self._replace(build, state)

    def compact(self, mark: LogMark, assemble: BuildLog) -> Change:
        """Replace the bytes under the mark by what ``assemble`` gives; keep what came after.

        Raises:
            LogChanged: the log no longer begins with those bytes; nothing was changed.
        """
        state = SessionState()

        def build(log: OpenLog, number: int) -> Iterable[Piece]:
            descriptor, size, inode = log
            if (
                inode != mark.inode
                or size < mark.size
                or _checksum(descriptor, mark.size) != mark.crc
            ):
                raise LogChanged(
                    f"{self.file.path} is no longer the log that was summarised; "
                    "nothing was changed. Compact again."
                )
            for part in assemble(number):
                if isinstance(part, Entry):
                    yield from _keep(descriptor, part, state)
                else:
                    yield self._extend(state, [part], number)
            yield self._extend(state, self._chosen.missing_in(state), number)
            yield Span(descriptor, mark.size, size - mark.size)
            shift = state.size - mark.size
            for item in read_items(LineReader(descriptor, mark.size)):
                state.apply(replace(item, offset=item.offset + shift))

        return self._replace(build, state)

    def _check_unchanged(self, log: OpenLog, planned_on: int) -> None:
        if log[1:] != (self._size, self._inode):
            raise LogChanged(
                f"{self.file.path} was changed by another program and has been reloaded. "
                "This operation changed nothing; try again."
            )
        if self._inode != planned_on:
            raise LogChanged(
                f"{self.file.path} was replaced by another operation; this one changed nothing. "
                "Look at the session as it is now, then try again."
            )

    def _extend(self, state: SessionState, records: Sequence[Record], number: int) -> bytes:
        """Encode new records behind a state that is being built, and fold them into it."""
        numbered = [
            replace(record, archive=number) if isinstance(record, RevertRecord) else record
            for record in records
        ]
        written, _ = encode_records(numbered, state.leaf_uuid, utc_now())
        for record, line in written:
            state.apply(Entry(record, state.size, len(line)))
        return b"".join(line for _, line in written)

    def _replace(self, build: Build, state: SessionState) -> Change:
        number = self.file.replace(build)
        inode, state.size = self.file.left_at
        self._follow(state, inode)
        return Change(state=state, inode=inode, archive=number)


def encode_records(
    records: Sequence[Record], leaf: str | None, at: str
) -> tuple[list[tuple[Record, bytes]], str | None]:
    """The records stamped, each with its line, and the leaf that the next one hangs off."""
    written = []
    for plain in records:
        record = stamped(plain, leaf, at)
        written.append((record, encode(record_fields(record))))
        leaf = record.to if isinstance(record, HeadRecord) else record.stamp.uuid
    return written, leaf


def _keep(descriptor: int, entry: Entry, state: SessionState) -> Iterator[Piece]:
    """Copy an entry of the old log into the new one, byte for byte."""
    span, newline = whole_line(descriptor, entry)
    state.apply(Entry(entry.record, state.size, entry.length + len(newline)))
    yield from (span, newline)


def whole_line(descriptor: int, entry: Entry) -> tuple[Span, bytes]:
    """The bytes of an entry, and the newline that it lacks if it was the unfinished last line.

    An append that finishes the line does not make the entry longer that was read before.
    """
    end = entry.offset + entry.length
    return Span(descriptor, entry.offset, entry.length), _missing_newline(descriptor, end)


def _under_header(header: Entry, archive: SessionState) -> tuple[SessionState, int]:
    """An archive's state with another header, and where in it begins what comes behind that."""
    items: list[Item] = [*archive.all_entries, *archive.damaged]
    items.sort(key=attrgetter("offset"))
    start = 0
    if items and isinstance(items[0], Entry) and isinstance(items[0].record, SessionHeader):
        start = items[0].offset + items.pop(0).length
    shift = header.length - start
    state = SessionState()
    state.apply(replace(header, offset=0))
    state.fold(replace(item, offset=item.offset + shift) for item in items)
    return state, start


def _missing_newline(descriptor: int, end: int) -> bytes:
    return b"\n" if end and os.pread(descriptor, 1, end - 1) != b"\n" else b""


def _checksum(descriptor: int, size: int) -> int:
    crc = 0
    for block in _blocks(descriptor, size):
        crc = zlib.crc32(block, crc)
    return crc


def _blocks(descriptor: int, size: int) -> Iterator[bytes]:
    offset = 0
    while offset < size and (block := os.pread(descriptor, min(1 << 20, size - offset), offset)):
        offset += len(block)
        yield block
