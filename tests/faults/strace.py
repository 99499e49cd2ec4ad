"""Drives a victim under strace: which system calls its writer thread makes, and breaking one."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

ROOT = Path(__file__).parents[2]
_CALL = re.compile(r"^(\w+)\(")


@dataclass(frozen=True, slots=True)
class SystemCall:
    """The ``nth`` call of that name that the writer thread makes."""

    name: str
    nth: int


@dataclass(frozen=True, slots=True)
class Ending:
    """How a victim ended: the signal as a negative number; whether its act returned or raised."""

    status: int
    acted: str | None
    broken: list[str]


def child_environment() -> dict[str, str]:
    """The environment of a child process that runs a module of the harness."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return {**os.environ, "PYTHONPATH": path}


class Victim:
    """The process that forks victims; one for all of a layer's trials."""

    def __init__(self, scratch: Path, mutant: str = "") -> None:
        self.gate = scratch / "go"
        if not self.gate.exists():
            os.mkfifo(self.gate)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.victim", mutant],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=child_environment(),
            start_new_session=True,
        )

    def __enter__(self) -> Victim:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _pipe(self._process.stdin).close()
        if error is not None:  # a child may be alive, and wait for something
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        _pipe(self._process.stdout).close()

    def order(self, **order: object) -> None:
        """Ask for a child."""
        pipe = _pipe(self._process.stdin)
        pipe.write(json.dumps(order).encode() + b"\n")
        pipe.flush()

    def hear(self) -> dict[str, Any]:
        """The next answer."""
        line = _pipe(self._process.stdout).readline()
        if not line:
            raise RuntimeError("the victim's parent is gone; see its traceback above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def hear_until(self, word: str) -> dict[str, Any]:
        """All answers up to the one that holds a word, as one."""
        heard: dict[str, Any] = {}
        while word not in heard:
            heard |= self.hear()
        return heard

    def act(self, folder: Path, act: str, tracing: list[str], **more: object) -> Ending:
        """Let a child do an act while strace follows its writer thread."""
        self.order(role="act", folder=str(folder), act=act, go=str(self.gate), **more)
        thread = self.hear_until("ready")["ready"]
        tracer = attach(thread, tracing)
        self.gate.open("wb").close()
        heard = self.hear_until("ended")
        tracer.wait()
        _pipe(tracer.stderr).close()
        return Ending(heard["ended"], heard.get("acted"), heard.get("broken", []))

    def traced(self, order: dict[str, Any], tracing: list[str]) -> dict[str, Any]:
        """Let a child follow an order while strace follows its main thread; all that it said."""
        self.order(**order, go=str(self.gate))
        tracer = attach(self.hear_until("ready")["ready"], tracing)
        gate = os.open(self.gate, os.O_RDWR)  # which never waits for the other end
        os.write(gate, b"go")
        heard = self.hear_until("ended")
        os.close(gate)
        tracer.wait()
        _pipe(tracer.stderr).close()
        return heard


def attach(thread: int, tracing: list[str]) -> subprocess.Popen[bytes]:
    """Attach strace to one thread; returns when it follows."""
    tracer = subprocess.Popen(
        ["strace", "-p", str(thread), *tracing], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    said = _pipe(tracer.stderr).readline()
    if b"attached" not in said:
        tracer.kill()
        raise PermissionError(said.decode().strip())
    return tracer


def why_not() -> str:
    """Why strace cannot be used here; empty when it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        tracer = attach(sleeper.pid, ["-o", os.devnull])
        sleeper.kill()
        tracer.wait()
        _pipe(tracer.stderr).close()
    except PermissionError as error:
        return f"ptrace is refused here: {error}"
    finally:
        sleeper.kill()
        sleeper.wait()
    return ""


def calls_in(log: Path) -> list[SystemCall]:
    """The system calls that strace wrote down, numbered by name."""
    counts: Counter[str] = Counter()
    calls = []
    for line in log.read_text(errors="replace").splitlines():
        if match := _CALL.match(line):
            counts[match[1]] += 1
            calls.append(SystemCall(match[1], counts[match[1]]))
    return calls


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
