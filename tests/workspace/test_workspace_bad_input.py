"""What a workspace may hold and what may happen around it: a clear sentence each, nothing lost."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_tui.core.errors import StorageError
from agent_tui.workspace.git import find_repository
from agent_tui.workspace.limits import DEFAULT_LIMITS
from agent_tui.workspace.plan import choose
from agent_tui.workspace.restore import Restore
from tests.workspace.yard import Yard, by_path, git

BOTH = pytest.mark.parametrize("with_git", [True, False], ids=["git", "plain"])


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Yard]:
    return lambda **options: Yard(tmp_path / "yard", **options)


def commit(yard: Yard, *options: str) -> None:
    git(yard.root, "add", "-A")
    git(yard.root, "commit", "-qm", "one", *options)


def refuse_opening(patch: pytest.MonkeyPatch, name: str, number: int, flags: int = 0) -> None:
    """Let every opening of a name fail; with ``flags``, only one that asks for all of them."""
    real = os.open

    def refuse(path: str, asked: int, *arguments: int, **options: int) -> int:
        if str(path).endswith(name) and asked & flags == flags:
            raise OSError(number, os.strerror(number), path)
        return real(path, asked, *arguments, **options)

    patch.setattr(os, "open", refuse)


def refuse_writing(patch: pytest.MonkeyPatch, number: int) -> None:
    """Let no byte be written any more."""

    def refuse(_descriptor: int, _data: bytes) -> int:
        raise OSError(number, os.strerror(number))

    patch.setattr(os, "write", refuse)


@BOTH
def test_a_file_that_cannot_be_read_is_named_and_is_not_gone(
    make: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch, with_git: bool
) -> None:
    yard = make(with_git=with_git)
    yard.write("secret.key", "old\n")
    yard.take()
    yard.write("secret.key", "new and longer\n")
    with monkeypatch.context() as patch:
        refuse_opening(patch, "secret.key", errno.EACCES)
        record = yard.take()
    assert [each.why for each in record.left_out] == ["it cannot be read: Permission denied"]
    (change,) = record.delta
    assert change.new is not None
    assert change.new.hash == ""
    plan = yard.plan()  # who wrote what can be read now is not known: offered, not ticked
    assert not plan.default
    yard.revert(plan, {("secret.key", True): frozenset({0})})
    assert yard.read("secret.key") == "old\n"


@BOTH
def test_a_capture_on_a_full_disk_says_so_and_the_next_one_finds_it_all(
    make: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch, with_git: bool
) -> None:
    yard = make(with_git=with_git)
    yard.write("a.txt", "old\n")
    yard.take()
    yard.write("a.txt", "agent\n")
    with monkeypatch.context() as patch:
        refuse_writing(patch, errno.ENOSPC)
        record = yard.take()
    assert (record.status, record.delta) == ("none", ())
    assert record.why == "the disk is full (No space left on device). Free some space first."
    assert list(by_path(yard.take().delta)) == ["a.txt"]
    yard.revert(yard.plan())
    assert yard.read("a.txt") == "old\n"


@BOTH
def test_a_capture_whose_scanner_cannot_be_loaded_says_so(
    make: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch, with_git: bool
) -> None:
    """The disk fails where the program itself is: its parts are loaded when they are needed."""
    yard = make(with_git=with_git)
    yard.write("a.txt", "old\n")
    with monkeypatch.context() as patch:
        for name in ("git_scan", "plain_scan"):
            patch.setitem(sys.modules, f"agent_tui.workspace.{name}", None)
        record = yard.take()
    assert (record.status, record.delta) == ("none", ())
    assert "could not be loaded" in record.why
    yard.take()
    yard.write("a.txt", "agent\n")
    assert list(by_path(yard.take().delta)) == ["a.txt"]


def test_a_recovery_that_the_system_refuses_says_why_and_what_to_do(
    make: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be done stands before it: the notice of the session says so."""
    yard = make(with_git=False)

    def refuse(_path: str) -> bool:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("agent_tui.workspace.restore.is_there", refuse)
    with pytest.raises(StorageError, match=r"^Permission denied\. Check the permissions\.$"):
        Restore(str(yard.root), yard.store).recover()


@BOTH
def test_a_revert_on_a_full_disk_changes_nothing_and_says_so(
    make: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch, with_git: bool
) -> None:
    yard = make(with_git=with_git)
    yard.write("a.txt", "old\n")
    yard.write("b.txt", "old\n")
    yard.take()
    yard.write("a.txt", "agent\n")
    yard.write("b.txt", "agent\n")
    yard.take()
    plan = yard.plan()
    actions = choose(plan, plan.default)
    with monkeypatch.context() as patch:
        refuse_writing(patch, errno.ENOSPC)
        with pytest.raises(StorageError, match="Cannot revert files: the disk is full"):
            Restore(str(yard.root), yard.store).run(actions, "op", {})
    assert yard.files() == {"a.txt": "agent\n", "b.txt": "agent\n"}
    yard.revert(yard.plan())
    assert yard.files() == {"a.txt": "old\n", "b.txt": "old\n"}


