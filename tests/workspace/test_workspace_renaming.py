"""What a person saves in the very moment of a revert is kept, whatever the system can do."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_tui.workspace import renaming
from agent_tui.workspace.errors import PathChanged
from agent_tui.workspace.plan import choose
from agent_tui.workspace.restore import Restore
from tests.faults.shim import Died
from tests.workspace.yard import Yard

pytestmark = pytest.mark.skipif(
    renaming._library() is None, reason="this system has no renameat2; it is not used then"
)


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return edited(tmp_path)


def edited(folder: Path) -> Yard:
    """The agent edited a.txt and deleted b.txt."""
    yard = Yard(folder / "yard")
    yard.write("a.txt", "old\n")
    yard.write("b.txt", "old\n")
    yard.take()
    yard.write("a.txt", "agent\n")
    (yard.root / "b.txt").unlink()
    yard.take()
    return yard


def revert(yard: Yard) -> None:
    plan = yard.plan()
    Restore(str(yard.root), yard.store).run(choose(plan, plan.default), "op", {"operation": "op"})


def revert_until_death(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, die: Callable[[int, str, int, str, int], int]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(renaming, "rename_at", die)
        with pytest.raises(Died):
            revert(yard)


def left_by_recovery(yard: Yard, phase: str) -> tuple[str, ...]:
    """What the next start leaves as it is, after a death in that phase."""
    journal = Path(yard.store.journal_path)
    journal.write_text(journal.read_text().replace('"commit"', f'"{phase}"'))
    restore = Restore(str(yard.root), yard.store)
    found = restore.recover()
    restore.finish()
    assert found is not None
    return found.left


def before_each(patch: pytest.MonkeyPatch, act: Callable[[str, int], None]) -> None:
    """Do something just before a name is renamed, and after everything was compared."""
    real = renaming.rename_at

    def rename_at(source: int, old: str, target: int, new: str, flags: int) -> int:
        act(new, flags)
        return real(source, old, target, new, flags)

    patch.setattr(renaming, "rename_at", rename_at)


def test_a_file_that_is_saved_in_the_last_moment_is_kept(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[str] = []

    def save(name: str, _flags: int) -> None:
        if name == "a.txt" and not saved:
            saved.append(name)
            yard.write("mine", "mine\n").rename(yard.root / name)

    before_each(monkeypatch, save)
    with pytest.raises(PathChanged, match=r"a.txt changed while it was reverted"):
        revert(yard)
    assert yard.files() == {"a.txt": "mine\n"}
    assert not list(yard.root.glob(".agent-tui-*"))


def test_a_file_that_is_created_in_the_last_moment_is_kept(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create(name: str, flags: int) -> None:
        if name == "b.txt" and flags == renaming._NOREPLACE:
            yard.write(name, "mine\n")

    before_each(monkeypatch, create)
    with pytest.raises(PathChanged, match=r"b.txt changed while it was reverted"):
        revert(yard)
    assert yard.files() == {"a.txt": "agent\n", "b.txt": "mine\n"}


@pytest.mark.parametrize("in_place", [False, True], ids=["renamed", "in place"])
@pytest.mark.parametrize("saves", [2, 3, 4])
def test_of_several_saves_in_the_last_moment_the_last_one_stays(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, saves: int, in_place: bool
) -> None:
    """One before the names are exchanged, one before each time they are exchanged back."""
    saved: list[str] = []

    def save(name: str, _flags: int) -> None:
        if name == "a.txt" and len(saved) < saves:
            saved.append(f"mine {len(saved)}\n")
            if in_place:
                yard.write(name, saved[-1])
            else:
                yard.write("mine", saved[-1]).rename(yard.root / name)

    before_each(monkeypatch, save)
    with pytest.raises(PathChanged, match=r"a.txt changed while it was reverted"):
        revert(yard)
    assert len(saved) == saves
    assert yard.files() == {"a.txt": saved[-1]}
    assert not list(yard.root.glob(".agent-tui-*"))


def test_a_file_that_is_deleted_after_it_was_saved_in_the_last_moment_is_gone(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    acts: list[str] = []

    def act(name: str, _flags: int) -> None:
        if name == "a.txt" and not acts:
            acts.append("saved")
            yard.write("mine", "mine\n").rename(yard.root / name)
        elif name == "a.txt" and len(acts) == 1:
            acts.append("deleted")
            (yard.root / name).unlink()

    before_each(monkeypatch, act)
    with pytest.raises(PathChanged, match=r"a.txt changed while it was reverted"):
        revert(yard)
    assert acts == ["saved", "deleted"]
    assert yard.files() == {}
    assert not list(yard.root.glob(".agent-tui-*"))


@pytest.mark.parametrize("phase", ["commit", "rollback"])
def test_a_death_between_two_saves_in_the_last_moment_keeps_both(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    """Which of them is newer can no longer be told."""
    real = renaming.rename_at
    saves: list[str] = []

    def die(source: int, old: str, target: int, new: str, flags: int) -> int:
        if new != "a.txt":
            return real(source, old, target, new, flags)
        saves.append(f"mine {len(saves)}\n")
        yard.write("mine", saves[-1]).rename(yard.root / new)
        assert real(source, old, target, new, flags) == 0
        if len(saves) == 2:
            raise Died
        return 0

    revert_until_death(yard, monkeypatch, die)
    assert left_by_recovery(yard, phase) == ("a.txt", "a.txt.saved-1")
    assert {yard.read("a.txt"), yard.read("a.txt.saved-1")} == {"mine 0\n", "mine 1\n"}
    assert not list(yard.root.glob(".agent-tui-*"))


@pytest.mark.parametrize("phase", ["commit", "rollback"])
def test_a_death_just_after_the_exchange_loses_nothing_that_was_saved(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    real = renaming.rename_at

    def die(source: int, old: str, target: int, new: str, flags: int) -> int:
        if new != "a.txt":
            return real(source, old, target, new, flags)
        yard.write("mine", "mine\n").rename(yard.root / new)
        assert real(source, old, target, new, flags) == 0
        raise Died

    revert_until_death(yard, monkeypatch, die)
    assert yard.files()["a.txt"] == "old\n"
    assert left_by_recovery(yard, phase) == ("a.txt",)
    assert yard.read("a.txt") == "mine\n"
    assert not list(yard.root.glob(".agent-tui-*"))


def created(folder: Path) -> Yard:
    """The agent created new.txt in a folder of its own."""
    yard = Yard(folder / "yard")
    yard.write("a.txt", "old\n")
    yard.take()
    yard.write("made/new.txt", "agent\n")
    yard.take()
    return yard


def test_a_file_that_is_saved_just_before_it_is_deleted_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = created(tmp_path)
    real = renaming.rename_at
    saved: list[Path] = []

    def rename_at(source: int, old: str, target: int, new: str, flags: int) -> int:
        if old == "new.txt" and not saved:
            saved.append(yard.write("made/new.txt", "mine\n"))
        return real(source, old, target, new, flags)

    monkeypatch.setattr(renaming, "rename_at", rename_at)
    with pytest.raises(PathChanged, match=r"made/new.txt changed while it was reverted"):
        revert(yard)
    assert saved
    assert yard.files() == {"a.txt": "old\n", "made/new.txt": "mine\n"}
    assert not list(yard.root.glob(".agent-tui-*"))


@pytest.mark.parametrize("phase", ["commit", "rollback"])
def test_a_death_in_the_middle_of_a_deletion_loses_nothing_that_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    yard = created(tmp_path)
    real = renaming.rename_at

    def die(source: int, old: str, target: int, new: str, flags: int) -> int:
        yard.write("made/new.txt", "mine\n")
        assert real(source, old, target, new, flags) == 0
        raise Died

    revert_until_death(yard, monkeypatch, die)
    assert not (yard.root / "made/new.txt").exists()
    assert left_by_recovery(yard, phase) == ("made/new.txt",)
    assert yard.read("made/new.txt") == "mine\n"
    assert not list(yard.root.glob(".agent-tui-*"))


def test_where_names_cannot_be_exchanged_a_rename_does(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renaming, "rename_at", lambda *_: errno.EINVAL)
    revert(yard)
    assert yard.files() == {"a.txt": "old\n", "b.txt": "old\n"}
