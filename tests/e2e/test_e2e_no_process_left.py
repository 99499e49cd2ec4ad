"""The real program on a terminal: a cancelled turn leaves no process, nor does a killed program."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_tui.tools.sandbox import best_sandbox
from tests.e2e.stage import Stage, quit_by_command, say
from tests.providers.sse_server import (
    Answer,
    SseServer,
    call_chunk,
    finish_chunk,
    stream,
    text_chunk,
)
from tests.waiting import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(best_sandbox() != "bwrap", reason="bubblewrap does not work here"),
]

STUBBORN = "setsid sleep 100 & (trap '' TERM; nohup sleep 100) & echo > up; sleep 100; sleep 100"
"""Leaves its group, ignores TERM, and goes on behind what is ended."""


def start(*, background: bool) -> Answer:
    """The model runs the command."""
    fields = {"command": STUBBORN, "background": background}
    begun = call_chunk(0, call_id="c1", name="run_command", arguments=json.dumps(fields))
    return stream(begun, finish_chunk("tool_calls"))


def processes_in(folder: Path) -> list[str]:
    """The living processes that work in a folder: commands, and the program itself."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes() if process.name.isdecimal() else b""
            is_there = words and (process / "cwd").readlink().is_relative_to(folder)
        except OSError:
            continue
        if is_there:
            found.append(words.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def sleepers_in(folder: Path) -> int:
    return sum("sleep 100" in each for each in processes_in(folder))


def wait_until(condition: Callable[[], bool], folder: Path) -> float:
    """How many seconds it took until a condition held of the processes in a folder."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < PATIENCE_SECONDS, processes_in(folder)
        time.sleep(0.01)
    return time.monotonic() - start


@pytest.mark.parametrize("ending", ["cancelled", "killed", "killed with one in the background"])
def test_no_command_outlives_its_turn_or_the_program(tmp_path: Path, ending: str) -> None:
    background = "background" in ending
    with SseServer([start(background=background)]) as server:
        stage = Stage(tmp_path, server)
        server.answers.append(stream(text_chunk("It runs."), finish_chunk()))
        with stage.open("--yolo", "--sandbox", "strict") as terminal:
            terminal.wait_for("Ask anything")
            say(terminal, "start it")
            terminal.wait_for("It runs." if background else "running")
            wait_until(lambda: sleepers_in(stage.workspace) >= 3, stage.workspace)
            running = sleepers_in(stage.workspace)
            if ending == "cancelled":
                terminal.press("escape")
                terminal.wait_for("● ready")
            else:
                terminal.process.kill(signal.SIGKILL)
                terminal.process.wait()
            took = wait_until(lambda: not sleepers_in(stage.workspace), stage.workspace)
            if ending == "cancelled":
                quit_by_command(terminal)
        wait_until(lambda: not processes_in(stage.workspace), stage.workspace)  # nor one of ours
    print(f"{ending}, under bubblewrap: {running} processes, 0 left after {took * 1000:.0f} ms")