@BOTH
def test_a_store_that_goes_while_it_is_in_use_is_noticed(
    make: Callable[..., Yard], with_git: bool
) -> None:
    yard = make(with_git=with_git)
    yard.write("a.txt", "old\n")
    yard.take()
    yard.write("a.txt", "agent\n")
    yard.take()
    shutil.rmtree(yard.folder / "store")
    yard.write("b.txt", "new\n")
    record = yard.take()
    assert (record.status, record.delta) == ("none", ())
    assert "was deleted" in record.why
    yard.take("outside")  # from here on everything is covered again
    yard.write("b.txt", "agent\n")
    assert list(by_path(yard.take().delta)) == ["b.txt"]
    plan = yard.plan()
    assert [each.path for each in plan.paths] == ["b.txt"]
    assert "its content is no longer in the store" in {each.why for each in plan.uncovered}
    assert any("was deleted" in notice for notice in plan.notices)
    yard.revert(plan)
    assert yard.files() == {"a.txt": "agent\n", "b.txt": "new\n"}


def test_what_gc_took_before_it_was_captured_is_named_and_left_alone(
    make: Callable[..., Yard],
) -> None:
    """Its object was pruned before anything of it was adopted: nobody claims to know it."""
    yard = make(with_git=True)
    yard.write("a.txt", "first\n")
    commit(yard)
    yard.take()
    yard.write("a.txt", "mine\n")
    commit(yard, "--amend")
    git(yard.root, "reflog", "expire", "--expire=now", "--all")
    git(yard.root, "gc", "-q", "--prune=now")
    (change,) = yard.take("human").delta
    assert change.old is not None
    assert change.old.hash == ""
    yard.write("a.txt", "agent\n")
    yard.take()
    plan = yard.plan()
    assert [each.why for each in plan.uncovered] == ["its earlier content was not kept"]
    yard.revert(plan)
    assert yard.read("a.txt") == "mine\n"


def test_a_rebase_in_progress_is_told_and_stays_as_it_is(make: Callable[..., Yard]) -> None:
    yard = make(with_git=True)
    yard.write("a.txt", "one\n")
    commit(yard)
    git(yard.root, "checkout", "-q", "-b", "side")
    yard.write("a.txt", "side\n")
    commit(yard)
    git(yard.root, "checkout", "-q", "-")
    yard.write("a.txt", "main\n")
    commit(yard)
    yard.write("b.txt", "b\n")
    yard.take()
    git(yard.root, "checkout", "-q", "side")
    with pytest.raises(Exception, match="rebase"):
        git(yard.root, "rebase", "-q", "master")
    yard.take("human")
    repository = find_repository(str(yard.root))
    assert repository is not None
    assert repository.operation() == "a rebase"
    yard.write("b.txt", "agent\n")
    yard.take()
    state = yard.root / ".git" / "rebase-merge"
    before = {place.name: place.read_bytes() for place in state.iterdir() if place.is_file()}
    conflict = yard.read("a.txt")
    unmerged = git(yard.root, "ls-files", "-u")
    yard.revert(yard.plan())
    assert yard.read("b.txt") == "b\n"
    assert yard.read("a.txt") == conflict
    assert git(yard.root, "ls-files", "-u") == unmerged
    assert before == {p.name: p.read_bytes() for p in state.iterdir() if p.is_file()}


def test_exec_bits_alone_are_a_change_that_goes_back(make: Callable[..., Yard]) -> None:
    yard = make(with_git=True)
    place = yard.write("run.sh", "#!/bin/sh\n", 0o755)
    git(yard.root, "config", "core.fileMode", "false")
    commit(yard)
    yard.take()
    place.chmod(0o644)
    (change,) = yard.take().delta
    assert change.old is not None
    assert change.new is not None
    assert (change.old.mode, change.new.mode) == (0o755, 0o644)
    yard.revert(yard.plan())
    assert place.stat().st_mode & 0o777 == 0o755


@BOTH
def test_more_files_than_can_be_covered_are_refused_in_a_sentence(
    make: Callable[..., Yard], with_git: bool
) -> None:
    yard = make(with_git=with_git, limits=replace(DEFAULT_LIMITS, files=3, plain_files=3))
    for number in range(5):
        yard.write(f"{number}.txt", "x")
    if with_git:
        commit(yard)
    record = yard.take()
    assert record.status == "none"
    assert "more than 3 files" in record.why


def test_a_first_capture_copies_nothing_that_git_holds(make: Callable[..., Yard]) -> None:
    """Others fill a disk with copies of what the repository has already."""
    yard = make(with_git=True)
    for number in range(50):
        yard.write(f"{number}.txt", f"{number}\n" * 100)
    commit(yard)
    record = yard.take()
    assert (record.status, record.stored_bytes, record.files) == ("captured", 0, 50)
    assert not [p for p in (yard.folder / "store" / "objects").rglob("*") if p.is_file()]


@pytest.mark.parametrize("is_first", [True, False], ids=["from the start", "later"])
def test_a_pipe_in_the_place_of_rules_holds_nobody_up(tmp_path: Path, *, is_first: bool) -> None:
    yard = Yard(tmp_path / "yard", with_git=True)
    yard.write("a.txt", "first\n")
    if not is_first:
        yard.take()
    os.mkfifo(yard.root / ".gitignore")
    began = time.monotonic()
    found = yard.take()
    if is_first:  # what git would ignore is not known then
        assert found.status == "captured"
        yard.write("a.txt", "agent\n")
        assert [each.path for each in yard.take().delta] == ["a.txt"]
    else:
        assert (found.status, ".gitignore is a pipe" in found.why) == ("none", True)
    assert time.monotonic() - began < yard.limits.git_seconds
