"""A quick look finds what a whole one finds, whatever happened to the folders."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_tui.core.file_changes import FileChange, LeftOut
from agent_tui.core.records import WorkspaceRecord
from agent_tui.workspace import folder_names, git_scan
from agent_tui.workspace import git as git_module
from agent_tui.workspace.folder_names import FolderNames, keeps_folder_times
from agent_tui.workspace.git_listing import GitListing
from agent_tui.workspace.reading import read_entry
from agent_tui.workspace.recent import RecentStates
from agent_tui.workspace.scanning import LOST
from tests.workspace.yard import Yard, git

SURE_SECONDS = 0.01


@pytest.fixture(autouse=True)
def _sure_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_names, "_SURE_NS", int(SURE_SECONDS * 1e9))
    monkeypatch.setattr(folder_names, "keeps_folder_times", lambda _: True)


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return committed(tmp_path)


def committed(folder: Path) -> Yard:
    """A repository with a commit, and files that it ignores."""
    yard = Yard(folder / "yard", with_git=True)
    yard.write(".gitignore", "*.log\nbuild/\n")
    for name in ("a.txt", "one/b.txt", "one/two/c.txt", "build/out", "x.log"):
        yard.write(name, f"{name}\n")
    git(yard.root, "add", "-A")
    git(yard.root, "commit", "-qm", "one")
    return yard


def whole(yard: Yard) -> Yard:
    """Another session over the same files, that always lists all of them."""
    other = Yard(yard.folder)
    other.open("whole")
    other.take()
    names = other.capture._scopes[""].scanner._listing._names  # type: ignore[attr-defined]
    names._trusted = False
    return other


def act(yard: Yard, chance: random.Random, number: int) -> str:
    """Change something somewhere, as people and programs do."""
    folders = [p for p in yard.root.rglob("*") if p.is_dir() and ".git" not in p.parts]
    files = [p for p in yard.root.rglob("*") if p.is_file() and ".git" not in p.parts]
    folder = chance.choice([yard.root, *folders])
    what = chance.choice(
        ["edit", "edit", "create", "create", "replace", "delete", "mkdir", "move folder", "rmtree",
         "ignore", "expose", "nest", "link", "log", "fifo", "swap"]
    )  # fmt: skip
    file = chance.choice(files) if files else folder / "first"
    match what:
        case "edit":
            file.write_text(f"{number}\n")
        case "create":
            (folder / f"new{number}.txt").write_text(f"{number}\n")
        case "replace":
            (yard.folder / "tmp").write_text(f"{number}\n")
            (yard.folder / "tmp").rename(file)
        case "delete":
            file.unlink(missing_ok=True)
        case "mkdir":
            (folder / f"d{number}" / "deep").mkdir(parents=True)
            (folder / f"d{number}" / "deep" / "in.txt").write_text(f"{number}\n")
        case "move folder" if folders:
            chance.choice(folders).rename(yard.root / f"moved{number}")
        case "rmtree" if folders:
            shutil.rmtree(chance.choice(folders))
        case "ignore":
            (folder / ".gitignore").write_text(f"new{number - 3}*\n*.log\n")
        case "expose":
            (folder / ".gitignore").unlink(missing_ok=True)
        case "nest" if folders and number % 4 == 0:
            git(chance.choice(folders), "init", "-q")
        case "link":
            (folder / f"link{number}").symlink_to("a.txt")
        case "log":
            (folder / f"{number}.log").write_text("log\n")
        case "fifo":
            os.mkfifo(folder / f"pipe{number}")
        case "swap" if folders:
            victim = chance.choice(folders)
            shutil.rmtree(victim)
            victim.symlink_to("a.txt")
        case _:
            pass
    return what


def paths_of(record: WorkspaceRecord) -> list[FileChange]:
    """What changed, without what hangs on the moment of a look.

    Which folders came with a file is known to a quick look alone; and a file that came to be
    ignored after it was captured is marked as secret when it is read the next time.
    """
    return [
        replace(
            change,
            folders=0,
            old=change.old and replace(change.old, secret=False),
            new=change.new and replace(change.new, secret=False),
        )
        for change in record.delta
    ]


def covered(record: WorkspaceRecord) -> set[LeftOut]:
    """What is not captured, but for empty folders, of which a quick look alone knows."""
    return {each for each in record.left_out if each.why != LOST}


@pytest.mark.parametrize("seed", range(12))
def test_a_quick_look_finds_what_a_whole_one_finds(yard: Yard, seed: int) -> None:
    chance = random.Random(seed)
    yard.take()
    other = whole(yard)
    told = []
    for number in range(30):
        told.append(act(yard, chance, number))
        if chance.random() < 0.5:
            time.sleep(2 * SURE_SECONDS)
        quick, slow = yard.take(), other.take()
        assert paths_of(quick) == paths_of(slow), told
        assert covered(quick) == covered(slow), told


def test_where_no_name_is_new_only_the_index_is_compared(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = GitListing._list_all

    def list_all(self: GitListing, *arguments: object) -> None:
        asked.append(1)
        real(self, *arguments)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(GitListing, "_list_all", list_all)
    yard.take()
    time.sleep(2 * SURE_SECONDS)
    yard.take()
    assert len(asked) == 2  # the first one, and one after the folders were read
    yard.write("a.txt", "agent\n")
    yard.write("one/new.txt", "new\n")
    assert [each.path for each in yard.take().delta] == ["a.txt", "one/new.txt"]
    assert len(asked) == 2
    yard.write("more/new.txt", "new\n")
    assert [each.path for each in yard.take().delta] == ["more/new.txt"]
    assert len(asked) == 3


def test_after_a_failure_everything_is_listed_again(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.take()
    yard.take()
    yard.write("one/new.txt", "new\n")
    with monkeypatch.context() as patch:
        patch.setattr(git_module, "git_program", lambda: "/bin/false")
        assert yard.take().status == "none"
    assert [each.path for each in yard.take().delta] == ["one/new.txt"]


def test_a_commit_that_is_gone_is_no_hindrance(yard: Yard) -> None:
    yard.take()
    git(yard.root, "commit", "-q", "--amend", "-m", "two")
    git(yard.root, "reflog", "expire", "--expire=now", "--all")
    git(yard.root, "gc", "-q", "--prune=now")
    yard.write("more/new.txt", "new\n")
    assert [each.path for each in yard.take().delta] == ["more/new.txt"]


def test_many_settled_paths_move_to_the_index(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, make_old: Callable[[Path], None]
) -> None:
    monkeypatch.setattr(git_scan, "_MOST_RECENT", 3)
    yard.take()
    for number in range(8):
        make_old(yard.write(f"n{number}.txt", f"{number}\n"))
    (yard.root / "a.txt").unlink()
    time.sleep(0.15)  # a file that was just written is not sure yet
    yard.take()
    recent = yard.capture._scopes[""].scanner._recent  # type: ignore[attr-defined]
    assert len(recent) == 0
    assert yard.take().delta == ()
    yard.open()
    assert yard.take().delta == ()
    yard.write("n3.txt", "changed\n")
    (change,) = yard.take().delta
    assert change.old is not None
    assert yard.store.get(change.old.hash) == b"3\n"


def test_rules_above_the_workspace_are_noticed(yard: Yard) -> None:
    inner = Yard(yard.folder)
    inner.root = yard.root / "one"
    inner.open("inner")
    yard.write("one/out.tmp", "1\n")
    yard.write("one/made/by.txt", "1\n")
    yard.write(".gitignore", "made/\n")
    inner.take()
    time.sleep(2 * SURE_SECONDS)
    inner.take()
    inner.take()
    yard.write(".gitignore", "")
    assert inner.take().left_out == ()


def test_a_file_that_was_just_written_when_it_was_read_is_not_sure(tmp_path: Path) -> None:
    """Written again it may have the same size and times: clocks of file systems are coarse."""
    place = tmp_path / "a.txt"
    place.write_text("1")
    root = os.open(tmp_path, os.O_RDONLY)
    soon = read_entry(root, "a.txt", 100)
    time.sleep(0.15)
    later = read_entry(root, "a.txt", 100)
    os.close(root)
    recent = RecentStates(str(tmp_path / "recent.json"))
    recent.put({"a.txt": soon})  # how late it is settled makes no difference
    assert not recent.is_as_settled("a.txt", place.stat())
    recent.put({"a.txt": later})
    assert recent.is_as_settled("a.txt", place.stat())


@pytest.fixture
def make_old() -> Callable[[Path], None]:
    return lambda place: os.utime(place, ns=(10**18, 10**18))


@pytest.mark.parametrize(
    ("mounts", "kept"),
    [
        ("1 0 8:1 / / rw - ext4 /dev/a rw\n", True),
        ("1 0 8:1 / / rw - ext4 a rw\n2 1 0:5 / /mnt rw - 9p b rw\n", False),
        ("1 0 8:1 / / rw - 9p a rw\n2 1 0:5 / /mnt rw - tmpfs b rw\n", True),
        ("1 0 8:1 / / rw - ext4 a rw\n2 1 0:5 / /mnt/at/sub rw - fuse b rw\n", False),
        ("1 0 8:1 / / rw - ext4 a rw\n2 1 0:5 / /mnt/atlas rw - fuse b rw\n", True),
        ("nonsense\n", False),
        ("", False),
    ],
)
def test_only_file_systems_that_keep_the_times_of_folders_are_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounts: str, kept: bool
) -> None:
    listed = tmp_path / "mountinfo"
    listed.write_text(mounts)
    monkeypatch.setattr(folder_names, "_MOUNTS", str(listed))
    assert keeps_folder_times("/mnt/at") is kept


def test_where_times_are_not_kept_everything_is_listed(tmp_path: Path) -> None:
    names = FolderNames(str(tmp_path))
    names._trusted = False
    assert names.refresh(()) is None
    assert names.refresh(()) is None
