"""A command of this program in its own process, which blocks nobody and ends with its task.

Taking much JSON apart holds the interpreter's lock, even in a thread; a process has its own.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from dataclasses import dataclass

_NICENESS = 5
"""Keys come first, but somebody may wait for it: at 10 it got nothing beside a build."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended, what it printed, and what it reported as its error."""

    code: int
    printed: bytes
    trouble: str


async def run_command(*words: str) -> Outcome:
    """Run ``agent-tui WORDS`` at low priority; killed when the task is cancelled."""
    program = (sys.executable, "-I", "-m", "agent_tui", *words)
    child = await asyncio.create_subprocess_exec(*program, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    with suppress(OSError):
        ours = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, child.pid, ours + _NICENESS)
    try:
        printed, said = await child.communicate()
    except asyncio.CancelledError:
        child.kill()  # it may be stopped, and heed nothing else
        await child.wait()
        raise
    lines = said.decode(errors="replace").strip().splitlines()
    trouble = lines[-1].removeprefix("agent-tui: ") if lines else ""
    return Outcome(child.returncode or 0, printed, trouble)
