"""The few things the store asks of a file system, each refusing what could hang or mislead it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agent_tui.core.errors import AgentTuiError, SessionNotFound, SessionReadOnly, StorageError

FILE_MODE = 0o600
FOLDER_MODE = 0o700
BLOCK = 1 << 20
_MOST_STATE_BYTES = 8_000_000

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_FULL_SYNC = {errno.ENOTSUP, errno.EOPNOTSUPP}
_READING = ("read", "list")
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}


@contextmanager
def translate_os_errors(verb: str, path: Path) -> Iterator[None]:
    """Turn an OSError into one sentence for the user: what cannot be done, why, what to do."""
    try:
        yield
    except OSError as error:
        raise translate_os_error(verb, path, error) from error


def translate_os_error(verb: str, path: Path, error: OSError) -> Exception:
    """The store's error for an OSError: read-only, full and failing disks read differently."""
    failed, why = f"Cannot {verb} {path}", error.strerror or str(error)
    unchanged = "" if verb.startswith(_READING) else " Nothing was changed."
    if error.errno in _FORBIDDEN:
        return SessionReadOnly(f"{failed}: {why}.{unchanged} Check its permissions.")
    if error.errno in _FULL:
        # CPython 3.11 keeps a module cache that was cut short, and stumbles over it for good.
        sys.dont_write_bytecode = True
        return StorageError(
            f"{failed}: the disk is full ({why}). "
            "Nothing was changed. Free some space, then try again."
        )
    if error.errno == errno.ENOENT:
        return SessionNotFound(f"{failed}: no such file or folder.")
    if error.errno == errno.ELOOP:
        return StorageError(f"{path} is a symbolic link, which is never followed here.")
    return StorageError(f"{failed}: {why}.{unchanged} Try again.")


def open_regular(path: Path | str, flags: int = os.O_RDONLY) -> tuple[int, os.stat_result]:
    """Open a regular file without following a link or waiting on a pipe; its status comes along.

    Raises:
        StorageError: the path is a folder, a pipe or a device.
        OSError: the system refused.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, FILE_MODE)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            return descriptor, status
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    raise StorageError(f"{path} is not a regular file, so it is not opened.")


@contextmanager
def reading(path: Path) -> Iterator[tuple[int, os.stat_result]]:
    """A regular file open for reading, with its status; its close cannot fail what was read."""
    with translate_os_errors("read", path):
        descriptor, status = open_regular(path)
        try:
            yield descriptor, status
        finally:
            with suppress(OSError):
                os.close(descriptor)


def create_file(path: Path) -> int:
    """Create a file that must not exist yet, readable by its owner only under any umask."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(path, flags, FILE_MODE)
    try:
        os.fchmod(descriptor, FILE_MODE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def create_folder(folder: Path) -> None:
    """Create a folder and its missing parents, 0700 under any umask, each name made durable."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        try:
            os.mkdir(new, FOLDER_MODE)
        except FileExistsError:
            continue
        os.chmod(new, FOLDER_MODE)
        sync_folder(new.parent)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: the system may take fewer than it is given."""
    written = os.write(descriptor, data)
    if written == len(data):
        return
    view = memoryview(data)
    while written < len(data):
        written += os.write(descriptor, view[written:])


def copy_span(source: int, target: int, offset: int, length: int) -> None:
    """Copy bytes from one open file to the end of another."""
    end = offset + length
    while offset < end:
        block = os.pread(source, min(BLOCK, end - offset), offset)
        if not block:
            raise StorageError("the file that was being copied ended early; nothing was changed.")
        write_all(target, block)
        offset += len(block)


def durable_sync(descriptor: int) -> None:
    """Return when a file, or the names in a folder, would survive a power cut.

    On macOS fsync leaves the bytes in the drive's cache; F_FULLFSYNC empties that too, where the
    file system has it: a network's may not.
    """
    if hasattr(fcntl, "F_FULLFSYNC"):
        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError as error:
            if error.errno not in _NO_FULL_SYNC:
                raise
        else:
            return
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        durable_sync(descriptor)
    finally:
        os.close(descriptor)


def move_folder(source: Path, target: Path) -> None:
    """Rename a folder, durably; when the disk does not confirm it, it is back where it was."""
    os.rename(source, target)
    try:
        sync_folder(target.parent)  # first: a power cut may leave both names, never none
        sync_folder(source.parent)
    except BaseException:
        with suppress(OSError):
            os.rename(target, source)
        raise


def tighten(path: Path, mode: int) -> bool:
    """Take rights away from group and others; True when there were any."""
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode) or not status.st_mode & 0o077:
        return False
    os.chmod(path, mode)
    return True


def read_state(path: Path) -> Any:
    """What a small file beside a log holds, as JSON tells it.

    It keeps what is convenient to have again: one that is missing, broken or too large is None.
    """
    with suppress(AgentTuiError, ValueError, RecursionError):
        with reading(path) as (descriptor, status):
            if status.st_size > _MOST_STATE_BYTES:
                return None
            data = b"".join(iter(lambda: os.read(descriptor, BLOCK), b""))
        return json.loads(data)
    return None


def replace_state(path: Path, state: Any) -> None:
    """Keep a state in place of what a file held, or was not there to hold; None removes the file.

    Raises:
        AgentTuiError: the file could not be written, or its folder is not there.
    """
    with translate_os_errors("write", path):
        if state is None:
            path.unlink(missing_ok=True)
            return
        new = path.with_name(f"{path.name}.new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        descriptor = os.open(new, flags, FILE_MODE)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
            json.dump(state, file)
        os.replace(new, path)
