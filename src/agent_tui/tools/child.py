"""Child processes: a clean environment, a session of their own, bounded output, a sure end."""

from __future__ import annotations

import json
import os
import secrets
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event
from typing import Literal, Protocol, TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ToolError
from agent_tui.tools.background import StopSignal

Ending: TypeAlias = Literal["exited", "timed_out", "stopped", "enough"]

_POLL_SECONDS = 0.02
_PIPE_GRACE_SECONDS = 0.3
_TERM_GRACE_SECONDS = 2.0
_SETTLE_SECONDS = 0.1
_CHUNK_BYTES = 65_536
_MARK = "AGENT_TUI_CALL"
_ROUNDS = 20
_STRAY_SECONDS = 0.05
_STRAY_POLL_SECONDS = 0.005

# fmt: off
_ENVIRONMENT = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL",
        "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "TZ", "TMPDIR",
        "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
        "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "PYTHONPATH", "NODE_PATH", "NVM_DIR",
        "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "SSL_CERT_FILE",
        "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NIX_PATH",
    }
)
# fmt: on
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"})
_QUIET = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "PYTHONUNBUFFERED": "1",
}


class Sink(Protocol):
    """Takes a child's output as it comes."""

    def feed(self, data: bytes) -> bool:
        """Take a piece; False means that no more is wanted."""
        ...


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended: ``exit_code`` is negative for a signal, as subprocess has it.

    ``warning`` is a sentence on what it left that acts outside of the sandbox.
    """

    ending: Ending
    exit_code: int
    left_children: bool
    warning: str = ""


def child_environment() -> dict[str, str]:
    """The variables that a child is given: an allow-list, and settings that keep programs quiet.

    Proxies are passed on unless their address holds a password.
    """
    passed = {name: value for name, value in os.environ.items() if _is_passed(name, value)}
    return passed | _QUIET


def _is_passed(name: str, value: str) -> bool:
    return name in _ENVIRONMENT or (name.upper() in _PROXIES and "@" not in value)


def run_child(
    command: Sequence[str],
    *,
    folder: Path | str,
    sink: Sink,
    stop: Event,
    timeout_seconds: float,
    finds_strays: bool = False,
    supervised: bool = False,
) -> Ended:
    """Run a program to its end, feeding what it prints (both streams) to ``sink``.

    The child has no terminal, reads nothing, and leads a process group of its own; whatever is
    left of that group when the program ends, is stopped or runs out of time, is ended with it
    (TERM, then KILL). Blocking: call it off the event loop. With ``finds_strays``, processes that
    left the group are found by a mark in their environment (where the system has /proc) and ended.
    ``supervised``: the child is a sandbox whose first process ends all others, and tells of it.

    Raises:
        ToolError: the program could not be started.
    """
    mark = secrets.token_hex(16)
    ours, theirs = socket.socketpair() if supervised else (None, None)
    try:
        process = _start(command, folder, mark, theirs.fileno() if theirs else subprocess.DEVNULL)
    except ToolError:
        if ours:
            ours.close()
        raise
    finally:
        if theirs:
            theirs.close()
    told: tuple[int, bool] | None = None
    with process:
        try:
            ending = _drain(process, sink, stop, time.monotonic() + timeout_seconds)
        finally:
            if ours:
                told = _end_supervised(process, ours)
            left = told is None and _end_group(process)
            if finds_strays and told is None:
                left = end_strays(mark) or left
    return Ended(ending, *(told or (process.returncode, left)))


def _start(
    command: Sequence[str], folder: Path | str, mark: str, stdin: int
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=child_environment() | {_MARK: mark},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ToolError(f"{command[0]} could not be started: {error}.") from error


def _drain(process: subprocess.Popen[bytes], sink: Sink, stop: Event, deadline: float) -> Ending:
    """Read until the pipe closes, or the program has ended and its pipe fell silent."""
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    quiet_until = float("inf")
    with ExitStack() as opened:
        selector = opened.enter_context(selectors.DefaultSelector())
        if isinstance(stop, StopSignal):
            selector.register(opened.enter_context(stop.waking()), selectors.EVENT_READ)
        selector.register(pipe, selectors.EVENT_READ)
        open_pipe = True
        while True:
            now = time.monotonic()
            if stop.is_set() and process.poll() is None:
                return "stopped"
            if now >= deadline:
                return "timed_out"
            if process.poll() is not None:
                quiet_until = min(quiet_until, now + _PIPE_GRACE_SECONDS)
                if not open_pipe or now >= quiet_until:
                    return "exited"
            if not open_pipe:
                time.sleep(_POLL_SECONDS / 5)
            elif any(key.fd == pipe for key, _ in selector.select(_POLL_SECONDS)):
                data = os.read(pipe, _CHUNK_BYTES)
                if not data:
                    selector.unregister(pipe)
                    open_pipe = False
                elif not sink.feed(data):
                    return "enough"


def _end_supervised(
    process: subprocess.Popen[bytes], supervisor: socket.socket
) -> tuple[int, bool] | None:
    """End a sandbox; how its command ended and whether it left processes, if it could tell."""
    # What it says is not trusted: a command may get hold of its socket and write there.
    with supervisor, suppress(subprocess.TimeoutExpired, OSError, ValueError, TypeError):
        if process.poll() is None:
            supervisor.shutdown(socket.SHUT_WR)
            supervisor.settimeout(_TERM_GRACE_SECONDS + 1)
        else:
            supervisor.settimeout(0)
        report = supervisor.recv(_CHUNK_BYTES)  # wakes at once; wait() looks every now and then
        process.wait(_TERM_GRACE_SECONDS + 1)
        if report:
            code, left = json.loads(report)
            return int(code), bool(left)
    return None


def _end_group(process: subprocess.Popen[bytes]) -> bool:
    """End the group; True if anything besides an ended leader was still there."""
    had_ended = process.poll() is not None
    if (had_ended and _settles(process.pid)) or not _signal_group(process.pid, signal.SIGTERM):
        process.wait()
        return False
    deadline = time.monotonic() + _TERM_GRACE_SECONDS
    while time.monotonic() < deadline and _is_alive(process):
        time.sleep(0.01)
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()
    return had_ended


def _is_alive(process: subprocess.Popen[bytes]) -> bool:
    """Whether the leader runs, or anyone else of its group; reaps the leader when it ended."""
    return process.poll() is None or _has_living(process.pid)


def _settles(group: int) -> bool:
    """Whether a group whose leader ended is soon empty: some end a moment later."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while _has_living(group):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)
    return True


