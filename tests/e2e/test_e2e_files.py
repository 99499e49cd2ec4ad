"""An agent breaks three files, a person edits one of them meanwhile; one click, then undo."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.stage import Stage, quit_by_command, say
from tests.providers.sse_server import Answer, SseServer, call_chunk, finish_chunk, stream

pytestmark = pytest.mark.timeout(600)

CODE = "".join(f"line {number}\n" for number in range(12))


@pytest.fixture
def server() -> Iterator[SseServer]:
    with SseServer() as server:
        yield server


def call(name: str, call_id: str, **arguments: str) -> Answer:
    chunk = call_chunk(0, call_id=call_id, name=name, arguments=json.dumps(arguments))
    return stream(chunk, finish_chunk("tool_calls"))


def test_one_click_takes_the_agents_part_back_and_undo_brings_it_again(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server)
    work = stage.workspace
    for name in ("a.py", "b.py", "c.py"):
        (work / name).write_text(CODE)
    server.answers.append(
        call("edit_file", "one", path="a.py", old_text="line 2\n", new_text="broken by edit\n")
    )
    server.answers.append(
        call("run_command", "two", command="sed -i s/line.4/shell/ b.py; rm c.py; echo x > new.py")
    )
    with stage.open("--yolo") as terminal:
        terminal.wait_for("Ask anything")
        say(terminal, "break three files")
        terminal.wait_for(lambda text: "in 3 files" in text and "● ready" in text)
        broken = (work / "a.py").read_text()
        assert "broken by edit" in broken
        (work / "a.py").write_text(broken.replace("line 9\n", "written by me\n"))

        say(terminal, "/revert 0")
        terminal.wait_for("Changed by the agent")
        shown = terminal.wait_for("broken by edit")
        assert "[x] a.py" in shown
        assert "[x] new.py" in shown
        assert "[ ] a.py" in shown  # what the person wrote is offered, not ticked
        terminal.click_on("Files only")
        terminal.click_on("Revert 4 files")
        terminal.wait_for("4 files reverted")
        assert (work / "a.py").read_text() == CODE.replace("line 9\n", "written by me\n")
        assert (work / "b.py").read_text() == (work / "c.py").read_text() == CODE
        assert not (work / "new.py").exists()

        say(terminal, "/undo")
        terminal.wait_for("Undid the revert of files")
        assert (work / "a.py").read_text() == broken.replace("line 9\n", "written by me\n")
        assert "shell" in (work / "b.py").read_text()
        assert not (work / "c.py").exists()
        assert (work / "new.py").read_text() == "x\n"
        quit_by_command(terminal)
    causes = [capture["cause"] for capture in stage.disk.captures()]
    assert causes == ["outside", "tool_call", "tool_call", "human", "revert", "undo"]


def test_the_changes_view_takes_one_file_of_a_tool_call_back(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server)
    for name in ("a.py", "b.py"):
        (stage.workspace / name).write_text(CODE)
    server.answers.append(call("run_command", "one", command="sed -i s/line.4/shell/ *.py"))
    with stage.open("--yolo") as terminal:
        terminal.wait_for("Ask anything")
        say(terminal, "break two files")
        terminal.wait_for(lambda text: "in 2 files" in text and "● ready" in text)
        say(terminal, "/changes")
        terminal.wait_for("agent: run_command")
        terminal.press("down", "enter")
        terminal.wait_for("+ shell")
        terminal.press("u")
        terminal.wait_for("Revert 1 file")
        terminal.press("y")
        terminal.wait_for("after turn 1  revert: run_command, turn 1 · step 1")
        terminal.press("escape")
        assert (stage.workspace / "a.py").read_text() == CODE
        assert "shell" in (stage.workspace / "b.py").read_text()
        quit_by_command(terminal)
