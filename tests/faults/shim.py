"""Stands between the store and the system: counts its calls, and breaks the one it is told to.

The store names every system call through the ``os`` and ``fcntl`` modules; while a shim is in
place those names lead here. Nothing is simulated: every call that is not broken is really made.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from agent_tui.workspace import renaming

READS = ("pread", "read", "fstat", "lstat", "stat", "listdir", "scandir")
WRITES = (
    *("open", "close", "write", "pwrite", "ftruncate", "fsync", "fdatasync", "fchmod", "chmod"),
    *("link", "rename", "replace", "unlink", "mkdir", "rmdir"),
)

ERRNOS: dict[str, tuple[int, ...]] = {
    "open": (errno.EMFILE, errno.EACCES, errno.EROFS, errno.EIO, errno.ENOSPC),
    "write": (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG),
    "ftruncate": (errno.EIO,),
    "fsync": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "fchmod": (errno.EPERM, errno.EIO),
    "chmod": (errno.EPERM, errno.EIO),
    "link": (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS),
    "rename": (errno.EIO, errno.ENOSPC, errno.EACCES, errno.EROFS),
    "unlink": (errno.EIO, errno.EACCES, errno.EROFS),
    "rmdir": (errno.EIO,),
    "mkdir": (errno.EIO, errno.ENOSPC, errno.EACCES, errno.EROFS),
    "close": (errno.EIO,),
    "pread": (errno.EIO,),
    "read": (errno.EIO,),
    "fstat": (errno.EIO,),
    "lstat": (errno.EIO, errno.EACCES),
    "stat": (errno.EIO,),
    "listdir": (errno.EIO, errno.EMFILE),
    "scandir": (errno.EIO, errno.EMFILE),
    "flock": (errno.ENOLCK, errno.EIO),
}


class Died(BaseException):
    """The process is dead: nothing may catch this, and no system call is made any more."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, at the call with this number, counting from 1.

    ``die``: the process ends before the call. ``tear``: a write takes ``kept`` bytes, then the
    process ends. ``short``: a write takes ``kept`` bytes, and the next call is refused.
    ``error``: the call is refused. ``late``: the call is done, then reports an error.
    With ``lasting``, every later call that can report that error does.
    """

    at: int
    kind: Literal["die", "tear", "short", "error", "late"] = "die"
    errno: int = 0
    kept: int = 0
    lasting: bool = False

    def __str__(self) -> str:
        name = errno.errorcode.get(self.errno, "")
        detail = f" {name}" if name else ""
        if self.kind in ("tear", "short"):
            detail += f" after {self.kept} bytes"
        return f"{self.kind}{detail}{' for good' if self.lasting else ''} at call {self.at}"


@dataclass(frozen=True, slots=True)
class Call:
    """One call that the store made: its name, what it was about, and how much it wrote."""

    name: str
    about: str
    size: int = 0
    changes: bool = False


Watch = Callable[[str, tuple[Any, ...], Any], None]


class Shim:
    """Calls are passed on and forgotten until ``arm``; from then on they are counted and broken."""

    def __init__(self, hard_links: bool = True, watch: Watch | None = None) -> None:
        self.hard_links = hard_links
        self.calls: list[Call] = []
        self.dead = False
        self._watch = watch
        self._armed = False
        self._fault: Fault | None = None
        self._descriptors: dict[int, str] = {}

    def arm(self, fault: Fault | None = None) -> None:
        """Begin to count, and break the call that ``fault`` names."""
        self.calls = []
        self._fault = fault
        self._armed = True

    def disarm(self) -> None:
        """Let every call through again."""
        self._armed = False

    def bury(self) -> None:
        """Close what a dead process had open, as the kernel does: its locks are free now."""
        for descriptor in self._descriptors:
            _CLOSE(descriptor)
        self._descriptors.clear()

    @contextmanager
    def in_place(self) -> Iterator[Shim]:
        """Lead the store's system calls through this shim."""
        real = {name: getattr(os, name) for name in (*READS, *WRITES)}
        real_flock, real_fcntl = fcntl.flock, fcntl.fcntl
        for name, function in real.items():
            setattr(os, name, self._wrapped(name, function))
        fcntl.flock = self._wrapped("flock", real_flock)
        real_rename_at = renaming.rename_at
        renaming.rename_at = lambda *_: errno.ENOSYS  # it is no call of os: a plain rename is
        if hasattr(fcntl, "F_FULLFSYNC"):  # how macOS flushes
            fcntl.fcntl = self._wrapped("fsync", real_fcntl)
        try:
            yield self
        finally:
            for name, function in real.items():
                setattr(os, name, function)
            fcntl.flock, fcntl.fcntl = real_flock, real_fcntl
            renaming.rename_at = real_rename_at
            self.bury()

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if self.dead:
                raise Died
            broken = self._fault_of(name, arguments) if self._armed else None
            if broken is not None:
                return self._break(broken, name, real, arguments, options)
            if name == "link" and not self.hard_links:
                raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
            return self._pass(name, real, arguments, options)

        return call

    def _pass(
        self, name: str, real: Callable[..., Any], arguments: Any, options: dict[str, Any]
    ) -> Any:
        result = real(*arguments, **options)
        for place, named in enumerate(("src_dir_fd", "dst_dir_fd")):
            if options.get(named) is not None:
                whole = Path(self._descriptors[options[named]], arguments[place])
                arguments = (*arguments[:place], whole, *arguments[place + 1 :])
        if options.get("dir_fd") is not None:
            arguments = (Path(self._descriptors[options["dir_fd"]], arguments[0]), *arguments[1:])
        if name == "open":
            self._descriptors[result] = os.fspath(arguments[0])
        elif name == "close":
            self._descriptors.pop(arguments[0], None)
        if self._watch is not None:
            self._watch(name, arguments, result)
        return result

    def _fault_of(self, name: str, arguments: tuple[Any, ...]) -> Fault | None:
        self.calls.append(self._described(name, arguments))
        fault = self._fault
        if fault is None or len(self.calls) < fault.at:
            return None
        if len(self.calls) == fault.at:
            return fault
        return fault if fault.lasting and fault.errno in ERRNOS.get(name, ()) else None

    def _described(self, name: str, arguments: tuple[Any, ...]) -> Call:
        target = arguments[0]
        path = self._descriptors.get(target, "?") if isinstance(target, int) else target
        about = Path(path).name
        size = len(arguments[1]) if name in ("write", "pwrite") else 0
        changes = name in WRITES and name != "close"
        if name == "open":
            changes = bool(arguments[1] & os.O_CREAT)
        return Call(name, about, size, changes)

    def _break(
        self, fault: Fault, name: str, real: Callable[..., Any], arguments: Any, options: Any
    ) -> Any:
        match fault.kind:
            case "die":
                self.dead = True
                raise Died
            case "tear":
                self._pass(name, real, _cut_short(arguments, fault.kept), options)
                self.dead = True
                raise Died
            case "short":
                self._fault = replace(fault, at=fault.at + 1, kind="error")
                return self._pass(name, real, _cut_short(arguments, fault.kept), options)
            case "late":
                self._pass(name, real, arguments, options)
            case "error":
                if name == "fsync" and self._watch is not None:
                    self._watch("fsync failed", arguments, None)
                if name == "close":  # the descriptor is gone even when close reports an error
                    self._pass(name, real, arguments, options)
        raise OSError(fault.errno, os.strerror(fault.errno), str(arguments[0]))


