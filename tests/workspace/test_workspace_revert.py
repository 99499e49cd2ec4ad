"""Reverts of files: what goes back, what stays, and what is never done."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_tui.workspace import restore as restoring
from agent_tui.workspace.errors import PathChanged
from agent_tui.workspace.folders import status_of
from agent_tui.workspace.plan import choose
from agent_tui.workspace.restore import Restore, _Replacing
from agent_tui.workspace.scanning import STAGING_PREFIX
from tests.workspace.yard import Yard, git, record_of_call, record_of_revert


@pytest.fixture(params=[True, False], ids=["git", "plain"])
def yard(request: pytest.FixtureRequest, tmp_path: Path) -> Yard:
    return Yard(tmp_path / "yard", with_git=request.param)


def statuses(yard: Yard, checkpoint: str | None = None) -> dict[str, str]:
    return {each.path: each.status for each in yard.plan(checkpoint).paths if each.own}


TEXT = "".join(f"line {number}\n" for number in range(20))


def edited(at: int, text: str) -> str:
    lines = TEXT.splitlines(keepends=True)
    lines[at] = f"{text}\n"
    return "".join(lines)


def test_edits_deletions_and_creations_go_back_with_their_modes(yard: Yard) -> None:
    yard.write("run.sh", "#!/bin/sh\n", 0o755)
    yard.write("private.txt", "p\n", 0o600)
    yard.write("deep/down/gone.txt", "gone\n")
    (yard.root / "link").symlink_to("run.sh")
    yard.take()
    before = yard.files()
    yard.write("run.sh", "broken\n", 0o644)
    yard.write("private.txt", "leaked\n", 0o644)
    shutil.rmtree(yard.root / "deep")
    (yard.root / "link").unlink()
    (yard.root / "link").symlink_to("/etc/passwd")
    yard.write("new/file.txt", "new\n")
    yard.take()
    yard.revert(yard.plan())
    assert yard.files() == before
    assert (yard.root / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (yard.root / "private.txt").stat().st_mode & 0o777 == 0o600


def test_a_person_s_lines_stay_when_the_agent_s_go(yard: Yard) -> None:
    yard.write("a.txt", TEXT)
    yard.take()
    yard.write("a.txt", edited(3, "agent"))
    yard.take()
    yard.write("a.txt", edited(3, "agent").replace("line 15\n", "mine\n"))
    assert statuses(yard) == {"a.txt": "merged"}
    yard.revert(yard.plan())
    assert yard.read("a.txt") == edited(15, "mine")


def test_what_a_person_did_between_two_edits_of_the_agent_stays(yard: Yard) -> None:
    yard.write("a.txt", TEXT)
    yard.take()
    yard.write("a.txt", edited(3, "agent"))
    yard.take()
    between = edited(3, "agent").replace("line 10\n", "mine\n")
    yard.write("a.txt", between)
    yard.take("human")
    yard.write("a.txt", between.replace("line 17\n", "agent again\n"))
    yard.take()
    yard.revert(yard.plan())
    assert yard.read("a.txt") == edited(10, "mine")


def test_a_conflict_is_shown_and_nothing_is_overwritten(yard: Yard) -> None:
    yard.write("a.txt", TEXT)
    yard.take()
    agent = edited(3, "agent").replace("line 15\n", "agent\n")
    yard.write("a.txt", agent)
    yard.take()
    mine = edited(3, "mine").replace("line 15\n", "agent\n")
    yard.write("a.txt", mine)
    plan = yard.plan()
    (path,) = [each for each in plan.paths if each.own]
    assert path.status == "conflict"
    assert [hunk.conflict for hunk in path.hunks] == [True, False]
    assert path.default == frozenset({2})
    yard.revert(plan)
    assert yard.read("a.txt") == edited(3, "mine")


def test_a_conflict_that_was_ticked_is_reverted_and_can_be_undone(yard: Yard) -> None:
    yard.write("a.txt", TEXT)
    yard.take()
    yard.write("a.txt", edited(3, "agent"))
    yard.take()
    yard.write("a.txt", edited(3, "mine"))
    plan = yard.plan()
    record = yard.revert(plan, {("a.txt", True): frozenset({1})})
    assert yard.read("a.txt") == TEXT
    yard.take_back(record)
    assert yard.read("a.txt") == edited(3, "mine")


def test_a_person_s_change_is_offered_but_not_ticked(yard: Yard) -> None:
    yard.write("a.txt", TEXT)
    yard.write("b.txt", TEXT)
    yard.take()
    yard.write("a.txt", edited(3, "agent"))
    yard.take()
    yard.write("b.txt", edited(3, "mine"))
    plan = yard.plan()
    assert [(each.path, each.own) for each in plan.paths] == [("a.txt", True), ("b.txt", False)]
    assert list(plan.default) == [("a.txt", True)]
    yard.revert(plan, {("b.txt", False): frozenset({1})})
    assert (yard.read("a.txt"), yard.read("b.txt")) == (edited(3, "agent"), TEXT)


def test_one_hunk_alone_goes_back(yard: Yard) -> None:
    yard.write("a.txt", TEXT)
    yard.take()
    yard.write("a.txt", edited(3, "one").replace("line 15\n", "two\n"))
    yard.take()
    plan = yard.plan()
    assert len(plan.paths[0].hunks) == 2
    yard.revert(plan, {("a.txt", True): frozenset({2})})
    assert yard.read("a.txt") == edited(3, "one")


def test_one_tool_call_goes_back_and_the_next_stays(yard: Yard) -> None:
    yard.write("a.txt", TEXT)
    yard.take()
    yard.write("a.txt", edited(3, "one"))
    first = yard.take(call="one")
    yard.write("a.txt", edited(3, "one").replace("line 15\n", "two\n"))
    yard.take(call="two")
    yard.take_back(first)
    assert yard.read("a.txt") == edited(15, "two")


def test_a_file_that_a_person_created_is_never_deleted(yard: Yard) -> None:
    yard.write("a.txt", "a\n")
    yard.take()
    yard.write("agents.txt", "agent\n")
    yard.take()
    yard.write("mine.txt", "mine\n")
    plan = yard.plan()
    everything = {each.key: frozenset({0}) for each in plan.paths}
    yard.revert(plan, everything)
    assert yard.files() == {"a.txt": "a\n", "mine.txt": "mine\n"}


def test_a_file_of_the_agent_that_a_person_changed_is_not_deleted_unasked(yard: Yard) -> None:
    yard.take()
    yard.write("new.txt", "agent\n")
    yard.take()
    yard.write("new.txt", "agent and me\n")
    assert statuses(yard) == {"new.txt": "conflict"}
    yard.revert(yard.plan())
    assert yard.read("new.txt") == "agent and me\n"


def test_a_file_that_a_person_deleted_does_not_come_back_unasked(yard: Yard) -> None:
    yard.write("a.txt", "a\n")
    yard.take()
    yard.write("a.txt", "agent\n")
    yard.take()
    (yard.root / "a.txt").unlink()
    assert statuses(yard) == {"a.txt": "deleted"}
    yard.revert(yard.plan())
    assert yard.read("a.txt") is None


def test_a_binary_that_both_changed_is_all_or_nothing(yard: Yard) -> None:
    yard.write("a.bin", b"\0one")
    yard.write("b.bin", b"\0one")
    yard.take()
    yard.write("a.bin", b"\0agent")
    yard.write("b.bin", b"\0agent")
    yard.take()
    yard.write("b.bin", b"\0mine")
    assert statuses(yard) == {"a.bin": "clean", "b.bin": "binary"}
    yard.revert(yard.plan())
    assert yard.files() == {"a.bin": "\0one", "b.bin": "\0mine"}


def test_a_file_that_became_a_folder_and_back(yard: Yard) -> None:
    yard.write("thing", "file\n")
    yard.write("other/inner", "inner\n")
    yard.take()
    before = yard.files()
    (yard.root / "thing").unlink()
    yard.write("thing/inside", "agent\n")
    shutil.rmtree(yard.root / "other")
    yard.write("other", "agent\n")
    yard.take()
    record = yard.revert(yard.plan())
    assert yard.files() == before
    yard.take_back(record)
    assert yard.files() == {"other": "agent\n", "thing/inside": "agent\n"}


def test_undo_and_redo_have_no_limit(yard: Yard) -> None:
    yard.write("a.txt", "one\n")
    yard.take()
    yard.write("a.txt", "two\n")
    yard.take()
    record = yard.revert(yard.plan())
    for _ in range(5):
        assert yard.read("a.txt") == "one\n"
        record = yard.take_back(record, "undo")
        assert yard.read("a.txt") == "two\n"
        record = yard.take_back(record, "redo")


def test_each_checkpoint_brings_its_own_files(yard: Yard) -> None:
    yard.write("a.txt", "0\n")
    yard.take()
    marks = []
    for number in range(1, 5):
        marks.append(yard.checkpoint())
        yard.write("a.txt", f"{number}\n")
        yard.write(f"{number}.txt", "new\n")
        yard.take()
    yard.revert(yard.plan(marks[2]))
    assert yard.files() == {"1.txt": "new\n", "2.txt": "new\n", "a.txt": "2\n"}
    yard.revert(yard.plan(marks[0]))
    assert yard.files() == {"a.txt": "0\n"}


def test_no_other_mtime_changes(yard: Yard) -> None:
    """Zed rewrites all of them, and every build starts from nothing."""
    for number in range(20):
        os.utime(yard.write(f"{number}.txt", "x\n"), ns=(10**18, 10**18))
    yard.take()
    yard.write("3.txt", "agent\n")
    yard.take()
    yard.revert(yard.plan())
    changed = [p.name for p in yard.root.glob("*.txt") if p.stat().st_mtime_ns != 10**18]
    assert changed == ["3.txt"]


def test_no_link_is_followed_out_of_the_workspace(yard: Yard) -> None:
    outside = yard.folder / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("agent\n")
    yard.write("dir/a.txt", "old\n")
    yard.take()
    yard.write("dir/a.txt", "agent\n")
    yard.take()
    plan = yard.plan()
    actions = choose(plan, plan.default)
    shutil.rmtree(yard.root / "dir")
    (yard.root / "dir").symlink_to(outside)
    with pytest.raises(PathChanged):
        Restore(str(yard.root), yard.store).run(actions, "op", {})
    assert (outside / "a.txt").read_text() == "agent\n"
    assert not list(yard.root.glob(".agent-tui-*"))


def test_a_link_that_is_swapped_in_during_the_restore_is_not_followed(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = yard.folder / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("agent\n")
    yard.write("dir/a.txt", "old\n")
    yard.take()
    yard.write("dir/a.txt", "agent\n")
    yard.take()
    plan = yard.plan()
    real = os.rename

    def swap(source: str, target: str, **options: int) -> None:
        if target.endswith("restore.json"):
            real(source, target, **options)
            if (yard.root / "dir").is_symlink() or not list(yard.root.glob(".agent-tui-*/0")):
                return
            real(str(yard.root / "dir"), str(yard.root / "moved"))
            (yard.root / "dir").symlink_to(outside)
            return
        real(source, target, **options)

    monkeypatch.setattr(os, "rename", swap)
    with pytest.raises(PathChanged):
        yard.revert(plan)
    monkeypatch.undo()
    assert (outside / "a.txt").read_text() == "agent\n"
    assert yard.read("moved/a.txt") == "agent\n"
    assert not list(yard.root.glob(".agent-tui-*"))


def test_a_file_that_is_saved_just_before_the_rename_is_kept(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.write("a.txt", "one\n")
    yard.take()
    yard.write("a.txt", "agent\n")
    yard.take()
    plan, real, opened = yard.plan(), os.open, []

    def save(path: str, *arguments: int, **options: int) -> int:
        if str(path).startswith(STAGING_PREFIX):
            opened.append(path)
            if len(opened) == 2:  # first to prepare the new content, then to rename it
                yard.write("a.txt", "mine\n")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", save)
    with pytest.raises(PathChanged, match="changed while it was reverted"):
        yard.revert(plan)
    assert yard.read("a.txt") == "mine\n"


def test_a_file_that_changes_after_the_preview_stops_the_whole_revert(yard: Yard) -> None:
    for name in ("a.txt", "b.txt"):
        yard.write(name, "old\n")
    yard.take()
    for name in ("a.txt", "b.txt"):
        yard.write(name, "agent\n")
    yard.take()
    plan = yard.plan()
    yard.write("b.txt", "saved just now\n")
    with pytest.raises(PathChanged, match=r"b.txt changed since the preview"):
        Restore(str(yard.root), yard.store).run(choose(plan, plan.default), "op", {})
    assert yard.files() == {"a.txt": "agent\n", "b.txt": "saved just now\n"}


@pytest.mark.parametrize("path", ["../x", "/etc/x", ".git/config", "a/../../x", "a//b", "x/.GIT/y"])
def test_a_path_of_a_log_that_leaves_the_workspace_is_refused(yard: Yard, path: str) -> None:
    from agent_tui.core.errors import BadRecord
    from agent_tui.core.record_parsing import parse_record

    delta = [{"path": path, "old": None, "new": None}]
    with pytest.raises(BadRecord):
        parse_record(
            {"role": "_workspace", "cause": "tool_call", "status": "captured", "delta": delta}
        )
    (yard.folder / "x").write_text("outside\n")
    root = os.open(yard.root, os.O_RDONLY)
    assert status_of(root, path) is None
    os.close(root)


def test_a_damaged_content_is_never_restored(yard: Yard) -> None:
    yard.write("a.txt", "old\n")
    yard.take()
    yard.write("a.txt", "agent\n")
    (change,) = yard.take().delta
    assert change.old is not None
    Path(yard.store.path_of(change.old.hash)).write_bytes(b"bad\n")
    plan = yard.plan()
    assert not plan.paths
    assert plan.uncovered[0].why == "its content in the store is damaged"


def test_what_was_not_captured_is_named_and_nothing_is_claimed(yard: Yard) -> None:
    yard.write("a.txt", "a\n")
    yard.take()
    yard.write("a.txt", "agent\n")
    with yard.store.locked(alone=True):
        assert yard.take().status == "none"
    plan = yard.plan()
    assert any("Some changes were not captured" in notice for notice in plan.notices)
    yard.revert(plan)
    assert yard.read("a.txt") == "agent\n"


def test_a_moved_head_leaves_refs_and_index_alone(tmp_path: Path) -> None:
    yard = Yard(tmp_path / "yard", with_git=True)
    yard.write("a.txt", "one\n")
    git(yard.root, "add", "-A")
    git(yard.root, "commit", "-qm", "one")
    yard.take()
    yard.write("a.txt", "agent\n")
    yard.take()
    git(yard.root, "checkout", "-q", "-b", "other")
    git(yard.root, "commit", "-qam", "agent's")
    head = git(yard.root, "rev-parse", "HEAD")
    yard.revert(yard.plan())
    assert yard.read("a.txt") == "one\n"
    assert git(yard.root, "rev-parse", "HEAD") == head
    assert git(yard.root, "status", "--porcelain") == " M a.txt\n"


def test_a_hundred_files_come_back_and_the_store_holds_at_most_twice_what_changed(
    yard: Yard,
) -> None:
    for number in range(100):
        yard.write(f"d/{number}.txt", TEXT)
    yard.take()
    make: Callable[[int], str] = lambda number: edited(3, f"agent {number}")  # noqa: E731
    for number in range(100):
        yard.write(f"d/{number}.txt", make(number))
    yard.take()
    objects = [p for p in (yard.folder / "store" / "objects").rglob("*") if p.is_file()]
    changed = sum(len(make(number)) for number in range(100))
    assert sum(place.stat().st_size for place in objects) <= 2 * changed
    yard.revert(yard.plan())
    assert set(yard.files().values()) == {TEXT}


def test_folders_that_came_with_a_file_go_with_it_and_a_person_s_stay(yard: Yard) -> None:
    yard.write("a.txt", "a\n")
    (yard.root / "mine").mkdir()
    yard.take()
    yard.take()  # the folders are known from the second look on
    yard.write("new/deep/one.txt", "agent\n")
    yard.write("new/two.txt", "agent\n")
    yard.write("kept/three.txt", "agent\n")
    yard.write("mine/four.txt", "agent\n")
    yard.take()
    yard.write("kept/my own.txt", "mine\n")
    record = yard.revert(yard.plan())
    assert not (yard.root / "new").exists()
    assert (yard.root / "mine").is_dir()
    assert yard.files() == {"a.txt": "a\n", "kept/my own.txt": "mine\n"}
    record = yard.take_back(record)
    assert yard.read("new/deep/one.txt") == "agent\n"
    yard.take_back(record, "redo")
    assert not (yard.root / "new").exists()


def test_a_folder_that_came_before_its_file_goes_with_it(yard: Yard) -> None:
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()  # the folders are known from the second look on
    (yard.root / "made/deep").mkdir(parents=True)
    assert set(yard.take().folders) == {"made", "made/deep"}
    yard.open()  # as after a restart
    yard.take("outside")
    yard.write("made/deep/one.txt", "agent\n")
    yard.take()
    record = yard.revert(yard.plan())
    assert not (yard.root / "made").exists()
    record = yard.take_back(record)
    assert yard.read("made/deep/one.txt") == "agent\n"
    yard.take_back(record, "redo")
    assert not (yard.root / "made").exists()


def test_a_folder_that_a_person_made_stays_when_a_file_goes(yard: Yard) -> None:
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()
    for name in ("mine", "made"):
        (yard.root / name).mkdir()
        yard.take("human" if name == "mine" else "tool_call")
    (yard.root / "made").rmdir()
    yard.take("human")
    (yard.root / "made").mkdir()  # this time it is the person's
    yard.take("human")
    yard.write("mine/one.txt", "agent\n")
    yard.write("made/one.txt", "agent\n")
    yard.take()
    yard.revert(yard.plan())
    assert yard.files() == {"a.txt": "a\n"}
    assert (yard.root / "mine").is_dir()
    assert (yard.root / "made").is_dir()


def test_a_folder_that_a_person_made_stays_when_an_undo_is_taken_back(yard: Yard) -> None:
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()
    yard.write("made/one.txt", "agent\n")
    yard.take()
    record = yard.revert(yard.plan())
    assert not (yard.root / "made").exists()
    (yard.root / "made").mkdir()
    yard.take("human")
    record = yard.take_back(record)
    assert yard.read("made/one.txt") == "agent\n"
    yard.take_back(record, "redo")
    assert yard.files() == {"a.txt": "a\n"}
    assert (yard.root / "made").is_dir()


class Death(BaseException):
    """The process ends here."""


def die(*_: object) -> None:
    raise Death


def cut_off(yard: Yard, patch: pytest.MonkeyPatch) -> Restore:
    """A revert whose process ends before it removes folders."""
    restore = Restore(str(yard.root), yard.store)
    plan = yard.plan()
    with patch.context() as broken:
        broken.setattr(_Replacing, "_remove_empty", die)
        with pytest.raises(Death):
            restore.run(choose(plan, plan.default), "o1", {})
    return restore


def make_again(folder: Path) -> None:
    """What a person does to a folder that looks like the one before."""
    folder.rmdir()
    folder.mkdir()


def outcome_of(restore: Restore) -> str:
    found = restore.recover()
    return found.outcome if found else ""


@pytest.mark.parametrize("made_again", [True, False], ids=["again", "as it was"])
def test_a_folder_that_a_person_makes_after_a_crash_stays(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, made_again: bool
) -> None:
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()
    yard.write("made/one.txt", "agent\n")
    yard.take()
    restore = cut_off(yard, monkeypatch)
    assert yard.files() == {"a.txt": "a\n"}
    if made_again:
        make_again(yard.root / "made")
    assert outcome_of(restore) == "finished"
    assert (yard.root / "made").exists() == made_again


@pytest.mark.parametrize("made_again", [True, False], ids=["again", "as it was"])
def test_a_folder_that_a_person_makes_after_a_crash_of_a_rollback_stays(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, made_again: bool
) -> None:
    """The revert made it, an error took the file away again, and then the process ended."""
    yard.write("went/one.txt", "mine\n")
    yard.take()
    shutil.rmtree(yard.root / "went")
    yard.take()

    def fail(_: _Replacing) -> None:
        monkeypatch.setattr(_Replacing, "_remove_empty", die)
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(_Replacing, "_sync", fail)
        plan, restore = yard.plan(), Restore(str(yard.root), yard.store)
        with pytest.raises(Death):
            restore.run(choose(plan, plan.default), "o1", {})
    monkeypatch.undo()
    assert yard.files() == {}
    if made_again:
        make_again(yard.root / "went")
    assert outcome_of(restore) == "rolled back"
    assert (yard.root / "went").exists() == made_again


def test_a_revert_that_failed_stays_undone_where_its_folders_could_not_be_looked_at(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next start would else finish what the person was told had failed."""
    yard.write("a.txt", "before\n")
    yard.write("went/one.txt", "mine\n")
    yard.take()
    yard.write("a.txt", "agent\n")
    shutil.rmtree(yard.root / "went")
    yard.take()

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    def fail_once_replaced(_: _Replacing) -> None:
        monkeypatch.setattr(restoring, "identity_of", fail)
        monkeypatch.setattr(_Replacing, "put_back", die)
        fail()

    monkeypatch.setattr(_Replacing, "_sync", fail_once_replaced)
    plan, restore = yard.plan(), Restore(str(yard.root), yard.store)
    with pytest.raises(Death):
        restore.run(choose(plan, plan.default), "o1", {})
    monkeypatch.undo()
    found = restore.recover()
    assert found
    assert found.outcome == "rolled back"
    assert yard.files() == {"a.txt": "agent\n"}


@pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])
@pytest.mark.parametrize("with_git", [True, False], ids=["git", "plain"])
def test_a_folder_that_a_person_made_again_stays(
    tmp_path: Path, with_git: bool, restarted: bool
) -> None:
    """Between two captures it went and came: another folder has its name, maybe its inode too."""
    yard = Yard(tmp_path / "yard", with_git=with_git)
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()
    yard.write("made/one.txt", "agent\n")
    yard.take()
    shutil.rmtree(yard.root / "made")
    time.sleep(0.02)  # births are told by a clock that ticks every few milliseconds
    (yard.root / "made").mkdir()
    if restarted:
        yard.open()
    yard.take("human")
    yard.write("made/two.txt", "agent\n")
    yard.take()
    record = yard.revert(yard.plan())
    assert yard.files() == {"a.txt": "a\n"}
    assert (yard.root / "made").is_dir()
    yard.take_back(record)
    assert yard.read("made/two.txt") == "agent\n"


def make_again_around(folder: Path, name: str) -> None:
    """What a checkout to and fro does: the file is as before, in a folder that is another one."""
    aside = folder.parent / f"{folder.name}.aside"
    (folder / name).rename(aside)
    make_again(folder)
    aside.rename(folder / name)


def test_a_folder_that_a_person_makes_again_at_once_stays(yard: Yard) -> None:
    """Within one tick of the clock by which births are told, and with the same inode."""
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()
    paths = [yard.root / f"made{number}" for number in range(20)]
    for path in paths:
        yard.write(f"{path.name}/one.txt", "agent\n")
        yard.take()
        make_again_around(path, "one.txt")
        yard.take("human")
    yard.revert(yard.plan())
    assert yard.files() == {"a.txt": "a\n"}
    assert all(path.is_dir() for path in paths)


