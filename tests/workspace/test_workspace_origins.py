"""A repository that is replaced: what changed is told, and captured from then on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_tui.workspace import git_scan, origins, seed
from agent_tui.workspace.git import Repository
from agent_tui.workspace.origins import REPLACED, UNREAD, ScannedRepository
from tests.workspace.yard import Yard, by_path, git

CLOSED = pytest.mark.parametrize("closed", [True, False], ids=["closed", "open"])


def make_repository(yard: Yard, form: str, *, commits: bool = True) -> None:
    """Have another repository in the folder, or (an empty form) none."""
    shutil.rmtree(yard.root / ".git", ignore_errors=True)
    if form:
        git(yard.root, "init", "-q", f"--object-format={form}")
        if commits:
            git(yard.root, "add", "-A")
            git(yard.root, "commit", "-qm", "one")


def begun(folder: Path, form: str) -> Yard:
    yard = Yard(folder / "yard")
    for name in ("kept.txt", "known.txt", "dir/later.txt"):
        yard.write(name, "first\n")
    make_repository(yard, form)
    yard.take()
    yard.write("known.txt", "agent\n")
    yard.take()
    return yard


def content(yard: Yard, path: str) -> bytes:
    change = by_path(yard.take().delta)[path]
    assert change.old is not None
    return yard.store.get(change.old.hash)


@CLOSED
@pytest.mark.parametrize("commits", [True, False], ids=["commits", "empty"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sha1", "sha256"),
        ("sha256", "sha1"),
        ("sha1", "sha1"),
        ("sha1", ""),
        ("", "sha1"),
        ("", "sha256"),
    ],
)
def test_after_a_repository_was_replaced_everything_is_captured(
    tmp_path: Path, before: str, after: str, *, commits: bool, closed: bool
) -> None:
    yard = begun(tmp_path, before)
    yard.write("known.txt", "outside\n")
    yard.write("new.txt", "outside\n")
    make_repository(yard, after, commits=commits)
    if closed:
        yard.open()
    record = yard.take("outside")
    assert record.status == "captured"
    changes = by_path(record.delta)
    assert list(changes) == ["known.txt", "new.txt"]
    assert changes["known.txt"].old is not None
    assert yard.store.get(changes["known.txt"].old.hash) == b"agent\n"
    assert changes["new.txt"].old is None
    told = [(each.path, each.why) for each in record.left_out]
    assert told == ([(".", REPLACED)] if before else [])
    yard.write("dir/later.txt", "agent\n")
    assert content(yard, "dir/later.txt") == b"first\n"
    yard.open()
    assert yard.take().left_out == ()
    yard.write("kept.txt", "agent\n")
    assert content(yard, "kept.txt") == b"first\n"
    yard.revert(yard.plan())
    assert {yard.read(name) for name in ("kept.txt", "dir/later.txt")} == {"first\n"}
    assert yard.read("new.txt") == "outside\n"


@CLOSED
def test_a_repository_may_be_replaced_again_and_again(tmp_path: Path, *, closed: bool) -> None:
    yard = begun(tmp_path, "sha1")
    for number, form in enumerate(["sha256", "", "sha256", "sha1"]):
        make_repository(yard, form)
        if closed:
            yard.open()
        yard.take()
        yard.open()
        assert yard.take().left_out == ()
        yard.write("kept.txt", f"{number}\n")
        assert content(yard, "kept.txt") == (f"{number - 1}\n" if number else "first\n").encode()
    folders = [each.name for each in Path(yard.store.session_folder).iterdir() if each.is_dir()]
    assert len(folders) == 1


def test_a_replaced_repository_is_told_until_that_is_in_the_log(tmp_path: Path) -> None:
    yard = begun(tmp_path, "sha1")
    yard.write("known.txt", "outside\n")
    make_repository(yard, "sha256")
    for _ in range(2):
        yard.open()
        found = yard.capture.take()  # and the process dies here
        assert list(by_path(found.delta)) == ["known.txt"]
        assert [each.why for each in found.left_out] == [REPLACED]


def test_what_cannot_be_compared_any_longer_is_told(tmp_path: Path) -> None:
    yard = begun(tmp_path, "sha1")
    make_repository(yard, "sha256")
    (Path(yard.store.session_folder) / "index").write_bytes(b"damaged")
    yard.open()
    record = yard.take("outside")
    assert [(each.path, each.why) for each in record.left_out] == [(".", UNREAD)]
    yard.write("kept.txt", "agent\n")
    assert content(yard, "kept.txt") == b"first\n"


def test_a_nested_repository_that_was_replaced_is_named(tmp_path: Path) -> None:
    yard = begun(tmp_path, "sha1")
    yard.write("inner/a.txt", "first\n")
    git(yard.root / "inner", "init", "-q")
    yard.take()
    shutil.rmtree(yard.root / "inner/.git")
    git(yard.root / "inner", "init", "-q", "--object-format=sha256")
    yard.open()
    record = yard.take("outside")
    assert [(each.path, each.why) for each in record.left_out] == [("inner", REPLACED)]
    yard.write("inner/a.txt", "agent\n")
    assert content(yard, "inner/a.txt") == b"first\n"


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (ScannedRepository("/b", "sha1", 5), True),
        (ScannedRepository("/a", "sha1", 0), True),
        (ScannedRepository("/a", "sha1", 6), False),
        (ScannedRepository("/a", "sha256", 0), False),
        (ScannedRepository(), False),
    ],
)
def test_a_repository_is_told_by_when_it_was_made(
    other: ScannedRepository, *, is_same: bool
) -> None:
    assert ScannedRepository("/a", "sha1", 5).is_same(other) == is_same
    assert other.is_same(ScannedRepository("/a", "sha1", 5)) == is_same


def test_where_births_are_unknown_another_format_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origins, "born_at", lambda _: None)
    yard = begun(tmp_path, "sha1")
    make_repository(yard, "sha256")
    yard.open()
    assert [each.why for each in yard.take("outside").left_out] == [REPLACED]


def test_a_repository_that_goes_in_the_first_capture_is_captured_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = Yard(tmp_path / "yard")
    yard.write("a.txt", "first\n")
    make_repository(yard, "sha1")
    real = seed.mark_to_read

    def remove_first(repository: Repository) -> object:
        shutil.rmtree(yard.root / ".git")
        return real(repository)

    with monkeypatch.context() as patch:
        patch.setattr(git_scan, "mark_to_read", remove_first)
        assert yard.take().status == "captured"
    yard.write("a.txt", "agent\n")
    assert content(yard, "a.txt") == b"first\n"
