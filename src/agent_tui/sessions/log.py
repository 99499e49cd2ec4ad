"""The two protocols that change a live log, and the recovery that comes before each of them.

append:  lock, recover, open, write (with a missing final newline in front), flush if asked, close;
         on any failure the file is cut back to its old size.
replace: lock, recover, then 1 flush the live log, 2-4 write and flush a temporary file,
         5 link the live log to its archive name, 6 flush the folder,
         7 rename the temporary file over the live log: the commit, 8 flush the folder.
recover: remove the temporary file, and an archive name that still is the live log (a crash
         between 5 and 7): the next append would otherwise change that archive.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from agent_tui.core.errors import SessionReadOnly, StorageError
from agent_tui.sessions.archive import (
    LIVE,
    archive_numbers,
    archive_path,
    part_paths,
)
from agent_tui.sessions.disk import (
    BLOCK,
    copy_span,
    create_file,
    durable_sync,
    open_regular,
    spoken_error,
    sync_folder,
    write_all,
)
from agent_tui.sessions.lock import FolderLock

_APPENDING = os.O_RDWR | os.O_APPEND
_NOWHERE = (-1, -1)
TEMPORARY = f"{LIVE}.tmp"
_NO_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS}


class Durability(Enum):
    """What a write survives once it is acknowledged."""

    D0 = "process"
    D1 = "power"


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of an open file that are copied as they are."""

    descriptor: int
    offset: int
    length: int


Piece: TypeAlias = bytes | Span


OpenLog: TypeAlias = tuple[int, int, int]
"""Descriptor, size and inode of the live log while it is being changed: nobody else writes it."""

Landing: TypeAlias = tuple[int, int, bytes]
"""Where an append came to lie: the inode, the size before, and what healed the line before."""

Build: TypeAlias = Callable[[OpenLog, int], Iterable[Piece]]
"""Gives the new log, from the old one and the number that the old one will have as an archive."""


