"""A real process that is to be killed: it forks a child for each order, which opens and acts.

Orders come as JSON lines on stdin, answers go out on stdout. A child opens the session through the
store, with its real writer thread; says which thread that is; waits for the word to go; acts.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.records import UserMessage
from agent_tui.sessions.replay import Entry
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.store import SessionStore
from tests.faults import files_system_layer
from tests.faults.acts import ACTS, D1, steady_ids
from tests.faults.full_disk_layer import judge_limits
from tests.faults.mutants import in_force
from tests.faults.verdict import memory_against_disk

MOST_APPENDS = 2_000


def say(**words: object) -> None:
    """Answer, in one write."""
    os.write(1, json.dumps(words).encode() + b"\n")


def main() -> None:
    """Serve orders until there are no more."""
    mutant = sys.argv[1] if len(sys.argv) > 1 else ""
    _hear_signals()
    with in_force(mutant), steady_ids():
        for line in sys.stdin:
            order = json.loads(line)
            child = os.fork()
            if child == 0:
                with contextlib.suppress(KeyboardInterrupt):
                    asyncio.run(_ROLES[order["role"]](order))
                os._exit(0)
            _, status = os.waitpid(child, 0)
            say(ended=-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))


def _hear_signals() -> None:
    """Undo what nohup or a shell's background job left: signals that are ignored."""
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


async def act_once(order: dict[str, Any]) -> None:
    """Do one act when told to, then say how it ended and what is wrong."""
    folder = Path(order["folder"])
    act = ACTS[order["act"]]
    session = await SessionStore(folder.parent).open_folder(folder)
    token = await act.prepare(session) if act.prepare else None
    await session.mark()
    writer = next(t for t in threading.enumerate() if t.name.startswith("session-writer"))
    say(ready=writer.native_id, pid=os.getpid())
    os.close(os.open(order["go"], os.O_RDONLY))  # waits until the other end opens the gate
    error: Exception | None = None
    try:
        await act.run(session, token)
    except Exception as raised:
        error = raised
    say(acted="" if error is None else f"{type(error).__name__}: {error}")
    if order.get("survives"):
        say(broken=await _judged(session, error, order))


async def _judged(session: SessionLog, error: Exception | None, order: dict[str, Any]) -> list[str]:
    """I3, I22: an error is in words, memory follows disk, work resumes once the fault is over."""
    broken = []
    if error is not None and not isinstance(error, AgentTuiError):
        broken.append(f"a raw {type(error).__name__} came out: {error}")
    if order.get("lasting"):
        return broken
    if session.read_only:
        await session.reload()
    broken += memory_against_disk(session)
    try:
        await session.append(UserMessage("resumed"), durability=D1)
    except Exception as again:
        broken.append(f"work does not resume: {again}")
    return broken + memory_against_disk(session)


async def fill_every_byte(order: dict[str, Any]) -> None:
    """Do one act with every limit on the size of a file that stops it; judge each time."""
    folder = Path(order["folder"])
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]

    def limit(size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size if size >= 0 else hard, hard))

    tried, broken = await judge_limits(folder, ACTS[order["act"]], limit)
    say(tried=tried, broken=broken)


async def append_until_killed(order: dict[str, Any]) -> None:
    """Append, and say the number of each record once it is acknowledged; not for ever."""
    folder = Path(order["folder"])
    session = await SessionStore(folder.parent).open_folder(folder)
    say(ready=0, pid=os.getpid())
    for number in range(MOST_APPENDS):
        await session.append(UserMessage(f"number {number}"), durability=D1)
        say(acked=number)
        if number % 7 == 6:
            mark = await session.mark()
            await session.compact(mark, partial(_everything, list(session.state.entries)))


async def change_files(order: dict[str, Any]) -> None:
    """Revert or capture files when told to, or at once with no room for larger files."""
    actions = files_system_layer.load_actions(order)
    if order["go"]:
        gate = os.open(order["go"], os.O_RDWR)
        say(ready=os.getpid(), pid=os.getpid())
    else:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["limit"], hard))
    with contextlib.suppress(
        OSError
    ):  # a fault in what it hears or says is not one of what it does
        if order["go"]:
            os.read(gate, 2)
        files_system_layer.act_once(order, actions, say)


def _everything(entries: list[Entry], _: int) -> list[Entry]:
    return entries


_ROLES = {
    "act": act_once,
    "fill": fill_every_byte,
    "append": append_until_killed,
    "files": change_files,
}

if __name__ == "__main__":
    main()
