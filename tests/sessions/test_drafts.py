"""What was typed but not sent outlives the program, and nothing else does."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from agent_tui.core.drafts import Drafts
from agent_tui.sessions.drafts import NAME, DraftFile

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


def test_the_draft_of_a_window_that_is_open_stays_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "project" / "session"
    folder.mkdir(parents=True)
    DraftFile(folder).write(DRAFTS, is_new=True)
    early = folder.parent / NAME
    fields = json.loads(early.read_text())
    early.write_text(json.dumps(fields | {"pid": os.getppid()}))
    assert DraftFile(folder.with_name("another")).read(is_new=True) == Drafts()
    gone = subprocess.Popen(["true"])
    gone.wait()
    early.write_text(json.dumps(fields | {"pid": gone.pid}))
    assert DraftFile(folder.with_name("another")).read(is_new=True) == DRAFTS
    assert json.loads(early.read_text())["pid"] == os.getpid(), "from here on it is this one's"
    early.write_text(json.dumps(fields | {"pid": 10**30}))
    assert DraftFile(folder.with_name("another")).read(is_new=True) == DRAFTS, "no process at all"


def test_a_file_that_holds_something_else_is_as_good_as_none(tmp_path: Path) -> None:
    nested = b"[" * 100_000
    others = b"", b"[]", b"{}", b'{"text": "a", "queued": 3}', b"\xff\xfe", b'{"text":'
    for data in (*others, nested):
        (tmp_path / NAME).write_bytes(data)
        assert DraftFile(tmp_path).read(is_new=True) == Drafts()
    (tmp_path / NAME).unlink()
    (tmp_path / NAME).symlink_to("/dev/zero")
    assert DraftFile(tmp_path).read(is_new=True) == Drafts()
