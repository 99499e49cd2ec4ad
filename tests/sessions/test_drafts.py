"""What was typed but not sent outlives the program, and nothing else does."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from agent_tui.core.drafts import Drafts
from agent_tui.sessions.drafts import EARLY_NAME, NAME, DraftFile

DRAFTS = Drafts("half a thought\nand more", ("first", "second"))


def test_drafts_are_read_as_they_were_written_and_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "project" / "session"
    folder.mkdir(parents=True)
    DraftFile(folder).write(DRAFTS, is_new=False)
    assert DraftFile(folder).read(is_new=False) == DRAFTS
    assert (folder / NAME).stat().st_mode & 0o777 == 0o600


def test_without_drafts_there_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "project" / "session"
    folder.mkdir(parents=True)
    file = DraftFile(folder)
    for is_new in (True, False):
        file.write(DRAFTS, is_new=is_new)
        file.write(Drafts(), is_new=is_new)
        file.write(Drafts(), is_new=is_new)
    assert list(folder.iterdir()) == []
    assert list(folder.parent.iterdir()) == [folder]
    assert file.read(is_new=True) == Drafts()


def test_the_draft_of_a_session_in_which_nothing_was_said_is_kept_for_its_project(
    tmp_path: Path,
) -> None:
    """Its folder goes with the window, or stays behind a crash where nobody looks."""
    folder = tmp_path / "project" / "session"
    folder.mkdir(parents=True)
    another = folder.with_name("another")
    first = DraftFile(folder)
    first.write(DRAFTS, is_new=True)
    assert list(folder.iterdir()) == []
    second = DraftFile(another)
    assert second.read(is_new=False) == Drafts()
    assert second.read(is_new=True) == DRAFTS
    another.mkdir()
    second.write(Drafts(), is_new=False)
    assert DraftFile(another).read(is_new=True) == Drafts()


def test_a_session_that_goes_on_leaves_the_draft_of_a_new_one_alone(tmp_path: Path) -> None:
    old, new = tmp_path / "project" / "old", tmp_path / "project" / "new"
    old.mkdir(parents=True)
    DraftFile(new).write(DRAFTS, is_new=True)
    DraftFile(old).write(Drafts("another"), is_new=False)
    assert DraftFile(new).read(is_new=True) == DRAFTS


def _as_of(pid: int, folder: Path) -> Path:
    """Has the drafts that this process wrote for a project be those of another one."""
    mine, other = (folder.parent / EARLY_NAME.format(each) for each in (os.getpid(), pid))
    fields = json.loads(mine.read_text())
    mine.unlink()
    other.write_text(json.dumps(fields | {"pid": pid}))
    return other


def _gone() -> int:
    gone = subprocess.Popen(["true"])
    gone.wait()
    return gone.pid


def test_the_draft_of_a_window_that_is_open_stays_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "project" / "session"
    folder.mkdir(parents=True)
    another = DraftFile(folder.with_name("another"))
    DraftFile(folder).write(DRAFTS, is_new=True)
    open_one = _as_of(os.getppid(), folder)
    assert another.read(is_new=True) == Drafts()
    another.write(Drafts("mine"), is_new=True)
    another.write(Drafts(), is_new=False)
    assert open_one.exists(), "no other window writes over it, or forgets it"
    for pid in (_gone(), 10**30):
        DraftFile(folder).write(DRAFTS, is_new=True)
        left = _as_of(pid, folder)
        assert another.read(is_new=True) == DRAFTS
        assert not left.exists(), "from here on it is this one's"
        another.write(Drafts(), is_new=True)
    assert [each.name for each in folder.parent.glob("*.json")] == [open_one.name]


def test_what_two_windows_left_behind_comes_back_in_two(tmp_path: Path) -> None:
    """The one as an earlier version kept it."""
    folder = tmp_path / "project" / "session"
    for text, name in (("one", NAME), ("two", EARLY_NAME.format(7))):
        DraftFile(folder).write(Drafts(text), is_new=True)
        _as_of(_gone(), folder).rename(folder.with_name(name))
    first, second = DraftFile(folder), DraftFile(folder.with_name("another"))
    came = {first.read(is_new=True).text}
    first.write(Drafts(), is_new=False)
    came.add(second.read(is_new=True).text)
    assert came == {"one", "two"}


def test_a_file_that_holds_something_else_is_as_good_as_none(tmp_path: Path) -> None:
    nested = b"[" * 100_000
    others = b"", b"[]", b"{}", b'{"text": "a", "queued": 3}', b"\xff\xfe", b'{"text":'
    for data in (*others, nested):
        (tmp_path / NAME).write_bytes(data)
        assert DraftFile(tmp_path).read(is_new=True) == Drafts()
    (tmp_path / NAME).unlink()
    (tmp_path / NAME).symlink_to("/dev/zero")
    assert DraftFile(tmp_path).read(is_new=True) == Drafts()
