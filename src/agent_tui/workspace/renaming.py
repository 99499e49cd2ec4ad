"""Putting a prepared file in its place so that nothing that came there meanwhile is lost.

Linux can exchange two names in one step, and rename only where nothing stands. Elsewhere, and on
file systems that cannot, it is a plain rename, after a look that came just before it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache

_NOREPLACE, _EXCHANGE = 1, 2
_CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})


def put_in_place(staged: str, staging: int, name: str, folder: int, *, exchange: bool) -> bool:
    """Rename ``staged`` to ``name``, both in open folders.

    With ``exchange`` something stands at ``name``, and the two change places; else nothing does.
    Returns whether what stood there lies at ``staged`` now; False where it was replaced.

    Raises:
        FileExistsError, FileNotFoundError: it is not as ``exchange`` says; nothing was done.
    """
    number = rename_at(staging, staged, folder, name, _EXCHANGE if exchange else _NOREPLACE)
    if number in _CANNOT:
        os.rename(staged, name, src_dir_fd=staging, dst_dir_fd=folder)
        return False
    if number:
        raise OSError(number, os.strerror(number), name)
    return exchange


def take_away(name: str, folder: int, aside: str, staging: int) -> bool:
    """Rename ``name`` to ``aside``, where nothing stands; False where that cannot be done here.

    Raises:
        FileExistsError, FileNotFoundError: it is not as it should be; nothing was done.
    """
    number = rename_at(folder, name, staging, aside, _NOREPLACE)
    if number in _CANNOT or number == errno.EXDEV:
        return False
    if number:
        raise OSError(number, os.strerror(number), name)
    return True


def rename_at(source: int, old: str, target: int, new: str, flags: int) -> int:
    """The system call; returns its error number, 0 where it was done."""
    library = _library()
    if library is None:
        return errno.ENOSYS
    done = library.renameat2(source, os.fsencode(old), target, os.fsencode(new), flags)
    return ctypes.get_errno() if done else 0


@cache
def _library() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    return library if hasattr(library, "renameat2") else None
