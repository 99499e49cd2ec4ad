"""Changes of files that other agents' logs tell of: whose they are, what is known, what is not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.headless.command_line import CommandLine
from tests.importers.foreign_files import called as call
from tests.importers.foreign_files import (
    claude_answer,
    claude_line,
    claude_user,
    codex_item,
    codex_said,
    codex_session,
    gemini_message,
    gemini_session,
    returned,
)
from tests.importers.session_files import write_lines

HUNK = {"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 2, "lines": ["-a", "+b", "+c"]}


@pytest.fixture
def claude(tmp_path: Path) -> str:
    """Five calls in /w: one with a diff, three without, and one that failed."""
    edit = {"file_path": "/w/a.py", "old_string": "a", "new_string": "b\nc"}
    edits = [{"old_string": "x", "new_string": "y"}, {"old_string": "z\n", "new_string": ""}]
    failed = {**returned("t5"), "is_error": True}
    answered = {"filePath": "/w/a.py", "structuredPatch": [HUNK]}
    lines = [
        claude_user("u1", None, 1, "fix the bug"),
        claude_answer(
            "a1",
            "u1",
            2,
            "msg_1",
            call("t1", "Edit", **edit),
            call("t2", "MultiEdit", file_path="/elsewhere/b.py", edits=edits),
            call("t3", "Write", file_path="/w/.env", content="KEY=canary\n"),
            call("t4", "Bash", command="rm c.py", path="c.py"),
            call("t5", "Edit", **edit),
        ),
        claude_line(
            "user",
            "r1",
            "a1",
            3,
            message={"role": "user", "content": [returned("t1")]},
            toolUseResult=answered,
        ),
        claude_user("r2", "r1", 3, [returned("t2"), returned("t3"), returned("t4"), failed]),
    ]
    return str(write_lines(tmp_path / "S.jsonl", [{**line, "cwd": "/w"} for line in lines]))


def test_changes_of_another_agent_are_told_by_its_calls(run: CommandLine, claude: str) -> None:
    assert run("changes", claude).out.splitlines() == [
        "From the tool calls in the log; not compared with the disk.",
        "turn 1 · step 1 · agent: Edit",
        "  changed  a.py  +2 -1",
        "turn 1 · step 1 · agent: MultiEdit",
        "  changed  /elsewhere/b.py  +1 -2",
        "turn 1 · step 1 · agent: Write",
        "  changed  .env  local configuration: its content is not printed",
    ]
    groups = run("changes", claude, "--json").json
    assert [(group["call"], group["by_log"]) for group in groups] == [
        ("t1", True),
        ("t2", True),
        ("t3", True),
    ]
    assert groups[1]["files"][0]["told"] == "-x\n+y\n-z"
    assert "canary" not in run("changes", claude, "--json").out


def test_a_patch_of_what_is_told_can_be_applied(
    run: CommandLine, claude: str, tmp_path: Path
) -> None:
    """Lines whose place is not known stand in it as remarks."""
    told = run("changes", claude, "--patch").out
    assert "canary" not in told
    assert "#   -x\n#   +y\n" in told
    work = tmp_path / "w"
    work.mkdir()
    (work / "a.py").write_text("1\n2\na\n")
    subprocess.run(["git", "apply", "--unidiff-zero"], cwd=work, input=told, text=True, check=True)
    assert (work / "a.py").read_text() == "1\n2\nb\nc\n"


PATCH = """*** Begin Patch
*** Add File: new.py
+one
+two
*** Update File: old.py
@@ def f():
 kept
-left
+came
*** Delete File: gone.py
*** End Patch"""


@pytest.mark.parametrize(
    ("name", "given"),
    [("apply_patch", {"input": PATCH}), ("shell", {"command": ["apply_patch", PATCH]})],
)
def test_a_patch_in_a_call_tells_of_every_file(
    run: CommandLine, tmp_path: Path, name: str, given: dict[str, Any]
) -> None:
    lines = [
        *codex_session(),
        codex_said("user", 5, "now change them"),
        codex_item("function_call", 6, name=name, arguments=json.dumps(given), call_id="c2"),
        codex_item("function_call_output", 7, call_id="c2", output="Done"),
        codex_item("function_call", 8, name=name, arguments=json.dumps(given), call_id="c3"),
    ]
    path = write_lines(tmp_path / "rollout.jsonl", lines)
    (group,) = run("changes", str(path), "--json").json
    assert [(file["kind"], file["path"]) for file in group["files"]] == [
        ("created", "new.py"),
        ("changed", "old.py"),
        ("deleted", "gone.py"),
    ]
    assert group["files"][0]["diff"] == "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+one\n+two"
    assert group["files"][1]["told"] == "-left\n+came"


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("replace", {"file_path": "a", "old_string": "x", "new_string": "y"}, "-x\n+y"),
        ("edit", {"filePath": "a", "oldString": "x", "newString": "y"}, "-x\n+y"),
        ("edit", {"path": "a", "oldText": "x", "newText": "y"}, "-x\n+y"),
        ("StrReplaceFile", {"path": "a", "edit": {"old": "x", "new": "y"}}, "-x\n+y"),
        ("write_file", {"file_path": "a", "content": "x\ny\n"}, "+x\n+y"),
        (
            "search_replace",
            {"file_path": "a", "content": "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE"},
            "-x\n+y",
        ),
        ("read_file", {"file_path": "a", "content": "x"}, None),
        ("replace", {"file_path": 7, "old_string": [], "new_string": None}, None),
    ],
)
def test_the_tools_of_every_agent_are_understood(
    run: CommandLine, tmp_path: Path, name: str, given: dict[str, Any], told: str | None
) -> None:
    response = {"functionResponse": {"response": {"output": "ok"}}}
    made = {"id": "t9", "name": name, "args": given, "status": "success", "result": [response]}
    lines = [*gemini_session(), gemini_message("m4", "gemini", "", model="g", toolCalls=[made])]
    path = write_lines(tmp_path / "session-1.jsonl", lines)
    groups = run("changes", str(path), "--json").json
    assert [file["told"] for group in groups for file in group["files"]] == [told] * bool(told)


def test_a_checkpoint_that_is_not_there_is_told(run: CommandLine, claude: str) -> None:
    assert "no checkpoint 99" in run("changes", claude, "--since", "99").sentence.lower()


def test_calls_of_one_id_are_told_each(run: CommandLine, tmp_path: Path) -> None:
    """Some servers number the calls of each answer anew."""
    lines = [*codex_session()]
    for number in (1, 2):
        given = {"path": f"{number}.py", "old_string": "x", "new_string": "y"}
        lines += [
            codex_item(
                "function_call", 5, name="edit", arguments=json.dumps(given), call_id="call_0"
            ),
            codex_item("function_call_output", 6, call_id="call_0", output="Done"),
        ]
    path = write_lines(tmp_path / "rollout.jsonl", lines)
    groups = run("changes", str(path), "--json").json
    assert [group["files"][0]["path"] for group in groups] == ["1.py", "2.py"]
