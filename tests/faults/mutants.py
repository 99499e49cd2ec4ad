"""Deliberate bugs in the protocol. A harness that does not notice them would prove nothing."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_tui.core import jsonl
from agent_tui.core.errors import AgentTuiError, SessionBusy
from agent_tui.sessions import (
    archive,
    disk,
    lock,
    log,
    log_writer,
    replay,
    session_log,
    store,
    writer,
)
from agent_tui.sessions.lock import FolderLock
from agent_tui.sessions.log import Durability, LogFile, OpenLog

Patch = AbstractContextManager[None]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: what is wrong, which promise it breaks, and the layer that notices it soonest.

    ``soonest`` is empty for a change that is provably no bug.
    """

    name: str
    promise: str
    soonest: str
    patch: Callable[[], Patch]


@contextlib.contextmanager
def replaced(target: Any, name: str, value: Any) -> Iterator[None]:
    """Put something in the place of an attribute for a while."""
    real = getattr(target, name)
    setattr(target, name, value)
    try:
        yield
    finally:
        setattr(target, name, real)


@contextlib.contextmanager
def all_of(*patches: Patch) -> Iterator[None]:
    """Several patches as one."""
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        yield


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


def without(function: Callable[..., Any], module: Any, name: str) -> Callable[..., Any]:
    """A function that runs while another one does nothing."""

    def run(*arguments: Any) -> Any:
        with replaced(module, name, _nothing):
            return function(*arguments)

    return run


_append, _replace, _keep = LogFile._append, LogFile.replace, LogFile._keep
_open_recovered, _write_file = LogFile._open_recovered, log._write_file


def _no_flush_of_live() -> Patch:
    def flush(self: LogFile, opened: OpenLog) -> None:
        if not getattr(self, "_replacing", False):
            real(self, opened)

    def replace(self: LogFile, build: log.Build) -> int:
        setattr(self, "_replacing", True)  # noqa: B010
        try:
            return _replace(self, build)
        finally:
            setattr(self, "_replacing", False)  # noqa: B010

    real = LogFile._flush
    return all_of(replaced(LogFile, "_flush", flush), replaced(LogFile, "replace", replace))


def _rename_first(self: LogFile, build: log.Build) -> int:
    with self._locked_log() as opened:
        number = max(archive.archive_numbers(self.folder), default=0) + 1
        self._flush(opened)
        _write_file(self.temporary, build(opened, number))
        os.rename(self.path, archive.archive_path(self.folder, number))  # noqa: PTH104
        disk.sync_folder(self.folder)
        os.rename(self.temporary, self.path)  # noqa: PTH104
        disk.sync_folder(self.folder)
        return number


def _rewrite_in_place(self: LogFile, build: log.Build) -> int:
    with self._locked_log() as opened:
        number = max(archive.archive_numbers(self.folder), default=0) + 1
        self._flush(opened)
        _write_file(self.temporary, build(opened, number))
        _write_file(archive.archive_path(self.folder, number), [log.Span(opened[0], 0, opened[1])])
        disk.sync_folder(self.folder)
        new = self.temporary.read_bytes()
        live = os.open(self.path, os.O_RDWR | os.O_APPEND)
        os.ftruncate(live, 0)
        os.write(live, new)
        os.fsync(live)
        os.close(live)
        os.unlink(self.temporary)  # noqa: PTH108
        return number


def _fill_gaps(folder: Path) -> list[int]:
    taken = set(archive.archive_numbers(folder))
    free = next(number for number in range(1, len(taken) + 2) if number not in taken)
    return [*range(1, free)]


def _overwrite_newest() -> Patch:
    def numbers(folder: Path) -> list[int]:
        return archive.archive_numbers(folder)[:-1]

    def keep(self: LogFile, opened: OpenLog, number: int) -> Any:
        archive.archive_path(self.folder, number).unlink(missing_ok=True)
        return _keep(self, opened, number)

    return all_of(_numbered_by(numbers), replaced(LogFile, "_keep", keep))


def _numbered_by(numbers: Callable[[Path], list[int]]) -> Patch:
    """Choose the next number by other names than there are, whatever the log says."""
    return all_of(
        replaced(log, "archive_numbers", numbers),
        replaced(log_writer, "highest_number", lambda *_: 0),
    )


def _no_healing(self: LogFile, opened: OpenLog, data: bytes, durability: Durability) -> Any:
    self._left_at = opened[2], opened[1]
    return _append(self, opened, data, durability)


def _cut_torn_line(self: LogFile, opened: OpenLog, data: bytes, durability: Durability) -> Any:
    descriptor, size, inode = opened
    keep = os.pread(descriptor, size, 0).rfind(b"\n") + 1
    if keep != size:
        os.ftruncate(descriptor, keep)
    return _append(self, (descriptor, keep, inode), data, durability)


def _ack_before_flush(self: LogFile, opened: OpenLog, data: bytes, durability: Durability) -> Any:
    return _append(self, opened, data, Durability.D0)


