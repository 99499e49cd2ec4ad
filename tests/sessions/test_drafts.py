"""What was typed but not sent outlives the program, and nothing else does."""

from __future__ import annotations

from pathlib import Path

from agent_tui.core.drafts import Drafts
from agent_tui.sessions.drafts import NAME, DraftFile

DRAFTS = Drafts("half a thought\nand more", ("first", "second"))


def test_drafts_are_read_as_they_were_written_and_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "project" / "session"
    folder.mkdir(parents=True)
    DraftFile(folder).write(DRAFTS)
    assert DraftFile(folder).read() == DRAFTS
    assert (folder / NAME).stat().st_mode & 0o777 == 0o600


def test_without_drafts_there_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "project" / "session"
    folder.mkdir(parents=True)
    file = DraftFile(folder)
    file.write(DRAFTS)
    file.write(Drafts())
    file.write(Drafts())
    assert list(folder.iterdir()) == []
    assert file.read() == Drafts()


def test_the_draft_of_a_session_without_a_log_is_kept_for_its_project(tmp_path: Path) -> None:
    folder = tmp_path / "project" / "session"
    DraftFile(folder).write(DRAFTS)
    assert not folder.exists()
    assert DraftFile(folder.with_name("another")).read() == DRAFTS
    folder.mkdir()
    DraftFile(folder).write(Drafts())
    assert DraftFile(folder.with_name("another")).read() == Drafts()


def test_a_file_that_holds_something_else_is_as_good_as_none(tmp_path: Path) -> None:
    nested = b"[" * 100_000
    others = b"", b"[]", b"{}", b'{"text": "a", "queued": 3}', b"\xff\xfe", b'{"text":'
    for data in (*others, nested):
        (tmp_path / NAME).write_bytes(data)
        assert DraftFile(tmp_path).read() == Drafts()
    (tmp_path / NAME).unlink()
    (tmp_path / NAME).symlink_to("/dev/zero")
    assert DraftFile(tmp_path).read() == Drafts()
