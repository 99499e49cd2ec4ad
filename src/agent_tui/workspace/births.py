"""When a folder was made: another folder may have its name by now, and even its inode.

Linux tells it by a call that Python has no name for. Where nobody tells it, it is not known.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from functools import cache

from agent_tui.core.file_changes import FolderIdentity

_NOT_THROUGH_LINKS, _BIRTH = 0x100, 0x800
_BYTES, _MASK_AT, _BIRTH_AT = 256, 0, 80
_SECOND = 1_000_000_000
_CLOCK_OF_FILES = 5
"""Linux has CLOCK_REALTIME_COARSE under this number; Python has no name for it."""
_MOST_WAITS, _WAIT_SECONDS = 100, 0.0005


def born_at(name: str, folder: int | None = None) -> int | None:
    """When an entry was made, in nanoseconds since 1970; None where that is not known.

    ``name`` starts from an open folder, or from the current one.
    """
    library = _library()
    if library is None:
        return _told_by_status(name, folder)
    found = bytearray(_BYTES)
    space = (ctypes.c_char * _BYTES).from_buffer(found)
    start = -100 if folder is None else folder
    if library.statx(start, os.fsencode(name), _NOT_THROUGH_LINKS, _BIRTH, space):
        return None
    if not _number(found, _MASK_AT, 4) & _BIRTH:
        return None
    return _number(found, _BIRTH_AT, 8) * _SECOND + _number(found, _BIRTH_AT + 8, 4)


def identity_of(name: str, folder: int | None = None) -> FolderIdentity:
    """What tells an entry of an open folder from a later one of its name; raises OSError."""
    return os.lstat(name, dir_fd=folder).st_ino, born_at(name, folder) or 0


def wait_for_tick() -> int:
    """Return once whatever is made from now on has a later birth than what is there.

    Births are told by a clock that ticks every few milliseconds: what takes a name within the same
    tick may have the inode and the birth of the one before. Returns the moment that has passed; a
    later birth, as a server with another clock may tell it, says nothing.
    """
    now = time.time_ns()
    for _ in range(_MOST_WAITS if sys.platform == "linux" else 0):
        if time.clock_gettime_ns(_CLOCK_OF_FILES) > now:
            break
        time.sleep(_WAIT_SECONDS)
    return now


def is_told(identity: FolderIdentity, until: int) -> bool:
    """Whether an identity tells a folder from each that is made after a moment."""
    return 0 < identity[1] <= until


def is_made_since(path: str, moment: int) -> bool:
    """Whether an entry is known to have been made after a moment, in nanoseconds since 1970."""
    born = born_at(path)
    return born is not None and born > moment


def _number(found: bytearray, place: int, length: int) -> int:
    return int.from_bytes(found[place : place + length], sys.byteorder)


def _told_by_status(name: str, folder: int | None) -> int | None:
    try:
        status = os.lstat(name, dir_fd=folder)
    except OSError:
        return None
    seconds = getattr(status, "st_birthtime", None)  # macOS and BSD tell it there
    return None if seconds is None else int(seconds * _SECOND)


@cache
def _library() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    return library if hasattr(library, "statx") else None
