"""The two protocols that change a live log, and the recovery that comes before each of them.

append:  lock, recover, open, write (with a missing final newline in front), flush if asked, close;
         on any failure the file is cut back to its old size.
replace: lock, recover, then 1 flush the live log, 2-4 write and flush a temporary file,
         5 link the live log to its archive name, 6 flush the folder,
         7 rename the temporary file over the live log: the commit, 8 flush the folder.
recover: remove the temporary file, and an archive name that still is the live log (a crash
         between 5 and 7): the next append would otherwise change that archive.

Without hard links, 5 copies: the temporary file is first renamed to ``.N.tmp``, which says until
the commit that whatever is called ``.N`` or ``.N.part`` belongs to an unfinished replacement.

What is flushed is safe only under a name that is. So the first durable write to a log that this
process did not name itself flushes its folder, and the folders above, before anything else.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import SessionReadOnly, StorageError
from agent_tui.sessions.archive import (
    LIVE,
    archive_numbers,
    archive_path,
    marked_numbers,
    marked_path,
    part_path,
)
from agent_tui.sessions.disk import (
    copy_span,
    create_file,
    durable_sync,
    open_regular,
    sync_folder,
    translate_os_error,
    write_all,
)
from agent_tui.sessions.lock import FolderLock

_APPENDING = os.O_RDWR | os.O_APPEND
_NOWHERE = (-1, -1)
TEMPORARY = f"{LIVE}.tmp"
_NO_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS}


class Durability(Enum):
    """What a write survives once it has been acknowledged."""

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

    def __init__(
        self, folder: Path, lock_timeout_seconds: float = 5.0, above: Sequence[Path] = ()
    ) -> None:
        self.folder = folder
        self.path = folder / LIVE
        self.temporary = folder / TEMPORARY
        self.lock = FolderLock(folder, lock_timeout_seconds)
        self._name = str(self.path)  # an append has no time for Path
        self._above = above
        self._distrusted_inode = -1
        self._named_inode = -1
        self._left_at = _NOWHERE
        self.highest_number = 0  # that the log names; an archive of that number may be elsewhere

    def append(self, data: bytes, durability: Durability) -> Landing:
        """Append whole lines; on return they are as durable as asked.

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
            raise translate_os_error("write", self.path, error) from error

    def _append(self, log: OpenLog, data: bytes, durability: Durability) -> Landing:
        descriptor, size, inode = log
        healing = b""
        if self._left_at != (inode, size) and size and os.pread(descriptor, 1, size - 1) != b"\n":
            healing = b"\n"
            data = healing + data
        if durability is Durability.D1 and inode != self._named_inode:
            self._flush_names(inode)
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

    def _flush_names(self, inode: int) -> None:
        """Make the names durable by which the log is found: whoever created them may have died."""
        for folder in (self.folder, *self._above):
            sync_folder(folder)
        self._named_inode = inode

    @property
    def left_at(self) -> tuple[int, int]:
        """Inode and size of the log as the last change by this process left it."""
        return self._left_at

    def replace(self, build: Build) -> int:
        """Replace the live log, which becomes an archive, in one atomic step.

        Returns:
            The number of the archive.

        Raises:
            SessionBusy: another process holds the lock.
            StorageError: the disk refused; the log is as it was, unless the message says not.
        """
        try:
            with self._locked_log() as log:
                number = max((self.highest_number, *archive_numbers(self.folder))) + 1
                if log[2] != self._named_inode:
                    self._flush_names(log[2])
                try:
                    self._flush(log)
                    left_at = _write_file(self.temporary, build(log, number))
                    new = self._keep(log, number) or self.temporary
                    os.rename(new, self.path)
                except BaseException:
                    self._left_at = _NOWHERE
                    with contextlib.suppress(OSError):
                        self._clear_traces(os.lstat(self.path).st_ino)
                    raise
                self._left_at = left_at
                self._settle_names()
                self._named_inode = left_at[0]
                return number
        except OSError as error:
            raise translate_os_error("replace", self.path, error) from error

    def remove_archives(self, numbers: Iterable[int]) -> None:
        """Delete archives for good."""
        removed = 0
        try:
            with self._locked_log():
                for number in numbers:
                    os.unlink(archive_path(self.folder, number))
                    removed += 1
                sync_folder(self.folder)
        except OSError as error:
            if not removed:
                raise translate_os_error("delete archives in", self.folder, error) from error
            raise StorageError(
                f"Cannot delete all archives in {self.folder}: {error.strerror}."
                f" Deleted: {removed}. Prune again to delete the others."
            ) from error

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
                with contextlib.suppress(OSError):  # nothing was written through it
                    os.close(log[0])
        finally:
            self.lock.release()

    def _open_recovered(self, flags: int) -> OpenLog:
        descriptor, status = open_regular(self._name, flags)
        size, inode = status.st_size, status.st_ino
        try:
            # A log that is just as we left it has seen no commit since: no archive waits for us.
            if status.st_nlink > 1 or self._left_at != (inode, size):
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
        """Move the bytes out of a file that the disk once failed to flush, into a sound one."""
        try:
            self._left_at = _NOWHERE
            inode, _ = _write_file(self.temporary, [Span(log[0], 0, log[1])])
            os.rename(self.temporary, self.path)
            self._flush_names(inode)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(self.temporary)
            raise SessionReadOnly(
                f"The disk failed to store {self.path} and a new copy failed too"
                f" ({error.strerror}). Export the session to another disk."
            ) from error
        self._distrusted_inode = -1

    def _keep(self, log: OpenLog, number: int) -> Path | None:
        """Give the live log its archive name, durably, before it loses its own.

        Returns:
            Where the temporary file is now, if it had to be marked.
        """
        marked = None
        try:
            os.link(self.path, archive_path(self.folder, number), follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            marked = marked_path(self.folder, number)
            self._copy(log, number, marked)
        sync_folder(self.folder)
        return marked

    def _copy(self, log: OpenLog, number: int, marked: Path) -> None:
        os.rename(self.temporary, marked)
        sync_folder(self.folder)  # no copy without its mark, even after a power cut
        part = part_path(self.folder, number)
        _write_file(part, [Span(log[0], 0, log[1])])
        os.rename(part, archive_path(self.folder, number))

    def _settle_names(self) -> None:
        try:
            sync_folder(self.folder)
        except OSError as error:
            raise StorageError(
                f"The change of {self.path} was made, but the disk did not confirm it"
                f" ({error.strerror}): a power cut could still undo it. Check the disk."
            ) from error

    def _clear_traces(self, live_inode: int) -> None:
        """Remove what an uncommitted replacement left behind; idempotent."""
        for number in archive_numbers(self.folder):
            archive = archive_path(self.folder, number)
            if os.lstat(archive).st_ino == live_inode:
                os.unlink(archive)
        for number in marked_numbers(self.folder):
            for copy in (archive_path(self.folder, number), part_path(self.folder, number)):
                if os.path.lexists(copy):
                    os.unlink(copy)
            sync_folder(self.folder)  # the mark must outlast what it marks
            os.unlink(marked_path(self.folder, number))
        if os.path.lexists(self.temporary):
            os.unlink(self.temporary)


def create_log(folder: Path, pieces: Iterable[Piece]) -> None:
    """Write the first log of an existing, empty folder: wholly and durably, or not at all.

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
            try:
                sync_folder(folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(log.path)
                raise
        finally:
            log.lock.release()
    except OSError as error:
        raise translate_os_error("create", log.path, error) from error
    finally:
        log.close()


def _write_file(path: Path, pieces: Iterable[Piece]) -> tuple[int, int]:
    """Write a new file, durably but for its name; returns its inode and size."""
    descriptor = create_file(path)
    try:
        for piece in _merged(pieces):
            if isinstance(piece, bytes):
                write_all(descriptor, piece)
            else:
                copy_span(piece.descriptor, descriptor, piece.offset, piece.length)
        durable_sync(descriptor)
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return status.st_ino, status.st_size


def _merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces joined where they are adjacent, so that fewer are copied."""
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
