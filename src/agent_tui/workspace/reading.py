"""How an entry looks now: its kind, mode and content, read without following or waiting."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from agent_tui.core.dataclass import dataclass
from agent_tui.core.file_changes import FileState
from agent_tui.workspace.folders import FILE, Signature, open_parent, signature

_BLOCK = 1 << 20
_TRIES = 3
_RACY_NS, _RACY_COARSE_NS = 100_000_000, 2_000_000_000
"""A file that was written less than this before may be written again without another time; the
second where a file system keeps whole seconds."""
UNSURE: Signature = (0, 0, 0, 0, 0)
"""Of an entry that may change without another signature: none is ever like it."""
UNREADABLE = "it cannot be read"
UNSTEADY = "it kept changing while it was read"


@dataclass(frozen=True, slots=True)
class Reading:
    """An entry as it was found.

    Attributes:
        state: None where nothing is there.
        content: its bytes, or a link's target; None where they were not read.
        why: why the content was not read; empty where it was.
        signature: of the entry when it was read, or ``UNSURE``; None where nothing is there.
    """

    state: FileState | None
    content: bytes | None = None
    why: str = ""
    signature: Signature | None = None


ABSENT = Reading(None)


def read_entry(
    root: int, path: str, most_bytes: int, *, on_read: Callable[[str], None] | None = None
) -> Reading:
    """Read the entry at a path below an open folder; never raises for what it finds there.

    Args:
        root: a descriptor of the workspace.
        path: relative to it.
        most_bytes: longer contents are not read.
        on_read: called between a read and the check that nothing changed meanwhile.
    """
    heard = None if on_read is None else partial(on_read, path)
    try:
        with open_parent(root, path) as (folder, name):
            return read_name(folder, name, most_bytes, on_read=heard)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as error:
        return Reading(FileState("other", 0, "", 0), None, _why_unreadable(error))


def read_name(
    folder: int, name: str, most_bytes: int, *, on_read: Callable[[], None] | None = None
) -> Reading:
    """The same of a name in an open folder."""
    for _ in range(_TRIES):
        began = time.time_ns()
        try:
            reading = _read(folder, name, most_bytes)
            if on_read is not None:
                on_read()
            if _is_steady(folder, name, reading):
                return _sure(reading, began)
        except (FileNotFoundError, NotADirectoryError):
            return ABSENT
        except OSError as error:
            return _unreadable(folder, name, error)
    status = reading.signature
    return Reading(_state(status[0], "", status[2]) if status else None, None, UNSTEADY, status)


def _sure(reading: Reading, began: int) -> Reading:
    mark = reading.signature
    if mark is None:
        return reading
    racy = _RACY_NS if mark[4] % 1_000_000_000 else max(_RACY_NS, _RACY_COARSE_NS)
    if max(mark[3], mark[4]) < began - racy:
        return reading
    return replace(reading, signature=UNSURE)


def _read(folder: int, name: str, most_bytes: int) -> Reading:
    status = os.lstat(name, dir_fd=folder)
    mark = signature(status)
    mode, size = status.st_mode, status.st_size
    if stat.S_ISLNK(mode):
        target = os.fsencode(os.readlink(name, dir_fd=folder))
        return Reading(_state(mode, digest_of(target), len(target)), target, "", mark)
    if not stat.S_ISREG(mode):
        if stat.S_ISDIR(mode):
            return ABSENT  # what is below a folder is told path by path
        return Reading(_state(mode, "", 0), None, f"it is {_noun(mode)}, not a file", mark)
    if size > most_bytes:
        why = f"it is larger than {most_bytes >> 20} MB"
        if most_bytes < 1 << 20:
            why = f"it is larger than {most_bytes} bytes"
        return Reading(_state(mode, "", size), None, why, mark)
    content = _content(folder, name, most_bytes)
    return Reading(_state(mode, digest_of(content), len(content)), content, "", mark)


def _content(folder: int, name: str, most_bytes: int) -> bytes:
    descriptor = os.open(name, FILE, dir_fd=folder)
    try:
        blocks, left = [], most_bytes + 1
        while left > 0 and (block := os.read(descriptor, min(_BLOCK, left))):
            blocks.append(block)
            left -= len(block)
        return b"".join(blocks)
    finally:
        with suppress(OSError):
            os.close(descriptor)


def _is_steady(folder: int, name: str, reading: Reading) -> bool:
    try:
        now = signature(os.lstat(name, dir_fd=folder))
    except FileNotFoundError:
        return reading.signature is None
    if reading.signature is None:
        return stat.S_ISDIR(now[0])
    whole = reading.content is None or len(reading.content) == now[2] or stat.S_ISLNK(now[0])
    return whole and now == reading.signature


def _unreadable(folder: int, name: str, error: OSError) -> Reading:
    why = _why_unreadable(error)
    try:
        status = os.lstat(name, dir_fd=folder)
    except OSError:
        return Reading(FileState("other", 0, "", 0), None, why)
    state = _state(status.st_mode, "", status.st_size)
    return Reading(state, None, why, signature(status))


def _why_unreadable(error: OSError) -> str:
    return f"{UNREADABLE}: {error.strerror or error}"


def _state(mode: int, digest: str, size: int) -> FileState:
    if stat.S_ISLNK(mode):
        return FileState("link", 0o777, digest, size)
    kind = "file" if stat.S_ISREG(mode) else "other"
    return FileState("file" if kind == "file" else "other", stat.S_IMODE(mode), digest, size)


def _noun(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"


def digest_of(data: bytes) -> str:
    """The hash by which the store knows a content."""
    return hashlib.sha256(data).hexdigest()
