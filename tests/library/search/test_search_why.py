"""Which session wrote this: the call, the prompt behind it, and whether it was still known."""

from __future__ import annotations

import json
import os
from itertools import permutations
from pathlib import Path

import pytest

from agent_tui.core.errors import UsageError
from tests.library.search.conftest import Library, assistant, call, user

PATCH = "*** Begin Patch\n*** Update File: src/tide.py\n+    return round(height, 1)\n*** End Patch"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    lines = ["import math", "", "def show(height):", "    return round(height, 1)"]
    (tmp_path / "src" / "tide.py").write_text("\n".join(lines))
    return tmp_path


def test_a_line_leads_to_its_call_and_prompt(library: Library, work: Path) -> None:
    edit = call("edit_file", path="src/tide.py", old="x", new="    return round(height, 1)")
    other = call("write_file", path="src/other.py", content="    return round(height, 1)")
    library.log("one", [user("Round to a tenth"), assistant("", edit), assistant("", other)])
    library.index.update()
    (found,) = library.index.why("src/tide.py:4", work)
    assert (found.session_id, found.tools, found.prompt, found.in_context) == (
        "one",
        ("edit_file",),
        "Round to a tenth",
        True,
    )


def test_what_an_agent_notes_on_a_prompt_is_not_taken_for_it(library: Library, work: Path) -> None:
    edit = call("edit_file", path="src/tide.py", old="x", new="    return round(height, 1)")
    noted = {"slug": "humble-wolf", "permissionMode": "ask", "promptId": "p1", **user("Round it")}
    library.log("one", [noted, assistant("", edit)])
    library.index.update()
    (found,) = library.index.why("src/tide.py:4", work)
    assert found.prompt == "Round it"


@pytest.mark.parametrize(("is_error", "sessions"), [(True, []), (False, ["one"])])
def test_a_call_that_was_rejected_or_failed_wrote_nothing(
    library: Library, work: Path, is_error: bool, sessions: list[str]
) -> None:
    edit = call("edit_file", path="src/tide.py", old="x", new="    return round(height, 1)")
    asked = {"role": "_approval", "tool_call_id": edit["id"], "decision": "reject"}
    answer = {"role": "tool", "tool_call_id": edit["id"], "content": "Done", "is_error": is_error}
    library.log("one", [user("Round to a tenth"), assistant("", edit), asked, answer])
    library.index.update()
    assert [found.session_id for found in library.index.why("src/tide.py:4", work)] == sessions


@pytest.mark.parametrize("failed", ["c1", "c2"])
def test_of_several_results_in_one_line_only_the_one_that_failed_wrote_nothing(
    library: Library, work: Path, failed: str
) -> None:
    given = {"file_path": "src/tide.py", "new_string": "    return round(height, 1)"}
    calls = [
        {"type": "tool_use", "id": "c1", "name": "Edit", "input": given},
        {"type": "tool_use", "id": "c2", "name": "Bash", "input": {"command": "ls"}},
    ]
    results = [
        {"type": "tool_result", "tool_use_id": call, "content": "-", "is_error": call == failed}
        for call in ("c1", "c2")
    ]
    content = [user("Round it"), *({"role": "assistant", "content": [call]} for call in calls)]
    library.log("one", [*content, {"role": "user", "content": results}])
    library.index.update()
    found = [found.session_id for found in library.index.why("src/tide.py:4", work)]
    assert found == ([] if failed == "c1" else ["one"])


def test_a_patch_says_which_files_it_writes(library: Library, work: Path) -> None:
    library.log("one", [user("Patch it"), assistant("", call("apply_patch", input=PATCH))])
    library.index.update()
    (found,) = library.index.why("src/tide.py:4", work)
    assert found.prompt == "Patch it"


def test_a_compaction_in_between_means_that_the_reason_was_gone(
    library: Library, work: Path
) -> None:
    edit = call("edit_file", path="src/tide.py", old="x", new="    return round(height, 1)")
    lines = [user("Round it"), {"role": "_compaction", "archive": 1}, assistant("", edit)]
    library.log("one", lines)
    library.index.update()
    (found,) = library.index.why("src/tide.py", work)
    assert (found.prompt, found.in_context) == ("Round it", False)


def test_a_file_of_the_same_name_elsewhere_is_another_file(library: Library, work: Path) -> None:
    edit = call("edit_file", path="/somewhere/else/tide.py", old="x", new="y")
    library.log("one", [user("Edit"), assistant("", edit)])
    library.index.update()
    assert library.index.why("src/tide.py", work) == []


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("src/none.py:1", "There is no file"),
        ("src/tide.py:9", "has 4 lines"),
        ("src/tide.py:2", "is blank"),
    ],
)
def test_a_line_that_is_not_there_is_told(
    library: Library, work: Path, target: str, told: str
) -> None:
    library.index.update()
    with pytest.raises(UsageError, match=told):
        library.index.why(target, work)


@pytest.mark.parametrize("named_by", ["session_id", "imported_from"])
def test_a_copy_of_a_session_is_no_second_author(
    library: Library, work: Path, named_by: str
) -> None:
    edit = call("edit_file", path="src/tide.py", old="x", new="    return round(height, 1)")
    talk = [user("Round to a tenth"), assistant("", edit)]
    original = library.log("one", talk)
    told = {"session_id": "elsewhere", "path": str(original)}
    parent = "one" if named_by == "session_id" else told
    more = call("write_file", path="src/tide.py", content="    return round(height, 1)")
    more["id"] = "its-own"
    own = [user("Again"), assistant("", more, at="2026-11-02T10:00:00Z")]
    copy = library.log("two", [*talk, *own])
    first, rest = copy.read_text().split("\n", 1)
    header = json.dumps({**json.loads(first), "parent": {named_by: parent}})
    copy.write_text(f"{header}\n{rest}")
    library.index.update()
    found = library.index.why("src/tide.py:4", work)
    assert [(each.session_id, each.prompt, each.copied_to) for each in found] == [
        ("two", "Again", ()),
        ("one", "Round to a tenth", ("two",)),
    ]


