"""The real program in a real terminal, first prompt to last key; the log is read after each act."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.stage import Disk, pause_guard, say
from tests.terminal import Terminal, environment

pytestmark = pytest.mark.timeout(600)


def first_checkpoint(disk: Disk, turn: int) -> int:
    """The checkpoint before the prompt of a turn."""
    found = [r for r in disk.records() if r["role"] == "_checkpoint" and r.get("turn") == turn]
    return int(found[0]["id"])


def has_every_result(records: list[dict[str, Any]]) -> bool:
    calls = sorted(call["id"] for record in records for call in record.get("tool_calls", ()))
    results = sorted(record["tool_call_id"] for record in records if record["role"] == "tool")
    return bool(calls) and calls == results


@pytest.mark.every_python
def test_chat_approve_revert_compact_undo_restore_and_quit(tmp_path: Path) -> None:
    home = tmp_path / "home"
    disk = Disk(home / "demo")
    with Terminal(["--demo"], env=environment(home), cwd=tmp_path) as terminal:
        terminal.wait_for("Ask anything")
        terminal.wait_for("Fix the bug")

        # Chat, and approve what the agent wants to do.
        say(terminal, "Fix the bug")
        terminal.wait_for("Allow once")
        assert not [r for r in disk.records() if r.get("display")], "it ran before it was allowed"
        pause_guard(terminal)
        terminal.press("1")
        terminal.wait_for("Run this command?")
        assert [r["display"]["type"] for r in disk.records() if r.get("display")] == ["diff"]
        pause_guard(terminal)
        terminal.press("1")
        terminal.wait_for(lambda text: "● ready" in text and "All tests pass" in text)
        assert [r["decision"] for r in disk.records() if r["role"] == "_approval"] == ["once"] * 2
        assert has_every_result(disk.records())

        # A second turn, then a click on its marker takes it back.
        say(terminal, "What have we done so far?")
        terminal.wait_for("so far?")
        terminal.wait_for("● ready")
        whole = disk.log.read_bytes()
        checkpoint = first_checkpoint(disk, turn=2)
        terminal.click_on(f"◇ {checkpoint} ")
        terminal.wait_for(f"checkpoint {checkpoint}")
        terminal.press("enter")
        terminal.wait_for(lambda _: disk.archives() == [1])
        assert disk.log.with_name("context.jsonl.1").read_bytes() == whole
        *kept, act = disk.log.read_bytes().splitlines(keepends=True)
        assert whole.startswith(b"".join(kept)), "what stays, stays byte for byte"
        assert json.loads(act)["role"] == "_revert"
        assert json.loads(act)["checkpoint"] == checkpoint
        terminal.wait_for("What have we done so far?")  # back in the prompt, for editing
        terminal.press("ctrl+u")

        # Compact by key, with a preview; nothing changes before it is applied.
        before = disk.log.read_bytes()
        terminal.press("f4")
        terminal.wait_for("Compaction preview")
        terminal.wait_for("% saved")
        assert disk.log.read_bytes() == before
        terminal.press("a")
        terminal.wait_for(lambda _: disk.archives() == [1, 2])
        assert disk.log.with_name("context.jsonl.2").read_bytes() == before
        assert disk.roles().count("_compaction") == 1
        compacted = disk.log.read_bytes()

        # Undo: the same records as before, and the compacted log is kept too.
        terminal.wait_for("● ready")
        say(terminal, "/undo")
        terminal.wait_for(lambda _: disk.archives() == [1, 2, 3])
        assert disk.log.read_bytes().startswith(before)
        assert disk.log.with_name("context.jsonl.3").read_bytes() == compacted

        # Restore the archive of the first revert from the list.
        terminal.wait_for("undone")
        terminal.press("f5")
        terminal.wait_for("3, newest first")
        terminal.press("end", "r")
        terminal.wait_for("Restore archive 1?")
        terminal.press("enter")
        terminal.wait_for(lambda _: disk.archives() == [1, 2, 3, 4])
        assert disk.log.read_bytes().startswith(whole)
        assert disk.records()[-1]["reason"] == "restore"

        terminal.wait_for("● ready")
        terminal.press("ctrl+c", "ctrl+c")
        assert terminal.wait_until_closed() == 0
        farewell = f"agent-tui --demo -r {disk.log.parent.name}"
        assert farewell.encode() in bytes(terminal.raw)
    assert disk.archives() == [1, 2, 3, 4]


def test_an_interrupted_turn_leaves_a_log_that_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    disk = Disk(home / "demo")
    with Terminal(["--demo"], env=environment(home), cwd=tmp_path) as terminal:
        terminal.wait_for("Fix the bug")
        say(terminal, "run `sleep 600`")
        terminal.wait_for("Run this command?")
        pause_guard(terminal)
        terminal.press("1")
        terminal.wait_for("running")
        terminal.press("escape")
        terminal.wait_for("● ready")
        assert has_every_result(disk.records())
        assert [r for r in disk.records() if r.get("interrupted")]
        say(terminal, "hello")
        terminal.wait_for("scripted stand-in")


@pytest.mark.parametrize(("columns", "rows"), [(40, 12), (60, 20)])
def test_a_small_terminal_is_usable(tmp_path: Path, columns: int, rows: int) -> None:
    home = tmp_path / "home"
    with Terminal(
        ["--demo"], env=environment(home), cwd=tmp_path, columns=columns, rows=rows
    ) as terminal:
        terminal.wait_for("Ask anything")
        terminal.wait_for("Fix the bug")
        say(terminal, "hello")
        terminal.wait_for("● ready")
        terminal.press("f1")
        terminal.wait_for("Esc")
        terminal.press("escape", "f2")
        terminal.wait_for("hello")
        terminal.press("escape")
        say(terminal, "/exit")
        assert terminal.wait_until_closed() == 0


def test_backspaces_and_letters_of_one_read_act_in_their_order(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Terminal(["--demo"], env=environment(home), cwd=tmp_path) as terminal:
        terminal.wait_for("Fix the bug")
        terminal.write("hello")
        terminal.wait_for("hello")
        terminal.write("\x7f\x7f\x7fwo")
        terminal.wait_for("hewo")
