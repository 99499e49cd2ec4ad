"""Commands in each sandbox that the system has: work as before, kept in, ended with the program."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from agent_tui.agent.approval import Approvals
from agent_tui.agent.toolset import Toolset
from agent_tui.config import Settings
from agent_tui.core.events import Event as WireEvent
from agent_tui.core.messages import ToolCall
from agent_tui.runtime.starting.confining import describe_sandbox
from agent_tui.tools import sandbox
from agent_tui.tools.background_command import (
    BackgroundCommand,
    BackgroundCommandArguments,
    EndedCommands,
)
from agent_tui.tools.base import ToolContext
from agent_tui.tools.child import run_child
from agent_tui.tools.confinement import Confinement
from agent_tui.tools.output import BoundedOutput
from agent_tui.tools.run_command import RunCommand, RunCommandArguments
from agent_tui.tools.running_commands import RunningCommands
from agent_tui.tools.sandbox import SandboxKind, best_sandbox
from tests.waiting import PATIENCE_SECONDS

PYTHON = sys.executable


@pytest.fixture(params=["bwrap", "landlock"])
def kind(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SandboxKind]:
    """Bubblewrap, and what is used where it is installed and may not do anything."""
    wanted: SandboxKind = request.param
    if wanted == "landlock":
        programs = tmp_path / "programs"
        programs.mkdir()
        (programs / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n")
        (programs / "bwrap").chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    # Passed on to commands, and so the mark by which their processes are found.
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    best_sandbox.cache_clear()
    if best_sandbox() != wanted:
        best_sandbox.cache_clear()
        pytest.skip(f"this system cannot confine commands with {wanted}")
    yield wanted
    best_sandbox.cache_clear()


def processes_of(tmp_path: Path) -> list[int]:
    """The processes that commands of this test started and that still run."""
    mark = f"TMPDIR={tmp_path / 'temporary'}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdecimal() and mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


async def eventually(condition: Callable[[], object]) -> None:
    for _ in range(3_000):
        if condition():
            return
        await asyncio.sleep(0.01)
    assert condition()


async def run(workspace: Path, command: str, seconds: int = 30, *, network: bool = True) -> str:
    limits = Confinement("strict", network=network)
    context = ToolContext(workspace, confinement=limits)
    arguments = RunCommandArguments(command=command, timeout_seconds=seconds)
    return (await RunCommand().run(arguments, context)).output


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("echo out; echo err >&2; exit 3", "out\nerr\n[exit code 3]"),
        ("exit 137", "[exit code 137]"),
        ("kill -9 $$", "[ended by signal SIGKILL]"),
        ("kill 0", "[ended by signal SIGTERM]"),
        ("yes | head -1; echo ${PIPESTATUS[0]}", "y\n141\n[exit code 0]"),
        ("cat; tty", "not a tty\n[exit code 1]"),
        ("f=$(mktemp) && echo x > $f && cat $f", "x\n[exit code 0]"),
        ("echo x > new && cat new", "x\n[exit code 0]"),
        (f"{PYTHON} -c 'print(6 * 7)'", "42\n[exit code 0]"),
        ("mkdir -p a/b/c/d && cd a/b/c/d && git init -q . && git status --short", "[exit code 0]"),
    ],
)
async def test_commands_work_as_without_a_sandbox(
    kind: SandboxKind, workspace: Path, command: str, told: str
) -> None:
    assert await run(workspace, command) == told


@pytest.mark.slow
async def test_pytest_runs_inside(kind: SandboxKind, workspace: Path) -> None:
    (workspace / "test_small.py").write_text("def test_small(tmp_path): assert tmp_path.exists()")
    assert "1 passed" in await run(workspace, f"{PYTHON} -m pytest -q -p no:randomly .", 120)


async def test_what_is_ours_stays_as_it_is(kind: SandboxKind, tmp_path: Path) -> None:
    if kind != "bwrap":
        return
    workspace, sessions = tmp_path / "workspace", tmp_path / "sessions"
    for folder in (workspace / ".git", workspace / ".agent-tui", sessions):
        folder.mkdir(parents=True)
        (folder / "kept").write_text("kept")
    context = ToolContext(workspace, confinement=Confinement("strict"), protected=(sessions,))
    for kept in (".git", ".agent-tui", sessions):
        for attempt in (
            f"echo x > {kept}/kept",
            f"rm -rf {kept}",
            f"mv {kept} moved",
            f"umount {kept}; echo x > {kept}/new",
            f"mount -o remount,rw,bind {kept}; echo x > {kept}/new",
        ):
            arguments = RunCommandArguments(command=attempt)
            assert (await RunCommand().run(arguments, context)).is_error, attempt
    for folder in (workspace / ".git", workspace / ".agent-tui", sessions):
        assert [(each.name, each.read_text()) for each in folder.iterdir()] == [("kept", "kept")]


async def test_a_repository_that_a_command_makes_is_told(
    kind: SandboxKind, workspace: Path
) -> None:
    hooked = "mkdir -p .git/hooks && echo evil > .git/hooks/post-checkout"
    assert "[Created .git: hooks" in await run(workspace, hooked)
    again = await run(workspace, "true")
    assert "was created" not in again
    if kind == "bwrap":
        assert "Read-only" in await run(workspace, hooked), "it is there now, and closed"


async def test_a_repository_that_a_background_command_makes_is_told(
    kind: SandboxKind, workspace: Path
) -> None:
    told: list[str] = []
    commands = RunningCommands()
    context = ToolContext(workspace, confinement=Confinement("strict"), commands=commands)
    made = RunCommandArguments(command="git init -q .", background=True)
    await RunCommand().run(made, context)
    await asyncio.wait([commands.find(1).ended])
    told += await EndedCommands(commands, list).tell()
    arguments = BackgroundCommandArguments(number=1, action="wait")
    told.append((await BackgroundCommand().run(arguments, context)).output)
    assert ["[Created .git: hooks" in each for each in told] == [True, True]
    await commands.close()


@pytest.mark.parametrize(
    "change", ["echo x >> .git/config", "echo x > .git/hooks/pre-commit", "rm .git/hooks/kept"]
)
async def test_changed_settings_of_a_repository_are_told_where_they_cannot_be_closed(
    kind: SandboxKind, workspace: Path, change: str
) -> None:
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (workspace / ".git" / "hooks" / "kept").touch()
    (workspace / ".git" / "config").touch()
    said = await run(workspace, change)
    assert ("a hook in .git/hooks was changed" in said) == (kind == "landlock")
    assert ("Read-only" in said) == (kind == "bwrap")
    assert "was changed" not in await run(workspace, "true")


@pytest.mark.parametrize("place", ["sub", "a/b/c"])
async def test_repositories_below_the_workspace_are_closed_and_told_too(
    kind: SandboxKind, workspace: Path, place: str
) -> None:
    hooked = f"mkdir -p {place}/.git/hooks && echo evil > {place}/.git/hooks/post-checkout"
    assert f"[Created {place}/.git: hooks" in await run(workspace, hooked)
    again = await run(workspace, hooked)
    assert "was created" not in again
    if kind == "bwrap":
        assert "Read-only" in again


async def test_what_is_left_behind_is_ended_and_told(
    kind: SandboxKind, workspace: Path, tmp_path: Path
) -> None:
    told = "[exit code 0; processes it left in the background were ended]"
    assert await run(workspace, "setsid sleep 100 & sleep 100 & sleep 0.1") == told
    await eventually(lambda: not processes_of(tmp_path))


@pytest.mark.slow
async def test_a_command_may_clean_up_and_one_that_does_not_end_is_killed(
    kind: SandboxKind, workspace: Path, tmp_path: Path
) -> None:
    await run(workspace, "trap 'echo x > cleaned; exit' TERM; sleep 100 & wait", 1)
    assert (workspace / "cleaned").exists()
    await run(workspace, "trap '' TERM; while :; do sleep 0.1; done", 1)
    await eventually(lambda: not processes_of(tmp_path))


@pytest.mark.parametrize("started", [True, False])
async def test_a_cancelled_command_leaves_nothing(
    kind: SandboxKind, workspace: Path, tmp_path: Path, *, started: bool
) -> None:
    task = asyncio.create_task(run(workspace, "setsid sleep 100 & echo > up; sleep 100"))
    await eventually((workspace / "up").exists if started else lambda: processes_of(tmp_path))
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    print(f"{kind}: cancelled in {(time.monotonic() - began) * 1000:.0f} ms")
    await eventually(lambda: not processes_of(tmp_path))


@pytest.mark.parametrize("sandbox", ["strict", "off"])
async def test_nothing_outlives_the_program(
    kind: SandboxKind, workspace: Path, tmp_path: Path, sandbox: str
) -> None:
    if kind != "bwrap" or (sandbox == "off" and sys.platform != "linux"):
        return
    program = (
        "import asyncio, sys; from pathlib import Path\n"
        "from agent_tui.tools.base import ToolContext\n"
        "from agent_tui.tools.confinement import Confinement\n"
        "from agent_tui.tools.run_command import RunCommand, RunCommandArguments\n"
        "command = RunCommandArguments(command='setsid sleep 100 & echo > up; sleep 100')\n"
        "context = ToolContext(Path(sys.argv[1]), confinement=Confinement(sys.argv[2]))\n"
        "asyncio.run(RunCommand().run(command, context))\n"
    )
    running = await asyncio.create_subprocess_exec(PYTHON, "-c", program, str(workspace), sandbox)
    await eventually((workspace / "up").exists)
    running.kill()
    await running.wait()
    await eventually(lambda: not processes_of(tmp_path))


@pytest.mark.slow
async def test_no_command_in_the_background_outlives_a_killed_program(
    kind: SandboxKind, workspace: Path, tmp_path: Path
) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path\n"
        "from agent_tui.tools.base import ToolContext\n"
        "from agent_tui.tools.confinement import Confinement\n"
        "from agent_tui.tools.run_command import RunCommand, RunCommandArguments\n"
        "from agent_tui.tools.running_commands import RunningCommands\n"
        "async def main():\n"
        "    text = 'setsid sleep 100 & trap \"\" TERM; echo > up; sleep 100; sleep 100'\n"
        "    command = RunCommandArguments(command=text, background=True)\n"
        "    context = ToolContext(Path(sys.argv[1]), confinement=Confinement('strict'),\n"
        "        commands=RunningCommands())\n"
        "    await RunCommand().run(command, context)\n"
        "    await asyncio.sleep(100)\n"
        "asyncio.run(main())\n"
    )
    running = await asyncio.create_subprocess_exec(PYTHON, "-c", program, str(workspace))
    await eventually((workspace / "up").exists)
    assert processes_of(tmp_path)
    running.kill()
    await running.wait()
    await eventually(lambda: not processes_of(tmp_path))
    print(f"{kind}: no process is left")


async def test_the_network_is_there_only_where_the_settings_say(
    kind: SandboxKind, workspace: Path
) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        connect = f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null"
        assert await run(workspace, connect) == "[exit code 0]"
        if best_sandbox(network=False) == kind == "bwrap":
            assert await run(workspace, connect, network=False) == "[exit code 1]"


def test_the_status_says_which_sandbox_there_is(kind: SandboxKind) -> None:
    wanted = {"bwrap": "sandbox on", "landlock": "Landlock, .git writable"}[kind]
    assert describe_sandbox(Settings()) == wanted


@pytest.mark.parametrize("background", [False, True])
async def test_nobody_is_asked_about_a_command_that_has_no_sandbox_to_run_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, background: bool
) -> None:
    monkeypatch.setattr(sandbox, "best_sandbox", lambda **_: "none")
    heard: list[WireEvent] = []
    commands = RunningCommands()
    context = ToolContext(tmp_path, confinement=Confinement("strict"), commands=commands)
    arguments = json.dumps({"command": "touch it", "background": background})
    call = ToolCall("c1", "run_command", arguments)
    toolset = Toolset(lambda: [RunCommand()], context)
    for approvals in (Approvals(heard.append), Approvals(heard.append, yolo=True)):
        outcome = await asyncio.wait_for(toolset.carry_out(call, approvals), PATIENCE_SECONDS)
        assert outcome.result.output.startswith("Commands run only in a sandbox")
    assert not heard
    assert not commands.running
    assert not commands.take_ended()
    assert not (tmp_path / "it").exists()


def test_without_any_sandbox_the_status_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "best_sandbox", lambda **_: "none")
    assert describe_sandbox(Settings()) == "no sandbox"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "exit_code"),
    [
        ("signal.pause()", -signal.SIGKILL),
        ("os.close(0); signal.pause()", -signal.SIGKILL),
        ("os.write(0, b'[0, false]'); signal.pause()", -signal.SIGKILL),
        ("os.read(0, 1); os.write(0, b'nonsense')", 0),
        ("os.read(0, 1); os.write(0, b'[null]')", 0),
    ],
    ids=["silent", "hung up", "stays", "nonsense", "incomplete"],
)
async def test_a_sandbox_that_never_tells_how_it_ended_is_ended(
    tmp_path: Path, deed: str, exit_code: int
) -> None:
    code = (
        "import os, signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(os.getpid(), flush=True)\n"
        f"{deed}"
    )
    output = BoundedOutput(1_000)
    stop = Event()
    work = asyncio.to_thread(
        run_child,
        [PYTHON, "-c", code],
        folder=tmp_path,
        sink=output,
        stop=stop,
        timeout_seconds=600,
        supervised=True,
    )
    running = asyncio.create_task(work)
    await eventually(lambda: output.text().strip())
    process = int(output.text())
    os.kill(process, 0)
    stop.set()
    ended = await asyncio.wait_for(running, PATIENCE_SECONDS)
    assert (ended.ending, ended.exit_code) == ("stopped", exit_code)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
