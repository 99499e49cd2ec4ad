"""Where a run works is told as git would tell it, without asking git."""

from __future__ import annotations

import subprocess
from pathlib import Path

from agent_tui.workspace.where import git_branch


def run_git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def make_repository(folder: Path) -> None:
    folder.mkdir()
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "commit", "-q", "--allow-empty", "-m", "Begin")


def test_a_worktree_inside_another_repository_has_a_branch_of_its_own(tmp_path: Path) -> None:
    make_repository(tmp_path / "project")
    run_git(tmp_path / "project", "worktree", "add", "-q", "-b", "fix/tide", "beside")
    (tmp_path / "project" / "beside" / "src").mkdir()
    assert git_branch(tmp_path / "project") == "main"
    assert git_branch(tmp_path / "project" / "beside" / "src") == "fix/tide"


def test_without_a_branch_the_commit_is_told_and_outside_a_repository_nothing(
    tmp_path: Path,
) -> None:
    make_repository(tmp_path / "project")
    run_git(tmp_path / "project", "checkout", "-q", "--detach")
    told = git_branch(tmp_path / "project") or ""
    assert len(told) == 12
    assert int(told, 16)
    (tmp_path / "plain").mkdir()
    assert git_branch(tmp_path / "plain") is None


def test_a_branch_is_one_line_of_what_can_be_printed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_bytes(b"ref: refs/heads/a\x1b[31m\xff\nsecond\n")
    told = git_branch(tmp_path) or ""
    assert told.startswith("a")
    assert told.isprintable()
    assert "second" not in told
