"""What changed on disk, printed; and files that go back from the command line."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from agent_tui.workspace.origins import REPLACED
from agent_tui.workspace.trimming import shrink
from tests.headless.command_line import CommandLine
from tests.workspace.yard import git


@pytest.fixture
async def session_id(tmp_path: Path) -> str:
    from agent_tui.providers.demo.scenario import Reply
    from tests.agent.stage import Stage, call

    replies = (
        Reply(calls=(call("write_file", path="a.txt", content="agent\n"),)),
        Reply(calls=(call("run_command", command="echo x > b.txt"),)),
        Reply(text="done"),
    )
    async with Stage(tmp_path, *replies, yolo=True, capture=True) as stage:
        (stage.workspace / "a.txt").write_text("old\n")
        await stage.say("Go")
        return stage.session.session_id


def test_changes_are_told_by_who_made_them(run: CommandLine, session_id: str) -> None:
    told = run("changes", session_id).out.splitlines()
    assert told == [
        "turn 1 · step 1 · agent: write_file",
        "  changed  a.txt  +1 -1",
        "turn 1 · step 2 · agent: run_command echo x > b.txt",
        "  created  b.txt  +1 -0",
    ]
    assert "-old" in "\n".join(run("changes", session_id, "--patch").out.splitlines())
    groups = run("changes", session_id, "--json").json
    assert [group["cause"] for group in groups] == ["tool_call", "tool_call"]
    assert len(run("changes", session_id, "--since", "2", "--json").json) == 1


async def leave_out_some(folder: Path) -> str:
    """A session whose command makes a folder that git ignores; returns its id."""
    from agent_tui.providers.demo.scenario import Reply
    from tests.agent.stage import Stage, call

    making = call("run_command", command="mkdir build && echo x > build/x && echo b > b.txt")
    async with Stage(
        folder, Reply(calls=(making,)), Reply(text="done"), yolo=True, capture=True
    ) as stage:
        git(stage.workspace, "init", "-q")
        (stage.workspace / ".gitignore").write_text("build/\nlibrary/\n")
        (stage.workspace / "library").mkdir()
        (stage.workspace / "library" / "l.txt").write_text("l\n")
        await stage.say("Go")
        await stage.say("And again")
        return stage.session.session_id


def test_changes_name_what_was_left_out_once(tmp_path: Path, run: CommandLine) -> None:
    session_id = asyncio.run(leave_out_some(tmp_path))
    assert run("changes", session_id).out.splitlines() == [
        "turn 1",
        "  not captured: library  git ignores the folder",
        "turn 1 · step 1 · agent: run_command mkdir build && echo x > build/x && echo b > b.txt",
        "  not captured: build  git ignores the folder",
        "  created  b.txt  +1 -0",
    ]
    groups = run("changes", session_id, "--json").json
    left_out = [[left["path"] for left in group["left_out"]] for group in groups]
    assert left_out == [["library"], ["build"]]


async def change_a_binary_file(folder: Path, algorithm: str) -> str:
    """A session in a repository of an algorithm; returns its id."""
    from agent_tui.providers.demo.scenario import Reply
    from tests.agent.stage import Stage, call

    changing = call("run_command", command="printf 'a\\0new' > a.bin")
    async with Stage(
        folder, Reply(calls=(changing,)), Reply(text="done"), yolo=True, capture=True
    ) as stage:
        git(stage.workspace, "init", "-q", f"--object-format={algorithm}")
        (stage.workspace / "a.bin").write_bytes(b"a\0old")
        await stage.say("Go")
        return stage.session.session_id


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_git_applies_a_printed_patch_where_contents_are_no_text(
    tmp_path: Path, run: CommandLine, algorithm: str
) -> None:
    session_id = asyncio.run(change_a_binary_file(tmp_path, algorithm))
    changed = tmp_path / "work" / "a.bin"
    assert changed.read_bytes() == b"a\0new"
    (tmp_path / "printed.patch").write_text(run("changes", session_id, "--patch").out)
    changed.write_bytes(b"a\0old")
    git(changed.parent, "apply", str(tmp_path / "printed.patch"))
    assert changed.read_bytes() == b"a\0new"


async def replace_the_repository(folder: Path) -> str:
    """A session in whose folder a person makes another repository; returns its id."""
    from agent_tui.providers.demo.scenario import Reply
    from tests.agent.stage import Stage, call

    replies = (
        Reply(calls=(call("run_command", command="echo first > b.txt"),)),  # after a capture
        Reply(text="done"),
        Reply(calls=(call("run_command", command="echo agent > a.txt"),)),
        Reply(text="done"),
    )
    async with Stage(folder, *replies, yolo=True, capture=True) as stage:
        git(stage.workspace, "init", "-q")
        (stage.workspace / "a.txt").write_text("old\n")
        git(stage.workspace, "add", "-A")
        git(stage.workspace, "commit", "-qm", "one")
        await stage.say("Hello")
        shutil.rmtree(stage.workspace / ".git")
        git(stage.workspace, "init", "-q")
        await stage.say("Go")
        return stage.session.session_id


def test_a_repository_that_was_replaced_is_told_in_words(tmp_path: Path, run: CommandLine) -> None:
    session_id = asyncio.run(replace_the_repository(tmp_path))
    told = run("revert", session_id, "0", "--files", "--dry-run").out.splitlines()
    assert f"  not captured: some of this folder  {REPLACED}" in told
    assert any("a.txt" in line for line in run("changes", session_id).out.splitlines())


def test_files_go_back_alone_or_with_the_conversation(
    run: CommandLine, session_id: str, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    told = run("revert", session_id, "0", "--both", "--dry-run").out.splitlines()
    assert told[0].startswith("Conversation: ")
    assert told[1:] == ["  would revert a.txt  +1 -1", "  would delete b.txt"]
    assert (work / "a.txt").read_text() == "agent\n"
    assert run("revert", session_id, "0", "--files").out.splitlines()[0] == "2 files reverted."
    assert (work / "a.txt").read_text() == "old\n"
    assert not (work / "b.txt").exists()
    assert "after turn 1 · revert: turn 1" in run("changes", session_id).out.splitlines()
    assert run("checkpoints", session_id, "--json").json
    told = run("revert", session_id, "0", "--both", "--dry-run").out.splitlines()
    assert told[1] == "Files: nothing would change."
    told = run("revert", session_id, "0", "--both").out.splitlines()
    assert told[0].endswith(" removed and no files reverted. The previous log is archive 1.")
    assert run("checkpoints", session_id, "--json").json == []


def test_a_revert_of_both_says_in_one_sentence_what_it_did(
    run: CommandLine, session_id: str
) -> None:
    told = run("revert", session_id, "0", "--both").out
    assert re.fullmatch(
        r"Reverted to checkpoint 0: \d+ messages removed and 2 files reverted\. "
        r"The previous log is archive 1\.\n",
        told,
    ), told


def test_only_one_of_the_choices_is_taken(run: CommandLine, session_id: str) -> None:
    assert "Choose one of" in run("revert", session_id, "0", "--files", "--both").sentence


def test_earlier_versions_that_had_to_go_are_told(run: CommandLine, session_id: str) -> None:
    """Wherever a person meets them: the changes, a revert, and the doctor."""
    folders = [str(each) for each in run.home.glob("projects/*/workspace")]
    assert shrink(folders, 0, "") == [session_id]
    sentence = "3 earlier versions of files were removed on "
    assert run("changes", session_id).out.startswith(sentence)
    told = run("revert", session_id, "0", "--files", "--dry-run").out
    assert sentence in told
    assert "not captured: a.txt  its content is no longer in the store" in told
    found = {row["name"]: row["detail"] for row in run("doctor", "--json").json}
    assert "; 1 old session lost some of them" in found["file versions"]
