from __future__ import annotations

from pathlib import Path

from agent_tui.context.compaction.file_analysis import (
    MAX_LINES,
    FileMention,
    rank_files,
    read_excerpts,
)
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Message, UserMessage


def call(tool: str, path: str) -> AssistantMessage:
    return AssistantMessage("", (ToolCall("c", tool, f'{{"path": "{path}"}}'),))


def names(messages: list[Message]) -> list[str]:
    return [file.path for file in rank_files(messages)]


def mention(path: str) -> FileMention:
    return FileMention(path, changed=False, mentions=1, last=0)


def test_changed_files_come_first_then_mentions_then_the_most_recent() -> None:
    messages: list[Message] = [
        UserMessage("look at old.py, often.py and often.py again"),
        call("read_file", "often.py"),
        call("edit_file", "changed.py"),
        UserMessage("and new.py"),
    ]
    assert names(messages) == ["changed.py", "often.py", "new.py", "old.py"]


def test_paths_are_found_in_prose_and_versions_and_numbers_are_not() -> None:
    text = "In `src/a_b/c.py` (v1.2.3, e.g. 3.14) see ./x.json, ~/notes.md and https://h.org/y.js."
    assert set(names([UserMessage(text)])) == {"src/a_b/c.py", "./x.json", "~/notes.md"}


def test_at_most_five_files_of_a_thousand_lines_are_read(tmp_path: Path) -> None:
    for n in range(7):
        (tmp_path / f"f{n}.py").write_text("line\n" * 1_500)
    found = read_excerpts([mention(f"f{n}.py") for n in range(7)], tmp_path)
    assert [file.path for file in found] == [f"f{n}.py" for n in range(5)]
    assert all(file.lines == MAX_LINES and file.cut for file in found)


def test_nothing_outside_the_workspace_is_read(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (workspace / "link.txt").symlink_to(tmp_path / "secret.txt")
    (workspace / "folder").symlink_to(tmp_path)
    (workspace / "fine.txt").write_text("fine")
    asked = ["link.txt", "folder/secret.txt", "../secret.txt", str(tmp_path / "secret.txt")]
    found = read_excerpts([mention(path) for path in [*asked, "gone.txt", "fine.txt"]], workspace)
    assert [(file.path, file.text) for file in found] == [("fine.txt", "fine")]


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("before")
    read_excerpts([mention("a.txt")], tmp_path)
    (tmp_path / "a.txt").write_text("after it")
    assert read_excerpts([mention("a.txt")], tmp_path)[0].text == "after it"
