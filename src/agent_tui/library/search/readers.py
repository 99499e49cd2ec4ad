"""Processes that read session files while another one writes the index."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import TypeAlias

from agent_tui.library.search.reading import Failed, Finished, Part, Unit, read_unit

_MOST = 2
"""Two fill the time of one that writes; more would only take memory."""
_WORTH_BYTES = 24 << 20
"""What one process reads before others could have started."""
_PIPE_BYTES = 1 << 20

LazyUnit: TypeAlias = Callable[[], Unit]
"""Makes a unit just before it is read: what the index knows of it may be much."""


def read_units(units: list[LazyUnit], size: int) -> Iterator[Part]:
    """Everything that the index keeps of many files; of much, two processes read it.

    Args:
        units: what is to be read.
        size: how many bytes that is, about.
    """
    count = min(_MOST, len(units), _processors())
    if size < _WORTH_BYTES or count < 2:
        for make in units:
            yield from read_unit(make())
        return
    with ExitStack() as stack:
        readers = []
        for _ in range(count):
            readers.append(reader := _Reader())
            stack.callback(reader.close)
        yield from _spread(deque(units), readers)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _spread(units: deque[LazyUnit], readers: list[_Reader]) -> Iterator[Part]:
    from multiprocessing.connection import wait

    busy = {reader.answers: reader for reader in readers if reader.begin(units)}
    while busy:
        for answers in wait(list(busy)):
            reader = busy[answers]  # type: ignore[index]  # only what was waited for comes back
            part = reader.receive()
            if part is not None:
                yield part
            elif reader.is_dead or not reader.begin(units):
                del busy[reader.answers]
    if units:
        yield from (part for make in units for part in read_unit(make()))


def _widen(pipe: int) -> None:
    """Let a pipe hold a whole piece, where it can: its reader reads on while another is written."""
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


class _Reader:
    """One process, which reads a unit at a time."""

    def __init__(self) -> None:
        from multiprocessing.connection import Connection

        command = [sys.executable, "-I", "-m", "agent_tui.library.search.reading_child"]
        pipe = subprocess.PIPE
        quiet = subprocess.DEVNULL  # its last words would stand in the middle of a screen
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asking = os.dup(self._process.stdin.fileno())
        answering = os.dup(self._process.stdout.fileno())
        _widen(answering)
        self._process.stdin.close()
        self._process.stdout.close()
        self._asked = Connection(asking, readable=False)
        self.answers = Connection(answering, writable=False)
        self._open: set[str] = set()
        self.is_dead = False

    def begin(self, units: deque[LazyUnit]) -> bool:
        """Have the next unit read; False where there is none, or the process has ended."""
        if not units:
            return False
        unit = units[0]()
        try:
            self._asked.send(unit)
        except OSError:
            return False
        units.popleft()
        self._open = {str(job.ref.path) for job in unit.jobs}
        return True

    def receive(self) -> Part | None:
        """What was read next; None at the end of the unit."""
        try:
            part: Part | None = self.answers.recv()
        except (EOFError, OSError):
            self.is_dead = True
            if not self._open:
                return None
            return Failed(f"{self._open.pop()}: the process that read it ended too early")
        if isinstance(part, Finished):
            self._open.discard(str(part.job.ref.path))
        return part

    def close(self) -> None:
        """End the process, in whatever it is doing."""
        self._asked.close()
        self.answers.close()
        self._process.terminate()
        self._process.wait()