def test_a_folder_that_a_person_makes_again_before_a_capture_is_in_the_log_stays(
    yard: Yard,
) -> None:
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()
    yard.write("made/one.txt", "agent\n")
    found = yard.capture.take()
    make_again_around(yard.root / "made", "one.txt")
    time.sleep(0.02)
    yard.log(record_of_call(found))
    yard.open()  # the next run does not know which folder had the name
    yard.revert(yard.plan())
    assert yard.files() == {"a.txt": "a\n"}
    assert (yard.root / "made").is_dir()


def test_a_folder_that_a_person_makes_again_after_the_preview_stays(yard: Yard) -> None:
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()
    yard.write("made/one.txt", "agent\n")
    yard.take()
    plan = yard.plan()
    make_again_around(yard.root / "made", "one.txt")
    yard.revert(plan)
    assert yard.files() == {"a.txt": "a\n"}
    assert (yard.root / "made").is_dir()


def test_a_folder_that_a_person_makes_again_after_a_revert_made_it_stays(yard: Yard) -> None:
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()
    paths = [yard.root / f"made{number}" for number in range(10)]
    for path in paths:
        yard.write(f"{path.name}/one.txt", "agent\n")
    yard.take()
    record = yard.revert(yard.plan())
    restore = Restore(str(yard.root), yard.store)
    plan = yard.plan_back(record)
    changes = restore.run(choose(plan, plan.default), "o", {"operation": "o", "cause": "undo"})
    for path in paths:
        make_again_around(path, "one.txt")
    record = yard.log(record_of_revert(restore, changes))
    restore.finish()
    yard.take_back(record, "redo")
    assert yard.files() == {"a.txt": "a\n"}
    assert all(path.is_dir() for path in paths)


