"""Commands run apart from us: nothing of ours leaks in, nothing of theirs stays behind."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import CommandDisplay, ToolResult
from agent_tui.tools.background import StopSignal
from agent_tui.tools.base import ToolContext
from agent_tui.tools.child import run_child
from agent_tui.tools.output import BoundedOutput
from agent_tui.tools.run_command import RunCommand, RunCommandArguments


async def run(context: ToolContext, command: str, seconds: int = 30) -> ToolResult:
    arguments = RunCommandArguments(command=command, timeout_seconds=seconds)
    return await RunCommand().run(arguments, context)


class Silent:
    """Wants nothing of what a child prints."""

    def feed(self, data: bytes) -> bool:
        return True


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


async def eventually_gone(*pids: int) -> None:
    for _ in range(250):
        if not any(map(is_running, pids)):
            return
        await asyncio.sleep(0.02)
    assert [pid for pid in pids if is_running(pid)] == []


async def pids_in(folder: Path, count: int) -> list[int]:
    """The process ids that a command wrote into its ``pids`` file, once all are there."""
    for _ in range(500):
        if len(pids := written_in(folder)) >= count:
            break
        await asyncio.sleep(0.02)
    return pids


def written_in(folder: Path) -> list[int]:
    file = folder / "pids"
    return [int(pid) for pid in file.read_text().split()] if file.exists() else []


async def test_output_of_both_streams_and_the_exit_code_are_told(
    workspace: Path, context: ToolContext
) -> None:
    result = await run(context, "pwd; echo oops >&2; exit 3")
    assert result.output == f"{workspace}\noops\n[exit code 3]"
    assert result.is_error
    assert result.display == CommandDisplay("pwd; echo oops >&2; exit 3", str(workspace), 3)
    assert await run(context, "true") == ToolResult(
        "[exit code 0]", display=CommandDisplay("true", str(workspace), 0)
    )
    assert (await run(context, "kill -9 $$")).output == "[ended by signal SIGKILL]"


async def test_a_person_sees_the_whole_command(workspace: Path, context: ToolContext) -> None:
    command = "echo start\n" + "x" * 5_000 + "\u202e\n; rm -rf y"
    display = await RunCommand().preview(RunCommandArguments(command=command), context)
    assert display == CommandDisplay(command.replace("\u202e", "<U+202E>"), str(workspace))
    for wrong, told in (("  ", "empty"), ("a\0b", "a NUL"), ("echo \ud83d", "half a surrogate")):
        with pytest.raises(ToolError, match=told):
            await RunCommand().preview(RunCommandArguments(command=wrong), context)


async def test_secrets_of_ours_do_not_reach_a_child(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-1")
    monkeypatch.setenv("https_proxy", "http://user:canary-2@proxy")
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    output = (await run(context, "env")).output
    assert "canary" not in output
    assert "PATH=" in output
    assert "http_proxy=http://proxy:3128" in output


async def test_a_child_has_no_terminal_and_reads_nothing(context: ToolContext) -> None:
    assert (await run(context, "cat; tty")).output.startswith("not a tty")
    assert (await run(context, "(echo x > /dev/tty) 2>/dev/null || echo none")).output.startswith(
        "none"
    )
    leads = await run(context, 'test "$(ps -o sid= -p $$ | tr -d " ")" = $$ && echo leader')
    assert leads.output.startswith("leader")


async def test_escape_sequences_and_wrong_bytes_are_made_safe(context: ToolContext) -> None:
    result = await run(
        context, r"printf '\033[31mred\033[0m \033]0;title\007 \033[2J \200\377 10%%\r20%%\r\n'"
    )
    assert result.output == "red ␛]0;title␇ ␛[2J \ufffd\ufffd 10%\n20%\n[exit code 0]"


async def test_a_hundred_megabytes_take_constant_memory(context: ToolContext) -> None:
    command = "echo first; yes $(printf 'x%.0s' $(seq 99)) | head -n 1000000; echo last"
    await run(context, "true")
    tracemalloc.start()
    try:
        result = await run(context, command, 60)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000
    assert len(result.output) < context.output_limit + 200
    assert result.output.startswith("first\nxxx")
    assert result.output.endswith("xxx\nlast\n[exit code 0]")
    kept = len(result.output) - len("last\n[exit code 0]")
    missing = int(result.output.partition(" lines (")[2].partition(" bytes")[0].replace(",", ""))
    assert missing + kept == pytest.approx(100_000_000, abs=200)


async def test_a_command_that_hangs_is_ended_in_time(workspace: Path, context: ToolContext) -> None:
    began = time.monotonic()
    result = await run(context, "echo $$ > pids; sleep 100 & echo $! >> pids; wait", 1)
    assert result.is_error
    assert result.output == "[ended after 1 s: time ran out]"
    assert time.monotonic() - began < 15
    await eventually_gone(*await pids_in(workspace, 2))


@pytest.mark.slow
async def test_a_command_that_ignores_the_first_signal_is_killed(
    workspace: Path, context: ToolContext
) -> None:
    began = time.monotonic()
    await run(context, "trap '' TERM; echo $$ > pids; while :; do sleep 0.1; done", 1)
    assert time.monotonic() - began < 15
    await eventually_gone(*await pids_in(workspace, 1))


@pytest.mark.parametrize("ignores", ["", "trap '' TERM;"])
async def test_a_cancelled_command_leaves_no_process(
    workspace: Path, context: ToolContext, ignores: str
) -> None:
    command = f"{ignores} echo $$ > pids; (sleep 100 & echo $! >> pids; wait) | cat; wait"
    task = asyncio.create_task(run(context, command))
    pids = await pids_in(workspace, 2)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually_gone(*pids)


async def test_a_cancelled_command_leaves_its_output_and_what_is_told_of_new_hooks(
    workspace: Path, context: ToolContext
) -> None:
    left: list[tuple[ToolResult, bool]] = []
    command = "mkdir .git .git/hooks; echo up; echo $$ > pids; sleep 100"
    task = asyncio.create_task(
        run(replace(context, leave=lambda *told: left.append(told)), command)
    )
    await pids_in(workspace, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    ((result, has_ended),) = left
    assert not has_ended
    assert result.output.startswith("up\n[Created .git: hooks")
    assert result.display == CommandDisplay(command, str(workspace))


def test_what_had_ended_before_the_signal_to_stop_was_not_stopped(tmp_path: Path) -> None:
    class AfterTheEnd(Event):
        def is_set(self) -> bool:
            deadline = time.monotonic() + 30
            while not (pids := written_in(tmp_path)) or is_running(*pids):
                assert time.monotonic() < deadline, "the command did not end"
            return True

    output = BoundedOutput(100)
    ended = run_child(
        ["/bin/sh", "-c", "echo done; echo $$ > pids"],
        folder=tmp_path,
        sink=output,
        stop=AfterTheEnd(),
        timeout_seconds=30,
    )
    assert (ended.ending, ended.exit_code) == ("exited", 0)
    output.finish()
    assert output.text() == "done\n"


@pytest.mark.parametrize("is_early", [True, False])
def test_who_waits_for_a_file_is_woken_by_the_signal_to_stop(*, is_early: bool) -> None:
    stop = StopSignal()
    if is_early:
        stop.set()
    with stop.waking() as woken:
        assert bool(select.select([woken], [], [], 0)[0]) == is_early
        stop.set()
        assert select.select([woken], [], [], 0)[0]
    stop.set()
    assert stop.is_set()


async def test_a_background_child_that_holds_the_pipe_does_not_hang_it(
    workspace: Path, context: ToolContext
) -> None:
    began = time.monotonic()
    result = await run(context, "sleep 100 & echo $! > pids; echo done")
    assert result.output == "done\n[exit code 0; processes it left in the background were ended]"
    assert time.monotonic() - began < 15
    await eventually_gone(*await pids_in(workspace, 1))


def test_a_zombie_of_the_group_is_no_process_left_behind(tmp_path: Path) -> None:
    """As after bwrap in a container whose first process reaps late."""
    program = (
        "import os, time\n"
        "if os.fork():\n"
        "    while not os.path.exists('pid'): time.sleep(0.01)\n"
        "    os._exit(0)\n"
        "child = os.fork()\n"
        "if not child: os._exit(0)\n"
        "os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)\n"
        "os.setsid()\n"
        "open('pid.new', 'w').write(str(os.getpid()))\n"
        "os.rename('pid.new', 'pid')\n"
        "time.sleep(60)\n"
    )
    command = [sys.executable, "-c", program]
    ended = run_child(command, folder=tmp_path, sink=Silent(), stop=Event(), timeout_seconds=30)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert (ended.exit_code, ended.left_children) == (0, not Path("/proc/self/stat").exists())


async def test_a_command_that_closes_its_output_is_still_waited_for(context: ToolContext) -> None:
    began = time.monotonic()
    result = await run(context, "exec >/dev/null 2>&1; sleep 0.5; exit 4")
    assert result.output == "[exit code 4]"
    assert time.monotonic() - began >= 0.5


async def test_the_loop_is_free_while_a_command_floods(context: ToolContext) -> None:
    task = asyncio.create_task(run(context, "timeout 1 yes", 5))
    worst = 0.0
    while not task.done():
        began = time.process_time()
        await asyncio.sleep(0.001)
        worst = max(worst, time.process_time() - began)
    assert worst < 0.5


async def test_a_workspace_that_is_gone_is_told(context: ToolContext) -> None:
    context.workspace.rmdir()
    with pytest.raises(ToolError, match="no longer exists"):
        await run(context, "true")
