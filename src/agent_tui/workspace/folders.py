"""Reaching entries through open folders: no link is ever followed on the way to a path."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeAlias

from agent_tui.core.file_changes import is_safe_path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

LARGEST_FOREIGN_FILE = 512 << 20
"""Of what git keeps for somebody else, an index of millions of files is smaller."""

_BLOCK = 1 << 20
_FEW, _AT_ONCE = 8, 8

Signature: TypeAlias = tuple[int, int, int, int, int]
"""Mode, inode, size, and the times of content and status: another one means another content."""


def signature(status: os.stat_result) -> Signature:
    """What tells one state of an entry from another without reading it."""
    return (
        status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
    )  # fmt: skip


@contextmanager
def open_root(root: str) -> Iterator[int]:
    """A descriptor of the workspace itself; a link to it is followed, nothing below it is."""
    descriptor = os.open(os.path.realpath(root), FOLDER)
    try:
        yield descriptor
    finally:
        with suppress(OSError):
            os.close(descriptor)


@contextmanager
def open_parent(root: int, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The folder that holds a path, open, and the path's name in it.

    Args:
        root: a descriptor of the workspace.
        path: relative, with ``/``.
        make: create the folders that are missing.

    Raises:
        FileNotFoundError: a folder is missing. NotADirectoryError: something else stands there,
            or a link.
    """
    if not is_safe_path(path):
        raise NotADirectoryError(errno.ENOTDIR, "not a path inside the workspace", path)
    *parents, name = path.split("/")
    descriptor = os.open(".", FOLDER, dir_fd=root)
    try:
        for parent in parents:
            below = _enter(descriptor, parent, make)
            close(descriptor)
            descriptor = below
        yield descriptor, name
    finally:
        with suppress(OSError):
            os.close(descriptor)


def _enter(folder: int, name: str, make: bool) -> int:
    try:
        return _open_folder(folder, name)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    os.fsync(folder)
    return _open_folder(folder, name)


def _open_folder(folder: int, name: str) -> int:
    try:
        return os.open(name, FOLDER, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotADirectoryError(
                errno.ENOTDIR, "a symbolic link is in the way", name
            ) from error
        raise


def status_of(root: int, path: str) -> os.stat_result | None:
    """The status of a path itself; None where nothing is there, or a parent is no real folder."""
    try:
        with open_parent(root, path) as (folder, name):
            return os.lstat(name, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        return None


def count_missing_folders(root: int, path: str) -> int:
    """How many of the folders around a path are not there, from the innermost outwards."""
    count = 0
    while (path := path.rpartition("/")[0]) and status_of(root, path) is None:
        count += 1
    return count


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: the system may take fewer than it is given."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def close(descriptor: int) -> None:
    """Close what was only read or locked: that cannot fail what was done with it."""
    with suppress(OSError):
        os.close(descriptor)


def is_there(path: str) -> bool:
    """Whether something stands at a path; raises OSError where that cannot be told."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def read_whole(path: str, *, through_links: bool = False) -> bytes:
    """Every byte of a regular file; raises OSError, also for a link, unless one may lead to it.

    What a link may lead to is somebody else's: of that a file that is far too large is refused.
    """
    descriptor = os.open(path, FILE & ~os.O_NOFOLLOW if through_links else FILE)
    try:
        status, blocks = os.fstat(descriptor), list[bytes]()
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if through_links and status.st_size > LARGEST_FOREIGN_FILE:
            raise OSError(errno.EFBIG, "too large", path)
        while block := os.read(descriptor, _BLOCK):
            blocks.append(block)
        return b"".join(blocks)
    finally:
        close(descriptor)


def sync_folder(path: str) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(path, FOLDER)
    try:
        os.fsync(descriptor)
    finally:
        close(descriptor)


def sync_files(paths: Sequence[str], folder: int | None = None) -> None:
    """Make the contents of files durable; many at once take hardly longer than one.

    ``folder`` is the open folder that the paths start from.
    """

    def sync(path: str) -> None:
        descriptor = os.open(path, FILE, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            close(descriptor)

    if len(paths) <= _FEW:
        for path in paths:
            sync(path)
        return
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="sync") as threads:
        list(threads.map(sync, paths))


def make_private_folder(path: str, *, durable: bool = True) -> None:
    """Create a folder with its missing parents, 0700 under any umask, each name durable."""
    missing = []
    while not is_there(path):
        missing.append(path)
        path = os.path.dirname(path)
    for new in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(new, 0o700)
            os.chmod(new, 0o700)
            if durable:
                sync_folder(os.path.dirname(new))


def write_private_file(path: str, data: bytes, *, durable: bool) -> None:
    """Write a file of ours, instead of what a killed process left of it; gone where that fails.

    ``durable``: its content is on the disk then; its name is not yet.
    """
    with suppress(FileNotFoundError):
        os.unlink(path)
    descriptor = os.open(path, NEW_FILE, 0o600)
    try:
        try:
            os.fchmod(descriptor, 0o600)
            write_all(descriptor, data)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


def replace_private_file(path: str, data: bytes, *, durable: bool = True) -> None:
    """Write a file of ours whole or not at all: temporary file, flush, rename, flush.

    What is not ``durable`` may be lost by a power cut, or torn: its reader has to notice.
    """
    temporary = f"{path}.tmp"
    write_private_file(temporary, data, durable=durable)
    os.rename(temporary, path)
    if durable:
        sync_folder(os.path.dirname(path))