def test_a_copy_whose_original_is_gone_is_named(library: Library, work: Path) -> None:
    edit = call("edit_file", path="src/tide.py", old="x", new="    return round(height, 1)")
    copy = library.log("two", [user("Round to a tenth"), assistant("", edit)])
    first, rest = copy.read_text().split("\n", 1)
    header = json.dumps({**json.loads(first), "parent": {"session_id": "one"}})
    copy.write_text(f"{header}\n{rest}")
    library.index.update()
    assert [each.session_id for each in library.index.why("src/tide.py", work)] == ["two"]


@pytest.mark.parametrize("limit", [1, 20])
def test_a_file_copied_by_claude_code_is_no_second_author(
    library: Library, work: Path, limit: int
) -> None:
    folder = library.home / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    given = {"file_path": "src/tide.py", "new_string": "x"}
    block = {"type": "tool_use", "id": "t1", "name": "Edit", "input": given}
    about = {"timestamp": "2026-11-01T10:00:00Z", "cwd": "/w"}
    prompt = {"role": "user", "content": "Round it"}
    answer = {"role": "assistant", "content": [block]}
    for name in ("S", "T"):
        lines = [
            {"type": "user", "uuid": "u1", "sessionId": name, "message": prompt, **about},
            {"type": "assistant", "uuid": "u2", "sessionId": name, "message": answer, **about},
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        library.index.update()
    (found,) = library.index.why("src/tide.py", work, limit)
    assert (found.session_id, found.copied_to) == ("S", ("T",))


CLAUDE_TALK = (
    {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Round it"}},
    {
        "type": "assistant",
        "uuid": "u2",
        "message": {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "t1",
                    "name": "Edit",
                    "input": {"file_path": "src/tide.py", "new_string": "x"},
                }
            ],
        },
    },
)


def codex_log(folder: Path, name: str, day: int, parent: str, *more: tuple[str, object]) -> None:
    """A log of Codex that begins with an edit, under times of its own."""
    patch = {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c1", "input": PATCH}
    asked = {"type": "message", "role": "user", "content": [{"text": "Round it"}]}
    head = {"id": name, "cwd": "/w", "forked_from_id": parent or None}
    told: list[tuple[str, object]] = [("session_meta", head), ("response_item", asked)]
    told += [("response_item", patch), *more]
    lines = [
        {"timestamp": f"2026-11-{day:02}T10:00:0{second}Z", "type": kind, "payload": payload}
        for second, (kind, payload) in enumerate(told)
    ]
    path = folder / f"rollout-2026-11-{day:02}T10-00-00-{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_a_fork_of_codex_is_no_second_author(
    library: Library, work: Path, order: tuple[int, int]
) -> None:
    folder = library.home / ".codex" / "sessions"
    folder.mkdir(parents=True)
    first, second = (f"019e0000-0000-7000-8000-00000000000{number}" for number in (1, 2))
    own = {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": PATCH}
    for number in order:
        if number == 1:
            codex_log(folder, first, 1, "")
        else:
            codex_log(folder, second, 2, first, ("response_item", own))
        library.index.update()
    found = library.index.why("src/tide.py", work)
    assert [(each.session_id, each.copied_to) for each in found] == [
        (second, ()),
        (first, (second,)),
    ]


def claude_copy(library: Library, name: str, own: int, age: int, told: str = "") -> None:
    """A file that begins with the talk and goes on with a prompt of its own at minute ``own``."""
    folder = library.home / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    at = {"timestamp": "2026-11-01T10:00:00Z", "cwd": f"/{name}"}
    lines = [{"sessionId": name, **at, **line} for line in CLAUDE_TALK]
    for line in lines if told == "session" else ():
        line["sessionId"] = "S"
    for line in lines if told == "forked" else ():
        line["forkedFrom"] = {"sessionId": "S", "messageUuid": line["uuid"]}
        line["uuid"] = f"{name}-{line['uuid']}"
    if own:
        said = {"role": "user", "content": f"And more of {own}"}
        at = {"timestamp": f"2026-11-01T10:{own:02}:00Z", "cwd": f"/{name}"}
        lines.append(
            {"type": "user", "uuid": f"own{own}", "sessionId": name, "message": said, **at}
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.utime(path, (age, age))


@pytest.mark.parametrize("names", list(permutations(("R", "S", "T"))))
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("says_origin", ["nothing", "session", "forked"])
def test_which_copy_is_the_original_is_told_by_what_they_say(
    library: Library, work: Path, names: tuple[str, ...], at_once: bool, says_origin: str
) -> None:
    for age, name in enumerate(names, 1_000):
        if name == "S":  # where nothing tells, the original is the one that did not go on
            claude_copy(library, "S", 0 if says_origin == "nothing" else 50, age)
        else:
            claude_copy(library, name, 20 if name == "R" else 30, age, says_origin)
        if not at_once:
            library.index.update()
    library.index.update()
    (found,) = library.index.why("src/tide.py", work)
    assert (found.session_id, found.copied_to) == ("S", ("R", "T"))
    prompts = {each.name: each.prompts for each in library.index.statistics("project")}
    assert prompts == {"/S": 1 if says_origin == "nothing" else 2, "/R": 1, "/T": 1}
    assert library.index.check().differences == ()