def _trust_again(self: LogFile, opened: OpenLog) -> None:
    disk.durable_sync(opened[0])


def _stay_open(self: LogFile, flags: int) -> OpenLog:
    if not hasattr(self, "_stayed"):
        first = _open_recovered(self, os.O_RDWR | os.O_APPEND)
        setattr(self, "_stayed", first[0])  # noqa: B010
    descriptor = os.dup(getattr(self, "_stayed"))  # noqa: B009
    status = os.fstat(descriptor)
    return descriptor, status.st_size, status.st_ino


def _reserialised(descriptor: int, offset: int, length: int) -> bytes:
    lines = os.pread(descriptor, length, offset).splitlines(keepends=True)
    return b"".join(_reserialised_line(line) for line in lines)


def _reserialised_line(line: bytes) -> bytes:
    try:
        return json.dumps(json.loads(line)).encode() + b"\n"
    except ValueError:
        return line


def _restore_by_moving() -> Patch:
    def restore(self: log_writer.LogWriter, inode: int, path: Path, *more: Any) -> Any:
        change = real(self, inode, path, *more)
        os.unlink(path)  # noqa: PTH108
        return change

    real = log_writer.LogWriter.restore
    return replaced(log_writer.LogWriter, "restore", restore)


def _open_lock_file(self: FolderLock) -> None:
    if self._descriptor < 0:
        self._descriptor = lock._open_lock(self.path)


def _no_lock() -> Patch:
    return all_of(
        replaced(FolderLock, "acquire", _open_lock_file), replaced(FolderLock, "release", _nothing)
    )


def _posix_lock() -> Patch:
    def acquire(self: FolderLock) -> None:
        _open_lock_file(self)
        deadline = time.monotonic() + self.timeout_seconds
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(0.001)
        raise SessionBusy("busy")

    def release(self: FolderLock) -> None:
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN)

    return all_of(
        replaced(FolderLock, "acquire", acquire), replaced(FolderLock, "release", release)
    )


def _steal_the_lock() -> Patch:
    def acquire(self: FolderLock) -> None:
        with contextlib.suppress(SessionBusy):
            real(self)

    real = FolderLock.acquire
    return replaced(FolderLock, "acquire", acquire)


def _memory_ahead() -> Patch:
    async def append(self: session_log.SessionLog, *records: Any, durability: Durability) -> Any:
        try:
            return await real(self, *records, durability=durability)
        except AgentTuiError:
            self.state.apply(replay.Entry(records[0], self.state.size, 0))
            raise

    real = session_log.SessionLog.append
    return replaced(session_log.SessionLog, "append", append)


async def _give_up_when_cancelled(self: writer.Writer, job: Any) -> Any:
    self._submit(job)
    job.waiter = job.loop.create_future()
    await job.waiter
    if job.outcome.error is not None:
        raise job.outcome.error
    return job.outcome.change


def _only_the_first_hears() -> Patch:
    def run_together(group: Sequence[writer.Job]) -> list[writer.Outcome]:
        first, *others = real(group)
        return [first, *(writer.Outcome(other.change) for other in others)]

    real = writer._run_together
    return replaced(writer, "_run_together", run_together)


def _as_the_first_asked() -> Patch:
    def run_together(group: Sequence[writer.Job]) -> list[writer.Outcome]:
        for job in group:
            job.durability = group[0].durability
        return real(group)

    real = writer._run_together
    return replaced(writer, "_run_together", run_together)


def _discard_piece_by_piece(self: store.SessionStore, session_id: str) -> None:
    folder = self.find(session_id)
    ownership, _ = store._claim(folder)
    if ownership is None:
        return
    try:
        if not store._holds_words(replay.load_log(folder / archive.LIVE)[0]):
            shutil.rmtree(folder)
    finally:
        ownership.give_up()


def _claim_whatever_it_is(self: lock.Ownership, since: str) -> bool:
    descriptor = lock._open_lock(self.path)
    if not lock.try_lock(descriptor):
        os.close(descriptor)
        return False
    self._descriptor = descriptor
    return True


def _only_create(self: store.SessionStore, folder: Path) -> None:
    disk.create_folder(folder)


def _text_lines(self: jsonl.LineReader) -> Iterator[tuple[int, int, bytes | None]]:
    start = self.offset
    data = b"".join(self.blocks())
    for line in data.decode(errors="surrogateescape").splitlines(keepends=True):
        raw = line.encode(errors="surrogateescape")
        yield start, len(raw), raw.rstrip(b"\n")
        start += len(raw)


def _skip_only_at_the_end() -> Patch:
    def read(reader: jsonl.LineReader, *decode: jsonl.Decode) -> Iterator[replay.Item]:
        for item in real(reader, *decode):
            if isinstance(item, replay.Damage):
                rest = os.fstat(reader.descriptor).st_size - item.offset
                yield replay.Damage(item.offset, rest, item.reason)
                reader.offset = item.offset + rest
                return
            yield item

    real = replay.read_items
    return replaced(replay, "read_items", read)


