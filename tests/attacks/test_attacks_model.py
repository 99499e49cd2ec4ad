"""A hostile model: nothing that it writes hides in an action, hangs the program or gets out."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from wcwidth import wcwidth

from agent_tui.agent.approval import Approvals
from agent_tui.agent.toolset import Toolset
from agent_tui.core.events import ApprovalRequest
from agent_tui.core.messages import CommandDisplay, ToolCall, ToolResult
from agent_tui.core.text import reveal
from agent_tui.tools.base import ToolContext
from agent_tui.tools.catalogue import builtin_tools
from agent_tui.tools.child import child_environment
from agent_tui.tools.glob import matches
from agent_tui.ui.screens.dialogs.approval import ApprovalScreen
from agent_tui.ui.widgets.panes.action_body import action_of
from agent_tui.ui.widgets.panes.action_fold import ActionFold, last_words
from tests.ui.stage import Stage

FILLERS = [
    *"\u00ad\u034f\u061c\u115f\u1160\u17b4\u180b\u180e\u200b\u200d\u200e\u200f\u2060\u2064\u2800",
    *"\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\U000e0001\U000e0041\U000e0100\U000e01ef\u00a0\u3000",
    *"\u2003\u202f\u205f\u1680\u1161\u11a8\ud7b0",
]
BLANKS = [" ", "\t", "\u00a0", "\u2800", "\u3000", "\u2003", "\n", " \n", "\t \t"]
TAIL = "; touch PWN"


def action(command: str) -> str:
    """The rows of a command as a person sees them at 80 columns."""
    fold = ActionFold(command, 76)
    fold.ensure(100_000)
    return "\n".join(row.text for row in fold.rows)


@pytest.mark.parametrize("filler", FILLERS, ids=lambda filler: f"U+{ord(filler):04X}")
async def test_no_filler_pushes_the_rest_of_a_command_out_of_sight(filler: str) -> None:
    command = "ls " + filler * 48 + TAIL
    request = ApprovalRequest("r", ToolCall("c", "run_command", "{}"), "t", CommandDisplay(command))
    screen = ApprovalScreen(request)
    async with (app := Stage(screen=screen)).run_test(size=(80, 24)) as pilot:
        while screen.guard.is_hidden:
            await pilot.pause(0.01)
        shown = app.text.replace("\n", "").replace(" ", "").replace("│", "").replace("┊", "")
        assert "touchPWN" in shown
        assert f"<U+{ord(filler):04X}>" in shown or "<49blanks>" in shown
        assert "Invisible characters" in app.text
    assert action_of(
        ApprovalRequest("r", request.call, "", CommandDisplay(reveal(command)))
    ).warning


def test_every_character_without_a_width_is_shown_or_combines() -> None:
    seen = 0
    for code in range(0x20, sys.maxunicode + 1):
        character = chr(code)
        if wcwidth(character) > 0 or unicodedata.category(character) in ("Mn", "Me", "Mc", "Cn"):
            continue
        seen += 1
        assert reveal(f"a{character}") != f"a{character}", f"U+{code:04X}"
    assert seen > 200
    print(f"characters without a width: {seen} revealed, 0 raw")


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
@pytest.mark.parametrize("count", [16, 200, 10_000])
def test_runs_of_blanks_are_named_and_the_end_is_shown(blank: str, count: int) -> None:
    command = f"ls{blank * count}{TAIL}"
    rows = action(command).split("\n")
    assert "touch PWN" in "".join(rows[:4]) or "touch PWN" in "".join(rows[-3:])
    assert len(rows) < 24
    assert last_words(command, 40).endswith("touch PWN")
    assert last_words(command + blank * 500, 40).endswith("touch PWN")


def test_stacked_marks_do_not_swallow_a_command() -> None:
    shown = action("ls " + "\u0301" * 5_000 + TAIL)
    assert "touch PWN" in shown
    assert shown.count("\u0301") < 10


@pytest.mark.parametrize(
    "pattern", ["*a*a*a*a*a*a*a*a*b", "**/a/**/a/**/a/**/b", "{a,b}*" * 6 + "c", "?*" * 100 + "b"]
)
def test_no_glob_takes_more_than_linear_time(pattern: str) -> None:
    names = ["a" * length for length in (40, 80, 160)] + ["a/" * 60 + "a"]
    start = time.process_time()
    for name in names * 20:
        assert not matches(name, pattern)
    assert time.process_time() - start < 5


async def test_looking_for_text_that_is_not_there_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_text("line of text\n" * 700_000)
    wanted = "line of text \n" * 200_000
    result = await call(tmp_path, "edit_file", path="big.txt", old_text=wanted, new_text="x")
    assert result.is_error
    assert "does not occur" in result.output
    assert "send a shorter old_text" in result.output  # nothing like it was looked for


async def call(workspace: Path, name: str, **arguments: object) -> ToolResult:
    approvals = Approvals(lambda _: None, yolo=True)
    tools = builtin_tools()
    toolset = Toolset(lambda: tools, ToolContext(workspace))
    outcome = await asyncio.wait_for(
        toolset.carry_out(ToolCall("c", name, json.dumps(arguments)), approvals), 20
    )
    return outcome.result


async def test_the_search_child_imports_nothing_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sitecustomize", "usercustomize", "re", "agent_tui"):
        (tmp_path / f"{name}.py").write_text("open('PWN', 'w')\n")
    (tmp_path / "a.txt").write_text("needle\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PATH", "/nonexistent")  # no ripgrep
    result = await call(tmp_path, "search_files", pattern="needle")
    assert result.output == "a.txt:1:needle"
    assert not (tmp_path / "PWN").exists()


async def test_a_command_cannot_read_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent_tui.providers.environment import take_variable

    monkeypatch.setenv("CANARY_KEY", "sk-canary-1")
    assert take_variable("CANARY_KEY") == "sk-canary-1"
    assert take_variable("CANARY_KEY") == "sk-canary-1", "it is known for the next connection"
    assert "CANARY_KEY" not in os.environ
    assert "CANARY_KEY" not in child_environment()
    result = await call(tmp_path, "run_command", command="env; cat /proc/$PPID/environ; true")
    assert "canary" not in result.output


def test_the_key_is_wiped_from_the_memory_that_proc_shows(tmp_path: Path) -> None:
    import subprocess

    code = (
        "from agent_tui.providers.environment import take_variable as t; t('CANARY_KEY');"
        "print(open('/proc/self/environ').read())"
    )
    if not Path("/proc/self/environ").exists():
        return
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"CANARY_KEY": "sk-canary-2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "CANARY_KEY=" in done.stdout
    assert "sk-canary-2" not in done.stdout