class LogFile:
    """The live log of one session folder; every change to it goes through here."""

    def __init__(self, folder: Path, lock_timeout_seconds: float = 5.0) -> None:
        self.folder = folder
        self.path = folder / LIVE
        self.temporary = folder / TEMPORARY
        self.lock = FolderLock(folder, lock_timeout_seconds)
        self._names = str(self.path), str(self.temporary)  # an append has no time for Path
        self._distrusted_inode = -1
        self._left_at = _NOWHERE

    def append(self, data: bytes, durability: Durability) -> Landing:
        """Add whole lines behind the log; when it returns they are as durable as asked.

        Raises:
            SessionBusy: another process holds the lock.
            StorageError: the disk refused; the log is as it was.
        """
        try:
            self.lock.acquire()
            try:
                log = self._open_recovered(_APPENDING)
                try:
                    return self._append(log, data, durability)
                finally:
                    os.close(log[0])
            finally:
                self.lock.release()
        except OSError as error:
            raise spoken_error("Writing", self.path, error) from error

    def _append(self, log: OpenLog, data: bytes, durability: Durability) -> Landing:
        descriptor, size, inode = log
        healing = b""
        if self._left_at != (inode, size) and size and os.pread(descriptor, 1, size - 1) != b"\n":
            healing = b"\n"
            data = healing + data
        try:
            write_all(descriptor, data)
            if durability is Durability.D1:
                self._flush(log)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, size)
            raise
        self._left_at = inode, size + len(data)
        return inode, size, healing

    def _flush(self, log: OpenLog) -> None:
        descriptor, _, inode = log
        try:
            durable_sync(descriptor)
        except OSError:
            # The kernel may have dropped what it could not write and would report success next
            # time: this file is never flushed again, the next mutation moves into a new one.
            self._distrusted_inode = inode
            raise

    def replace(self, build: Build) -> int:
        """Put a new log in the place of the live one, which becomes an archive, in one step.

        Returns:
            The number of the archive.

        Raises:
            SessionBusy: another process holds the lock.
            StorageError: the disk refused; the log is as it was, unless the message says not.
        """
        try:
            with self._locked_log() as log:
                number = max(archive_numbers(self.folder), default=0) + 1
                try:
                    self._flush(log)
                    _write_file(self.temporary, build(log, number))
                    self._keep(log, number)
                    os.rename(self.temporary, self.path)
                except BaseException:
                    self._left_at = _NOWHERE
                    with contextlib.suppress(OSError):
                        self._clear_traces(os.lstat(self.path).st_ino)
                    raise
                self._settle_names()
                return number
        except OSError as error:
            raise spoken_error("Replacing", self.path, error) from error

    def recover(self) -> None:
        """Bring a folder in which a process died back to its old or its new state."""
        try:
            with self._locked_log():
                pass
        except OSError as error:
            raise spoken_error("Recovering", self.path, error) from error

    def remove_archives(self, numbers: Iterable[int]) -> None:
        """Delete archives for good."""
        try:
            with self._locked_log():
                for number in numbers:
                    os.unlink(archive_path(self.folder, number))
                sync_folder(self.folder)
        except OSError as error:
            raise spoken_error("Pruning", self.folder, error) from error

    def close(self) -> None:
        """Give up the lock's descriptor."""
        self.lock.close()

    @contextlib.contextmanager
    def _locked_log(self) -> Iterator[OpenLog]:
        self.lock.acquire()
        try:
            log = self._open_recovered(os.O_RDONLY)
            try:
                yield log
            finally:
                os.close(log[0])
        finally:
            self.lock.release()

    def _open_recovered(self, flags: int) -> OpenLog:
        descriptor, status = open_regular(self._names[0], flags)
        size, inode = status.st_size, status.st_ino
        try:
            # A log just as we left it has seen no replacement by another process: its owner is us.
            if status.st_nlink > 1 or (
                self._left_at != (inode, size) and os.path.lexists(self._names[1])
            ):
                self._clear_traces(inode)
            if inode != self._distrusted_inode:
                return descriptor, size, inode
            self._move_to_new_file((descriptor, size, inode))
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return self._open_recovered(flags)

    def _move_to_new_file(self, log: OpenLog) -> None:
        """Leave a file that the disk once failed to flush: its bytes go into a sound one."""
        try:
            _write_file(self.temporary, [Span(log[0], 0, log[1])])
            os.rename(self.temporary, self.path)
            sync_folder(self.folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(self.temporary)
            raise SessionReadOnly(
                f"The disk failed to store {self.path} and does not take a new copy of it either"
                f" ({error.strerror}). Export the session to another disk."
            ) from error
        self._distrusted_inode = -1

    def _keep(self, log: OpenLog, number: int) -> None:
        """Give the live log its archive name, durably, before it loses its own."""
        archive = archive_path(self.folder, number)
        try:
            os.link(self.path, archive, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            self._copy_to(archive, log)
        sync_folder(self.folder)

    def _copy_to(self, archive: Path, log: OpenLog) -> None:
        """Without hard links: the archive is a copy, told from a finished one by the temporary."""
        sync_folder(self.folder)
        part = archive.with_name(f"{archive.name}.part")
        _write_file(part, [Span(log[0], 0, log[1])])
        os.rename(part, archive)

    def _settle_names(self) -> None:
        try:
            sync_folder(self.folder)
        except OSError as error:
            raise StorageError(
                f"The change of {self.path} was made, but the disk did not confirm it"
                f" ({error.strerror}): a power cut could still undo it. Check the disk."
            ) from error

    def _clear_traces(self, live_inode: int) -> None:
        """Remove what a replacement left that did not reach its commit; idempotent."""
        archives = [archive_path(self.folder, n) for n in archive_numbers(self.folder)]
        linked = [path for path in archives if os.lstat(path).st_ino == live_inode]
        for path in linked:
            os.unlink(path)
        if not os.path.lexists(self.temporary):
            return
        if archives and not linked and self._is_copy_of_live(archives[-1]):
            os.unlink(archives[-1])
            sync_folder(self.folder)  # the temporary is what tells: it must outlast the copy
        for part in part_paths(self.folder):
            os.unlink(part)
        os.unlink(self.temporary)

    def _is_copy_of_live(self, archive: Path) -> bool:
        if os.lstat(archive).st_size != os.lstat(self.path).st_size:
            return False
        left, _ = open_regular(archive)
        try:
            right, status = open_regular(self.path)
            try:
                starts = range(0, status.st_size, BLOCK)
                return all(os.pread(left, BLOCK, at) == os.pread(right, BLOCK, at) for at in starts)
            finally:
                os.close(right)
        finally:
            os.close(left)


def create_log(folder: Path, pieces: Iterable[Piece]) -> None:
    """Write the first log of an existing, empty folder: it is there whole, durably, or not at all.

    Raises:
        StorageError: the disk refused, or the folder holds a log already.
    """
    log = LogFile(folder)
    try:
        log.lock.acquire()
        try:
            if os.path.lexists(log.path):
                raise StorageError(f"{folder} holds a session already; choose another id.")
            if os.path.lexists(log.temporary):
                os.unlink(log.temporary)
            _write_file(log.temporary, pieces)
            os.rename(log.temporary, log.path)
            sync_folder(folder)
        finally:
            log.lock.release()
    except OSError as error:
        raise spoken_error("Creating", log.path, error) from error
    finally:
        log.close()


def _write_file(path: Path, pieces: Iterable[Piece]) -> None:
    """Write a new file, durably but for its name."""
    descriptor = create_file(path)
    try:
        for piece in _merged(pieces):
            if isinstance(piece, bytes):
                write_all(descriptor, piece)
            else:
                copy_span(piece.descriptor, descriptor, piece.offset, piece.length)
        durable_sync(descriptor)
    finally:
        os.close(descriptor)


def _merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Fewer and larger pieces: lines beside each other are copied as one."""
    last: Piece | None = None
    for piece in pieces:
        match last, piece:
            case _, b"" | Span(length=0):
                continue
            case Span(source, offset, length), Span(same, start, more) if (
                source == same and offset + length == start
            ):
                last = Span(source, offset, length + more)
            case bytes(), bytes():
                last += piece
            case _:
                if last is not None:
                    yield last
                last = piece
    if last is not None:
        yield last