def _data_only() -> Patch:
    return replaced(log, "durable_sync", lambda descriptor: os.fdatasync(descriptor))


MUTANTS = (
    Mutant("the live log is not flushed before it is linked", "I5", "power cut", _no_flush_of_live),
    Mutant(
        "the new log is not flushed", "I1", "power cut",
        lambda: replaced(log, "_write_file", without(_write_file, log, "durable_sync")),
    ),
    Mutant("the folder is never flushed", "I1", "power cut",
           lambda: replaced(log, "sync_folder", _nothing)),
    Mutant(
        "the folder is not flushed before the commit", "I5", "power cut",
        lambda: replaced(LogFile, "_keep", without(_keep, log, "sync_folder")),
    ),
    Mutant("the folder is not flushed after the commit", "I1", "power cut",
           lambda: replaced(LogFile, "_settle_names", _nothing)),
    Mutant("acknowledged before the flush", "I1", "power cut",
           lambda: replaced(LogFile, "_append", _ack_before_flush)),
    Mutant("after a failed flush the same file is flushed again", "I23", "power cut",
           lambda: replaced(LogFile, "_flush", _trust_again)),
    Mutant("the live log is renamed away first", "I4", "sequences",
           lambda: replaced(LogFile, "replace", _rename_first)),
    Mutant("the live log is rewritten in place", "I4", "sequences",
           lambda: replaced(LogFile, "replace", _rewrite_in_place)),
    Mutant("nothing is recovered", "I5", "sequences",
           lambda: replaced(LogFile, "_clear_traces", _nothing)),
    Mutant("no archive is kept", "I5", "shim", lambda: replaced(LogFile, "_keep", _nothing)),
    Mutant("archive numbers are used again", "I6", "shim",
           lambda: _numbered_by(_fill_gaps)),
    Mutant("the newest archive is overwritten", "I6", "shim", _overwrite_newest),
    Mutant("a restored archive is moved, not copied", "I7", "power cut", _restore_by_moving),
    Mutant("what is kept is serialised again", "I9", "shim",
           lambda: replaced(log_writer, "Span", _reserialised)),
    Mutant("a missing newline is not healed", "I12", "shim",
           lambda: replaced(LogFile, "_append", _no_healing)),
    Mutant("a torn line is cut off", "I12", "shim",
           lambda: replaced(LogFile, "_append", _cut_torn_line)),
    Mutant("a failed write is not cut back", "I3", "size limit",
           lambda: replaced(LogFile, "_append", without(_append, os, "ftruncate"))),
    Mutant("memory keeps what the disk refused", "I3", "shim", _memory_ahead),
    Mutant("lines are split as text", "I11", "fuzz",
           lambda: replaced(jsonl.LineReader, "lines", _text_lines)),
    Mutant("reading ends at the first bad line", "I13", "fuzz", _skip_only_at_the_end),
    Mutant("there is no lock", "I18", "processes", _no_lock),
    Mutant("lockf in the place of flock", "I18", "processes", _posix_lock),
    Mutant("the descriptor stays open between writes", "I19", "processes",
           lambda: replaced(LogFile, "_open_recovered", _stay_open)),
    Mutant("a lock that is held long is stolen", "I20", "two windows", _steal_the_lock),
    Mutant("a cancelled task does not wait for its write", "I28", "cancelled tasks",
           lambda: replaced(writer.Writer, "_settled", _give_up_when_cancelled)),
    Mutant("of a group that failed, only the first caller is told", "I1", "group commit",
           _only_the_first_hears),
    Mutant("a group is only as durable as its first caller asked", "I2", "group commit",
           _as_the_first_asked),
    Mutant("the end of a short write is forgotten", "I1", "group commit",
           lambda: replaced(log, "write_all", lambda to, data: os.write(to, data))),
    Mutant("a session is moved without a flush", "I1", "store",
           lambda: replaced(store, "move_folder", os.rename)),
    Mutant("the names of the folders above are not flushed", "I1", "store",
           lambda: replaced(store.SessionStore, "_make_folder", _only_create)),
    Mutant(
        "the name of a new log is not flushed", "I1", "creation",
        lambda: replaced(store, "create_log", without(log.create_log, log, "sync_folder")),
    ),
    Mutant("discard removes a session piece by piece", "I1", "two windows",
           lambda: replaced(store.SessionStore, "_discard", _discard_piece_by_piece)),
    Mutant("discard looks at the active path only", "I1", "two windows",
           lambda: replaced(store, "_holds_words", lambda state: bool(state.messages))),
    Mutant("a lock file counts that no longer exists", "I18", "two windows",
           lambda: replaced(lock.Ownership, "claim", _claim_whatever_it_is)),
    Mutant("fdatasync for fsync (no bug: it flushes bytes and size)", "", "", _data_only),
)  # fmt: skip


def in_force(name: str) -> Patch:
    """Run with one bug in the store; with none when the name is empty."""
    chosen = [mutant for mutant in MUTANTS if mutant.name == name]
    return chosen[0].patch() if chosen else contextlib.nullcontext()