@pytest.mark.parametrize("with_git", [True, False], ids=["git", "plain"])
def test_a_folder_that_the_agent_made_again_goes(tmp_path: Path, with_git: bool) -> None:
    yard = Yard(tmp_path / "yard", with_git=with_git)
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()
    yard.write("made/one.txt", "agent\n")
    yard.take()
    shutil.rmtree(yard.root / "made")
    yard.write("made/two.txt", "agent\n")
    yard.take()
    yard.revert(yard.plan())
    assert not (yard.root / "made").exists()


def test_folders_that_git_ignores_are_not_told(tmp_path: Path) -> None:
    yard = Yard(tmp_path / "yard", with_git=True)
    yard.write(".gitignore", "generated\n")
    yard.take()
    yard.take()
    yard.write("generated/deep/one.txt", "x\n")
    (yard.root / "made").mkdir()
    assert set(yard.take().folders) == {"made"}


def test_an_empty_folder_that_goes_is_named(yard: Yard) -> None:
    (yard.root / "empty").mkdir()
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()
    (yard.root / "empty").rmdir()
    yard.write("a.txt", "agent\n")
    yard.take()
    told = [(each.path, each.why) for each in yard.plan().uncovered]
    assert told == [("empty", "it was an empty folder; it is not restored")]


def test_a_folder_that_is_not_empty_is_never_removed(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is put there at the last moment stays: a folder goes by rmdir alone."""
    yard.write("a.txt", "a\n")
    yard.take()
    yard.take()
    yard.write("new/one.txt", "agent\n")
    yard.take()
    plan, real = yard.plan(), os.rmdir

    def save(path: str, **options: int) -> None:
        if path == "new":
            yard.write("new/mine.txt", "mine\n")
        real(path, **options)

    monkeypatch.setattr(os, "rmdir", save)
    yard.revert(plan)
    assert yard.files() == {"a.txt": "a\n", "new/mine.txt": "mine\n"}
