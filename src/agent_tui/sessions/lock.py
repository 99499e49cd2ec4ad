"""Locks that the kernel frees with their process: there is no stale lock, and none is ever stolen.

flock, never lockf: a POSIX record lock falls as soon as any descriptor of the file is closed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from agent_tui.core.errors import SessionBusy, StorageError
from agent_tui.core.format import format_minute
from agent_tui.sessions.disk import FILE_MODE, open_regular, translate_os_error

LOCK = "context.jsonl.lock"
OWNER = "context.jsonl.owner"
OPEN_ELSEWHERE = "it is open in another window"
"""Why this window cannot write a session, in a few words for a short line."""
_AT_ONCE = fcntl.LOCK_EX | fcntl.LOCK_NB
_FIRST_PAUSE_SECONDS = 0.0005
_LONGEST_PAUSE_SECONDS = 0.02
GLANCE_SECONDS = 0.02
"""Seconds that a claim waits for another process that only checks whether a session is free."""


class FolderLock:
    """The exclusive lock of one session folder, taken for the length of one mutation."""

    def __init__(self, folder: Path, timeout_seconds: float = 5.0) -> None:
        self.path = folder / LOCK
        self.timeout_seconds = timeout_seconds
        self._descriptor = -1
        self._in_vain_until = 0.0

    def acquire(self) -> None:
        """Take the lock, waiting for another holder up to the timeout.

        Raises:
            SessionBusy: another process held it all the while; it may be stopped.
        """
        if self._descriptor < 0:
            self._descriptor = _open_lock(self.path)
        try:
            fcntl.flock(self._descriptor, _AT_ONCE)
        except BlockingIOError:
            self._wait()

    def _wait(self) -> None:
        # Who has just waited in vain does not wait as long again for the next mutation.
        in_vain = time.monotonic() < self._in_vain_until
        patience = min(self.timeout_seconds, GLANCE_SECONDS) if in_vain else self.timeout_seconds
        deadline = time.monotonic() + patience
        pause = _FIRST_PAUSE_SECONDS
        while time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
            if try_lock(self._descriptor):
                return
        self._in_vain_until = time.monotonic() + self.timeout_seconds
        raise SessionBusy(
            f"{self.path.parent.name} is being written by another process"
            f"{self._name_holder()}, and has been for {self.timeout_seconds:g} s. "
            "Nothing was changed; try again, or end that process."
        )

    def _name_holder(self) -> str:
        """Who holds the lock: as the kernel knows it, or the session's owner if another process."""
        pid = find_holder(self._descriptor)
        if pid is not None:
            return f" (pid {pid})"
        owner = read_holder(self.path.parent)
        return "" if owner.startswith(f" (pid {os.getpid()},") else owner

    def release(self) -> None:
        """Let the next mutation in."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        except OSError:
            self.close()  # that frees it too

    def close(self) -> None:
        """Close the descriptor, releasing the lock if it was held."""
        _close(self._descriptor)
        self._descriptor = -1


class Ownership:
    """The right to write a session, held for as long as it is open in one window."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / OWNER
        self._descriptor = -1

    def claim(self, since: str) -> bool:
        """Take the right if it is free, leaving pid and time for the next one who asks.

        Retries for a moment: a process that only checks whether it is free holds it that long.
        """
        patience = time.monotonic() + GLANCE_SECONDS
        while not (owned := self._try_claim()) and time.monotonic() < patience:
            time.sleep(GLANCE_SECONDS / 10)
        if owned:
            with suppress(OSError):  # only the next who asks misses something
                os.ftruncate(self._descriptor, 0)
                os.pwrite(self._descriptor, f"{os.getpid()} {since}\n".encode(), 0)
        return owned

    def _try_claim(self) -> bool:
        descriptor = _open_lock(self.path)
        try:
            owned = try_lock(descriptor)
            # It may have gone with its session, and there is a new one of its name.
            if owned and os.fstat(descriptor).st_ino == os.lstat(self.path).st_ino:
                self._descriptor = descriptor
                return True
        except BaseException:
            _close(descriptor)
            raise
        _close(descriptor)
        return False

    def give_up(self) -> None:
        """Let another window write."""
        _close(self._descriptor)
        self._descriptor = -1


def is_owned(folder: Path) -> bool:
    """Whether any window, this process included, has the session in a folder open for writing."""
    try:
        descriptor = _open_lock(folder / OWNER)
    except (OSError, StorageError):
        return True
    try:
        return not try_lock(descriptor)
    except OSError:
        return True
    finally:
        _close(descriptor)


def name_window(why: str, folder: Path) -> str:
    """Why a session cannot be written, with pid and time of the window that holds it."""
    return f"{why}{read_holder(folder)}" if why == OPEN_ELSEWHERE else why


def read_holder(folder: Path) -> str:
    """Who owns a session, as `` (pid 123, since 2025-01-01 10:00)``; empty when unknown."""
    try:
        descriptor, _ = open_regular(folder / OWNER)
        try:
            pid, since = os.read(descriptor, 200).decode().split()
        finally:
            _close(descriptor)
    except (OSError, ValueError, StorageError):
        return ""
    return f" (pid {pid}, since {format_minute(since) or since})"


def find_holder(descriptor: int) -> int | None:
    """The process that holds a flock on an open file, where the system tells (Linux)."""
    try:
        status = os.fstat(descriptor)
        with open("/proc/locks", encoding="ascii") as locks:
            lines = [line.split() for line in locks]
    except (OSError, ValueError):
        return None
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    for line in lines:
        if line[1] == "FLOCK" and place in line:
            pid = int(line[line.index(place) - 1])
            return pid if pid > 0 else None
    return None


def _open_lock(path: Path) -> int:
    try:
        descriptor, status = open_regular(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        if error.errno == errno.ELOOP:  # else reported under the log's name
            raise translate_os_error("open", path, error) from error
        raise
    try:
        if status.st_mode & 0o777 != FILE_MODE:
            os.fchmod(descriptor, FILE_MODE)
    except BaseException:
        _close(descriptor)
        raise
    return descriptor


def _close(descriptor: int) -> None:
    """Close a lock's descriptor; whatever the system says, it is closed then, and unlocked."""
    if descriptor >= 0:
        with suppress(OSError):
            os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Take the flock of an open file, if nobody else has it."""
    try:
        fcntl.flock(descriptor, _AT_ONCE)
    except BlockingIOError:
        return False
    return True
