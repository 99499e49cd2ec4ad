"""Skills and commands are found in the user's folder and a trusted project's, and filled in."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.agent.prompt_files import PromptFile, find_prompt_files


def skill(folder: Path, name: str, text: str) -> Path:
    path = folder / "skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def command(folder: Path, name: str, text: str) -> Path:
    path = folder / "commands" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_skills_and_commands_are_found_with_what_they_are_for(tmp_path: Path) -> None:
    skill(tmp_path, "review", "---\nname: review\ndescription: Reviews.\n---\nLook at it.\n")
    command(tmp_path, "ship", "Run the tests, then commit.\nThen push.\n")
    found = find_prompt_files(tmp_path)
    assert not found.refused
    assert {name: each.description for name, each in found.prompts.items()} == {
        "skill:review": "Reviews.",
        "ship": "Run the tests, then commit.",
    }
    assert found.prompts["skill:review"].text == "Look at it."


def test_a_projects_prompts_win_over_ones_own_the_nearer_ones_first(tmp_path: Path) -> None:
    own, root, sub = tmp_path / "own", tmp_path / "repo", tmp_path / "repo" / "sub"
    command(own, "ship", "own")
    command(root / ".agents", "ship", "root")
    command(sub / ".agents", "ship", "near")
    assert find_prompt_files(own).prompts["ship"].text == "own"
    assert find_prompt_files(own, [root]).prompts["ship"].text == "root"
    assert find_prompt_files(own, [root, sub]).prompts["ship"].text == "near"


@pytest.mark.parametrize(
    ("text", "argument", "filled"),
    [
        ("Fix $1 in $2.", "it a.py", "Fix it in a.py."),
        ("Fix $ARGUMENTS now.", "it a.py", "Fix it a.py now."),
        ("Fix $1 and $3.", "it", "Fix it and ."),
        ("Fix it.", "in a.py", "Fix it.\n\nin a.py"),
        ("Fix it.", "", "Fix it."),
    ],
)
def test_what_is_typed_behind_the_name_goes_where_the_prompt_wants_it(
    text: str, argument: str, filled: str
) -> None:
    assert PromptFile("x", "", text, "x.md").fill_in(argument) == filled


def test_links_big_files_and_broken_heads_are_not_used_and_said_so(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    commands = tmp_path / "own" / "commands"
    commands.mkdir(parents=True)
    (commands / "linked.md").symlink_to(secret)
    (commands / "big.md").write_text("x" * 70_000)
    (commands / "empty.md").write_text("---\ndescription: nothing\n---\n")
    (commands / "broken.md").write_text("---\na: [\n---\nText.\n")
    (commands / "binary.md").write_bytes(b"\xff\xfe\x00")
    (commands / "not a name.md").write_text("x")
    found = find_prompt_files(tmp_path / "own")
    assert not found.prompts
    refused = "\n".join(found.refused)
    for name in ("linked", "big", "empty", "broken", "binary"):
        assert f"{name}.md was not used:" in refused
    assert "key" not in refused


def test_nothing_is_read_through_a_link_to_a_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    command(elsewhere, "ship", "stolen")
    own = tmp_path / "own"
    own.mkdir()
    (own / "commands").symlink_to(elsewhere / "commands")
    assert not find_prompt_files(own).prompts
