"""Commands that try to get out: of the workspace, of their process group, of their limits."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_tui.agent.approval import Approvals
from agent_tui.agent.toolset import Toolset
from agent_tui.core.errors import ToolError
from agent_tui.core.messages import ToolCall
from agent_tui.tools import sandbox
from agent_tui.tools.base import ToolContext
from agent_tui.tools.catalogue import builtin_tools
from agent_tui.tools.confinement import Confinement
from agent_tui.tools.sandbox import best_sandbox, confine

PYTHON = sys.executable


def run(workspace: Path, command: str, limits: Confinement) -> str:
    """What the model is told of a command."""
    toolset = Toolset(builtin_tools, ToolContext(workspace, confinement=limits))
    call = ToolCall("c", "run_command", json.dumps({"command": command, "timeout_seconds": 20}))
    work = toolset.carry_out(call, Approvals(lambda _: None, yolo=True))
    return asyncio.run(work).result.output


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that is neither the workspace nor temporary."""
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)  # HOME is set to a folder of the tests
    if not os.access(home, os.W_OK) or home.is_relative_to("/tmp"):
        pytest.skip("there is no home folder outside of the temporary folders to attack")
    folder = home / f".agent-tui-attack-{os.getpid()}"
    folder.mkdir()
    (folder / "kept").write_text("kept")
    yield folder
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


@pytest.mark.skipif(best_sandbox() == "none", reason="this system has no sandbox")
def test_a_command_in_a_sandbox_writes_nothing_outside(tmp_path: Path, outside: Path) -> None:
    attempts = [
        f"echo x > {outside}/new",
        f"echo x > {outside}/kept",
        f"rm {outside}/kept",
        f"mv {outside}/kept {outside}/moved",
        f"mkdir {outside}/folder",
        f"ln -s /etc {outside}/link",
        f"ln {outside}/kept {outside}/hard",
        f": > {outside}/kept",
        f"truncate -s 0 {outside}/kept",
        f"{PYTHON} -c \"open('{outside}/new', 'w')\"",
        f"setsid sh -c 'echo x > {outside}/new'",
        f"cp /etc/hostname {outside}/new",
        f"ln -s {outside} link; echo x > link/new",
    ]
    limits = Confinement("auto")
    for attempt in attempts:
        run(tmp_path, attempt, limits)
        assert [path.name for path in outside.iterdir()] == ["kept"], attempt
        assert (outside / "kept").read_text() == "kept", attempt
    inside = (
        "mkdir -p a/b && echo x > a/b/c && mv a/b/c d && cat d && rm -r a && echo y > /dev/null"
    )
    assert run(tmp_path, inside, limits).startswith("x\n[exit code 0")
    print(f"sandbox {best_sandbox()}: {len(attempts)} ways out, 0 got out")


def test_a_process_that_leaves_its_group_is_ended_and_told(tmp_path: Path) -> None:
    if not Path("/proc/self/environ").exists():
        return
    command = "setsid sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1 & sleep 0.5"
    output = run(tmp_path, command, Confinement())
    assert "left in the background were ended" in output
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists() or "Z" in state_of(pid):
            break
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists() or "Z" in state_of(pid)


def test_a_process_without_environment_or_group_is_ended_without_a_sandbox(
    tmp_path: Path,
) -> None:
    if not Path("/proc/self/stat").exists():
        return
    daemon = "env -i /usr/bin/setsid -f /bin/sh -c 'echo $$ > pid; exec sleep 300'"
    output = run(tmp_path, f"{daemon} >/dev/null 2>&1; sleep 0.5", Confinement("off"))
    assert "left in the background were ended" in output
    assert has_ended(tmp_path / "pid")


def test_a_command_that_kills_what_watches_it_leaves_nothing_that_bears_its_mark(
    tmp_path: Path,
) -> None:
    if not Path("/proc/self/stat").exists():
        return
    stray = "setsid -f sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1"
    run(tmp_path, f"{stray}; sleep 0.5; kill -9 $PPID; sleep 2", Confinement("off"))
    assert has_ended(tmp_path / "pid")


def has_ended(file: Path) -> bool:
    """Whether the process that a file names is gone, or soon is."""
    pid = int(file.read_text())
    for _ in range(100):
        if state_of(pid) in "ZX":
            return True
        time.sleep(0.02)
    return False


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_memory_is_limited_where_the_settings_say_so(tmp_path: Path) -> None:
    command = f"{PYTHON} -c 'x = bytearray(800_000_000); print(\"got it\")'"
    assert "got it" in run(tmp_path, command, Confinement())
    assert "got it" not in run(tmp_path, command, Confinement(memory_bytes=400_000_000))


MANY = "for n in 1 2 3 4 5 6 7 8; do sleep 0.2 & done; wait; echo all of them"
BECOME_NOBODY = """
import os, sys
os.setgroups([])
os.setgid(61_234)
os.setuid(61_234)
os.execv("/bin/sh", ["sh", "-c", sys.argv[1]])
"""


def test_processes_are_limited_where_the_settings_say_so(tmp_path: Path) -> None:
    """Linux exempts root; what root starts is limited as soon as it is somebody else."""
    command = MANY
    if os.geteuid() == 0:
        command = shlex.join([PYTHON, "-c", BECOME_NOBODY, MANY])
        tmp_path.chmod(0o777)
    assert "all of them" in run(tmp_path, command, Confinement())
    refused = run(tmp_path, command, Confinement(processes=4))
    assert "all of them" not in refused
    assert "fork" in refused.lower(), refused
    most = confine(["true"], Confinement("auto", processes=4), tmp_path).command
    assert any('"processes": 4' in word for word in most)


def test_strict_refuses_where_there_is_no_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "best_sandbox", lambda **_: "none")
    with pytest.raises(ToolError, match="only in a sandbox"):
        confine(["true"], Confinement("strict"), tmp_path)
    assert confine(["true"], Confinement("auto"), tmp_path).command[-1].endswith("true")


def test_the_sandbox_costs_little(tmp_path: Path) -> None:
    def fastest(confinement: Confinement) -> float:
        seconds = []
        for _ in range(3):
            start = time.monotonic()
            run(tmp_path, "true", confinement)
            seconds.append(time.monotonic() - start)
        return min(seconds)

    plain, confined = fastest(Confinement()), fastest(Confinement("auto"))
    print(f"a command: {plain * 1000:.0f} ms, confined {confined * 1000:.0f} ms")
    assert confined < plain + 0.5