def _cut_short(arguments: tuple[Any, ...], kept: int) -> tuple[Any, ...]:
    descriptor, data, *more = arguments
    return (descriptor, data[:kept], *more)


_CLOSE = os.close


def faults_of(
    calls: list[Call], lasting: bool = True, errors_each: int | None = None
) -> Iterator[Fault]:
    """Every way in which every one of these calls can go wrong, once or also from then on.

    ``errors_each`` bounds the errors that are tried at one call; the next call takes the next.
    """
    for at, call in enumerate(calls, 1):
        yield Fault(at)
        if call.name in ("write", "pwrite"):
            for kept in sorted({1, call.size // 2, call.size - 1, call.size} - {0}):
                yield Fault(at, "tear", kept=kept)
        for number in _chosen(ERRNOS.get(call.name, ()), at, errors_each):
            yield Fault(at, "error", number)
            if lasting:
                yield Fault(at, "error", number, lasting=True)
        if call.name in ("rename", "link"):
            yield Fault(at, "late", errno.EIO)


def _chosen(errors: tuple[int, ...], at: int, most: int | None) -> tuple[int, ...]:
    """So many of the errors as are wanted, from another one on at each call."""
    if most is None or not errors:
        return errors
    first = at % len(errors)
    return (*errors[first:], *errors[:first])[:most]
