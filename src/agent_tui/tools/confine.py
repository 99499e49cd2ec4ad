"""A launcher that confines itself and becomes a command: limits, and Landlock where it is asked.

It is run as a file of its own by ``python -I``, so it imports only the standard library:
``confine.py SPEC PROGRAM ARGUMENT...``, where SPEC is JSON with ``write`` (folders and files that
may be written, or null for no Landlock), ``network``, ``memory`` and ``processes`` (0: no limit),
and ``supervise``: run the command, end what it leaves behind, and tell the socket at standard input
how it ended; when that socket closes, everything is ended. Under ``namespace`` this is the first
process of a PID namespace; under ``children`` whatever loses its parent becomes a child of it.
"""

import ctypes
import json
import os
import resource
import select
import signal
import stat
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38
_ADOPT_ORPHANS = 36
_WRITE_FILE, _TRUNCATE, _REFER = 1 << 1, 1 << 14, 1 << 13
_CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))
_TCP = 0b11
_SCOPED = 0b11
_TERM_GRACE_SECONDS = 2.0
_LAST_WORDS_SECONDS = 0.3
_KILL_ROUNDS = 20


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("access", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def landlock_version() -> int:
    """The version of Landlock that this system has; 0 for none."""
    try:
        return max(0, int(_libc().syscall(_CREATE, None, 0, _VERSION_FLAG)))
    except (OSError, AttributeError):
        return 0


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _restrict(write: list[str], *, network: bool) -> None:
    """Let this process and its children write only there; they can never undo it."""
    version = landlock_version()
    on_files = _WRITE_FILE | (_TRUNCATE if version >= 3 else 0)
    on_folders = on_files | _CHANGE_FOLDERS | (_REFER if version >= 2 else 0)
    rules = _Ruleset(on_folders, 0, 0)
    size = 8
    if version >= 4:
        rules.net, size = (0 if network else _TCP), 16
    if version >= 6:
        rules.scoped, size = _SCOPED, 24
    libc = _libc()
    ruleset = libc.syscall(_CREATE, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "Landlock refused")
    for path in write:
        with suppress(OSError):
            _allow(libc, ruleset, path, on_files, on_folders)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.syscall(_RESTRICT, ruleset, 0):
        raise OSError(ctypes.get_errno(), "Landlock refused")
    os.close(ruleset)


def _allow(libc: Any, ruleset: int, path: str, on_files: int, on_folders: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rule = _Beneath(on_folders if is_folder else on_files, descriptor)
        if libc.syscall(_ADD, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0):
            raise OSError(ctypes.get_errno(), "Landlock refused a rule")
    finally:
        os.close(descriptor)


def _limit(kind: int, most: int) -> None:
    if most:
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _become(program: str, command: list[str]) -> NoReturn:
    """Become the program, with the signals as they were before Python changed them."""
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    os.execv(program, command)


def _supervise(program: str, command: list[str], *, has_namespace: bool) -> NoReturn:
    """Run the program, end what it leaves behind, and tell how it ended and whether it left any."""
    signal_others = _signal_namespace if has_namespace else _signal_descendants
    if not has_namespace and _libc().prctl(_ADOPT_ORPHANS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "the processes that it leaves behind could not be ended")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        try:
            _become(program, command)
        except OSError as error:
            sys.stderr.write(f"agent-tui could not start the command: {error}\n")
            sys.stderr.flush()
            os._exit(126)
    ended: dict[int, int] = {}
    deadline, stopping = float("inf"), False
    while time.monotonic() < deadline:
        _reap(ended)
        if child in ended and not signal_others(0):
            break
        if child in ended and not stopping:
            deadline = min(deadline, time.monotonic() + _LAST_WORDS_SECONDS)
        wait = max(0.0, deadline - time.monotonic())
        watched = [wake] if stopping else [wake, 0]
        ready, _, _ = select.select(watched, [], [], None if wait == float("inf") else wait)
        if wake in ready:
            os.read(wake, 4096)
        if 0 in ready:
            stopping, deadline = True, time.monotonic() + _TERM_GRACE_SECONDS
            signal_others(signal.SIGTERM)
    _reap(ended)
    left = signal_others(0)
    if left and not has_namespace:  # a namespace ends with its first process
        _kill_descendants(ended)
    code = os.waitstatus_to_exitcode(ended[child]) if child in ended else -signal.SIGKILL
    with suppress(OSError):
        os.write(0, json.dumps([code, left]).encode())
    os._exit(0)


def _reap(ended: dict[int, int]) -> None:
    """Take note of every child that ended."""
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended[found[0]] = found[1]


def _signal_namespace(number: int) -> bool:
    """Signal every process of the namespace but this one, its first; whether there was any."""
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        return False
    return True


def _signal_descendants(number: int) -> bool:
    """Signal everything that came from this process; whether there was anything."""
    found = False
    for process in _descendants():
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
            found = True
    return found


def _kill_descendants(ended: dict[int, int]) -> None:
    """Kill what came from this process, however often it forks meanwhile."""
    for _ in range(_KILL_ROUNDS):
        if not _signal_descendants(signal.SIGKILL):
            return
        time.sleep(0.01)
        _reap(ended)


def _descendants() -> list[int]:
    """The living processes that came from this one, by whose child each is."""
    children: dict[int, list[int]] = {}
    with os.scandir("/proc") as entries:
        processes = [entry.name for entry in entries if entry.name.isdecimal()]
    for process in processes:
        with suppress(OSError):
            state, parent, *_ = _read(f"/proc/{process}/stat").rpartition(b")")[2].split()
            if state not in (b"Z", b"X"):
                children.setdefault(int(parent), []).append(int(process))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        own = children.get(waiting.pop(), [])
        found += own
        waiting += own
    return found


def _read(path: str) -> bytes:
    """A small file; ``pathlib`` would take longer to load than the rest of this takes."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 4096)
    finally:
        os.close(descriptor)


def main(spec: str, program: str, *arguments: str) -> None:
    """Confine this process as the spec says, then become the program."""
    wanted = json.loads(spec)
    try:
        if wanted["write"] is not None:
            _restrict(wanted["write"], network=wanted["network"])
        _limit(resource.RLIMIT_AS, wanted["memory"])
        _limit(resource.RLIMIT_NPROC, wanted["processes"])
        if wanted["supervise"]:
            namespace = wanted["supervise"] == "namespace"
            _supervise(program, [program, *arguments], has_namespace=namespace)
        _become(program, [program, *arguments])
    except (OSError, ValueError) as error:
        sys.stderr.write(f"agent-tui could not confine the command: {error}\n")
        sys.exit(126)


if __name__ == "__main__":
    main(*sys.argv[1:])
