"""File tools stay inside the workspace, whatever links and dots a path holds."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from agent_tui.core.errors import ToolError
from agent_tui.tools.workspace import MissingPath, Workspace


def content_of(root: Path, path: str) -> str:
    with Workspace(root).locate(path) as place, os.fdopen(place.open_file()) as file:
        return file.read()


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    return outside / "secret"


def test_relative_absolute_and_dotted_paths_lead_to_the_same_file(workspace: Path) -> None:
    (workspace / "a" / "b").mkdir(parents=True)
    (workspace / "a" / "f").write_text("here")
    for path in ("a/f", "./a/f", "a/b/../f", str(workspace / "a" / "f"), "a//f"):
        assert content_of(workspace, path) == "here"


@pytest.mark.parametrize(
    "path", ["../outside/secret", "a/../../outside/secret", "/etc/passwd", ".."]
)
def test_a_path_that_leaves_is_refused(workspace: Path, secret: Path, path: str) -> None:
    (workspace / "a").mkdir()
    with pytest.raises(ToolError, match="outside the workspace"):
        content_of(workspace, path)


@pytest.mark.parametrize("path", ["a\0b", "a\ud83d.txt", "\ud83d/../a"])
def test_a_path_that_no_file_can_have_is_refused_in_words(workspace: Path, path: str) -> None:
    with pytest.raises(ToolError, match="A path cannot contain"):
        content_of(workspace, path)


@pytest.mark.parametrize("target", ["../outside/secret", "{secret}", "loop", "way/secret"])
def test_a_link_that_leaves_is_refused(workspace: Path, secret: Path, target: str) -> None:
    (workspace / "way").symlink_to(secret.parent)
    (workspace / "loop").symlink_to("loop")
    (workspace / "link").symlink_to(target.format(secret=secret))
    with pytest.raises(ToolError, match=r"outside the workspace|too many symbolic links"):
        content_of(workspace, "link")


def test_a_folder_is_named_with_what_it_holds_though_a_link_in_it_leads_nowhere(
    workspace: Path,
) -> None:
    (workspace / "loop").symlink_to("loop")
    (workspace / "sub").mkdir()
    with pytest.raises(ToolError, match=r"It holds: loop, sub/\."):
        content_of(workspace, "")


def test_a_link_that_stays_inside_is_followed(workspace: Path) -> None:
    (workspace / "docs").mkdir()
    (workspace / "docs" / "AGENTS.md").write_text("rules")
    (workspace / "CLAUDE.md").symlink_to("docs/AGENTS.md")
    (workspace / "whole").symlink_to(workspace / "docs")
    assert content_of(workspace, "CLAUDE.md") == "rules"
    assert content_of(workspace, "whole/AGENTS.md") == "rules"
    assert content_of(workspace, "whole/../docs/AGENTS.md") == "rules"


def test_a_workspace_behind_a_link_takes_both_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_text("here")
    (tmp_path / "alias").symlink_to("real")
    assert content_of(tmp_path / "alias", str(tmp_path / "alias" / "f")) == "here"
    assert content_of(tmp_path / "alias", str(tmp_path / "real" / "f")) == "here"


def test_a_folder_swapped_for_a_link_never_leads_outside(workspace: Path, secret: Path) -> None:
    (workspace / "real").mkdir()
    (workspace / "real" / "secret").write_text("mine")
    done = threading.Event()

    def swap() -> None:
        flip = workspace / "flip"
        while not done.is_set():
            flip.symlink_to(secret.parent)
            flip.unlink()
            (workspace / "real").rename(flip)
            flip.rename(workspace / "real")

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen = set()
    try:
        for _ in range(3_000):
            try:
                seen.add(content_of(workspace, "flip/secret"))
            except ToolError:
                continue
    finally:
        done.set()
        swapper.join()
    assert seen <= {"mine"}


def test_pipes_devices_and_folders_are_no_files(workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    (workspace / "folder").mkdir()
    (workspace / "folder" / "inner.txt").touch()
    with pytest.raises(ToolError, match="not a regular file"):
        content_of(workspace, "pipe")
    with pytest.raises(ToolError, match=r"folder, not a file\. It holds: inner\.txt"):
        content_of(workspace, "folder")
    with pytest.raises(ToolError, match="is a file, not a folder"):
        content_of(workspace, "folder/inner.txt/more")


@pytest.mark.parametrize("path", [".git/config", "sub/.GIT/hooks/x", ".git", ".agent-tui/config"])
def test_repositories_and_our_own_folder_are_read_only(workspace: Path, path: str) -> None:
    (workspace / path).parent.mkdir(parents=True, exist_ok=True)
    with Workspace(workspace).locate(path) as place, pytest.raises(ToolError, match="read-only"):
        place.check_writable()


def test_a_repository_reached_through_a_link_is_read_only(workspace: Path) -> None:
    (workspace / ".git").mkdir()
    (workspace / "innocent").symlink_to(".git")
    with (
        Workspace(workspace).locate("innocent/config") as place,
        pytest.raises(ToolError, match="read-only"),
    ):
        place.check_writable()


def test_no_folder_is_made_inside_a_read_only_one(workspace: Path) -> None:
    (workspace / ".git").mkdir()
    for path in (".git/hooks/pre-commit", "new/.git/hooks/pre-commit"):
        with (
            pytest.raises(ToolError, match="read-only"),
            Workspace(workspace).locate(path, make_folders=True),
        ):
            pass
    assert list((workspace / ".git").iterdir()) == []
    assert not (workspace / "new" / ".git").exists()


def test_protected_folders_are_read_only_under_any_name(workspace: Path) -> None:
    (workspace / "data").mkdir()
    (workspace / "config.toml").touch()
    guarded = Workspace(workspace, (workspace / "data", workspace / "config.toml"))
    for path in ("data/x", "data", "config.toml"):
        with guarded.locate(path) as place, pytest.raises(ToolError, match="agent-tui's own"):
            place.check_writable()
    with (
        Workspace(workspace / "data", (workspace / "data",)).locate("x") as place,
        pytest.raises(ToolError, match="agent-tui's own"),
    ):
        place.check_writable()


def test_a_missing_folder_is_missing_and_a_missing_workspace_is_told(workspace: Path) -> None:
    with pytest.raises(MissingPath, match="nowhere does not exist"):
        content_of(workspace, "nowhere/f")
    with pytest.raises(ToolError, match="cannot be opened"):
        content_of(workspace / "gone", "f")


def test_no_descriptor_is_left_open(workspace: Path) -> None:
    (workspace / "a" / "b").mkdir(parents=True)
    (workspace / "a" / "b" / "f").write_text("x")
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208
    for path in ("a/b/f", "a/b/../../..", "a/none/f", "a/b", "a/b/f/g"):
        for _ in range(5):
            try:
                content_of(workspace, path)
            except ToolError:
                continue
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208
