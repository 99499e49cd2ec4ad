"""What is read of a user's repository and settings before the first capture."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from agent_tui.workspace import seed
from agent_tui.workspace.git import find_repository, git_program
from agent_tui.workspace.git_index import is_plain
from agent_tui.workspace.git_listing import GitListing
from tests.workspace.yard import Yard, by_path, git


def committed(folder: Path, *options: str) -> Yard:
    """A repository with a commit of two files, one of them with a long name."""
    yard = Yard(folder / "yard")
    git(yard.root, "init", "-q", *options)
    yard.write("a.txt", "a\n")
    yard.write(f"dir/{'long' * 50}", "b\n")
    git(yard.root, "add", "-A")
    git(yard.root, "commit", "-qm", "one")
    return yard


def plain(yard: Yard, algorithm: str = "sha1") -> bool:
    return is_plain((yard.root / ".git" / "index").read_bytes(), algorithm)


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_an_index_of_files_and_links_is_plain(tmp_path: Path, algorithm: str) -> None:
    yard = committed(tmp_path, f"--object-format={algorithm}")
    assert plain(yard, algorithm)
    for length in range(1, 20):  # a name is padded in another way for each length
        yard.write("n" * length, "n\n")
    (yard.root / "link").symlink_to("a.txt")
    git(yard.root, "add", "-A")
    assert plain(yard, algorithm)
    assert not plain(yard, "sha999")


@pytest.mark.parametrize(
    "arguments",
    [
        ("update-index", "--assume-unchanged", "a.txt"),
        ("update-index", "--skip-worktree", "a.txt"),
        ("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module"),
        ("update-index", "--index-version", "4"),
    ],
)
def test_what_git_status_does_not_tell_makes_an_index_not_plain(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    yard = committed(tmp_path)
    git(yard.root, *arguments)
    assert not plain(yard)


def test_attributes_and_damage_make_an_index_not_plain(tmp_path: Path) -> None:
    yard = committed(tmp_path)
    index = (yard.root / ".git" / "index").read_bytes()
    assert not any(is_plain(index[:end], "sha1") for end in range(80))
    yard.write("dir/.gitattributes", "*.txt text\n")
    git(yard.root, "add", "-A")
    assert not plain(yard)


@pytest.mark.parametrize("place", ["own", "included", "default", "none"])
def test_what_a_user_ignores_everywhere_is_heeded_from_the_first_capture_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Settings may be spread over files that only git can find; a guess may be wrong."""
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    rules = home / (".config/git/ignore" if place == "default" else "rules")
    rules.write_text("*.log\n")
    settings = f"[core]\n\texcludesFile = {rules}\n"
    if place == "own":
        (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/rules\n")
    elif place == "included":
        (home / ".gitconfig").write_text(f"[include]\n\tpath = {home}/more\n")
        (home / "more").write_text(settings)
    listed: list[int] = []
    real = GitListing._list_all

    def list_all(self: GitListing, *arguments: object) -> None:
        listed.append(1)
        real(self, *arguments)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(GitListing, "_list_all", list_all)
    yard = committed(tmp_path)
    yard.write("x.log", "secret\n")
    yard.take()
    assert len(listed) == (2 if place == "included" else 1)
    yard.write("x.log", "changed\n")
    change = by_path(yard.take().delta)["x.log"]
    assert change.old is not None
    assert change.new is not None
    assert (change.old.secret, change.new.secret) == (place != "none", place != "none")


@pytest.mark.parametrize(
    ("place", "settings"),
    [
        ("", ""),
        ("home/.gitconfig", "[core]\n\tAutoCRLF = true\n"),
        ("home/.gitconfig", '[includeIf "gitdir:~/"]\n\tpath = more\n'),
        ("home/.config/git/config", "[core]\n\teol = crlf\n"),
        ("yard/work/.git/config", "[core]\n\tattributesFile = x\n"),
        ("yard/work/.git/config.worktree", "[core]\n\texcludesfile = x\n"),
    ],
)
def test_git_is_asked_for_settings_where_a_file_may_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, settings: str
) -> None:
    """Reading five small files is quicker than a process, where they say nothing of it."""
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(seed, "_MACHINE", str(tmp_path / "none"))
    monkeypatch.setattr(seed, "_USUAL", git_program())
    yard = committed(tmp_path)
    if place:
        with (tmp_path / place).open("a") as file:
            file.write(settings)
    repository = find_repository(str(yard.root))
    assert repository is not None
    user = seed.UserSettings(repository)
    asked = user._process is not None
    user.stop()
    assert asked is (bool(place) or sys.platform != "linux")


def test_what_a_user_converts_everywhere_is_kept_as_it_stands_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The object in the repository has the same size, and is something else."""
    yard = Yard(tmp_path / "yard", with_git=True)
    monkeypatch.setenv("HOME", str(yard.folder))  # that of the user's git, too
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    attributes = yard.folder / ".config" / "git" / "attributes"
    attributes.parent.mkdir(parents=True)
    attributes.write_text("*.txt filter=x\n")
    git(yard.root, "config", "filter.x.clean", "sed s/word/WORD/")
    os.utime(yard.write("a.txt", "word\n"), ns=(10**18, 10**18))  # or git would read it again
    git(yard.root, "add", "-A")
    git(yard.root, "commit", "-qm", "one")
    assert git(yard.root, "show", ":a.txt") == "WORD\n"
    yard.take()
    yard.write("a.txt", "agent\n")
    (change,) = yard.take().delta
    assert change.old is not None
    assert change.old.hash == hashlib.sha256(b"word\n").hexdigest()
    yard.revert(yard.plan())
    assert yard.read("a.txt") == "word\n"