def _has_living(group: int) -> bool:
    """Whether anybody of a group still runs.

    A zombie does not, and it can stay for long: in containers the first process often reaps late.
    """
    if not _signal_group(group, 0):
        return False
    try:
        folders = [each for each in Path("/proc").iterdir() if each.name.isdecimal()]
    except OSError:
        return True
    if not any(folder.name == str(os.getpid()) for folder in folders):
        return True  # /proc is not mounted
    return any(_runs_in(folder, group) for folder in folders)


def _runs_in(folder: Path, group: int) -> bool:
    try:
        stat = (folder / "stat").read_bytes()
    except OSError:
        return False
    state, _parent, its_group, *_ = stat.rpartition(b")")[2].split()
    return int(its_group) == group and state not in (b"Z", b"X")


def _signal_group(group: int, number: int) -> bool:
    """Signal a process group; False when nobody is left in it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end_strays(mark: str) -> bool:
    """End the processes of a call that left its group, however often they fork meanwhile."""
    found = False
    for round_number in range(_ROUNDS):
        strays = list(_marked_processes(mark))
        if not strays:
            break
        found = True
        for process in strays:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGTERM if round_number == 0 else signal.SIGKILL)
        _await_end(strays)
    return found


def _await_end(processes: Sequence[int]) -> None:
    """Wait until all of these have ended, for a moment at most."""
    deadline = time.monotonic() + _STRAY_SECONDS
    while time.monotonic() < deadline and any(map(_runs, processes)):
        time.sleep(_STRAY_POLL_SECONDS)


def _runs(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


def _marked_processes(mark: str) -> Iterator[int]:
    wanted = f"{_MARK}={mark}".encode()
    try:
        folders = [each for each in Path("/proc").iterdir() if each.name.isdecimal()]
    except OSError:
        return
    for folder in folders:
        with suppress(OSError), (folder / "environ").open("rb") as file:
            if wanted in file.read(1_000_000).split(b"\0"):
                yield int(folder.name)
