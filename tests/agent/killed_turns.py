"""Run as a program: turns that kill their own process, without a chance to clean up.

    python -m tests.agent.killed_turns FOLDER COUNT

Each turn runs in a forked child and a folder of its own. The first COUNT children send themselves
SIGKILL at their first, second, third … event; a third as many at a moment that a timer chooses.
What a child had heard by then is in ``heard``, one event's name a line: all of it was promised.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalRequested,
    CompactionFinished,
    Event,
    TextDelta,
    ToolCallDelta,
)
from agent_tui.providers.demo.scenario import Reply
from tests.agent.stage import Stage, call

SCRIPT = (
    Reply(text="I look.", calls=(call("read_file", path="a"), call("read_file", path="b"))),
    Reply(calls=(call("run_command", command="echo x >> ran"),), input_tokens=5_900),
    Reply(text="Done."),
)
QUIET = (TextDelta, ToolCallDelta)


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def run_turn(folder: Path, at_event: int) -> None:
    compactions = (Reply(text="Both files were read."),)
    async with Stage(folder, *SCRIPT, compactions=compactions, window=6_000) as stage:
        for name in "ab":
            (stage.workspace / name).write_text(f"{name} says a lot\n" * 500)
        count = 0
        with (folder / "heard").open("a", buffering=1) as heard:

            def hear(event: Event) -> None:
                nonlocal count
                if isinstance(event, QUIET):
                    return
                count += 1
                if not (isinstance(event, CompactionFinished) and event.report is None):
                    heard.write(f"{type(event).__name__}\n")
                if count == at_event:
                    kill_self()
                if isinstance(event, ApprovalRequested):
                    allow: Callable[[], None] = lambda: stage.session.approvals.answer(  # noqa: E731
                        event.request.id, ApprovalAnswer("once")
                    )
                    asyncio.get_running_loop().call_soon(allow)

            stage.listeners.append(hear)
            await stage.say("Read both, then act")


def fork_turn(folder: Path, *, at_event: int = 0, after_seconds: float = 0.0) -> int:
    """The child's exit status."""
    folder.mkdir(parents=True)
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    os.environ["AGENT_TUI_HOME"] = str(folder / "home")
    if after_seconds:
        threading.Timer(after_seconds, kill_self).start()
    try:
        asyncio.run(run_turn(folder, at_event))
    finally:
        os._exit(0)


def main(folder: Path, count: int) -> None:
    for number in range(1, count + 1):
        fork_turn(folder / f"event-{number:02}", at_event=number)
    for number in range(1, count // 3 + 1):
        fork_turn(folder / f"timer-{number:02}", after_seconds=0.03 + 0.012 * number)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
