"""What a reader opened and folded outlives the program, in a file that stays small."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.core.errors import AgentTuiError
from agent_tui.runtime.starting.folds import MOST_FOLDS, NAME, read_folds, write_folds

FOLDS = {"a": True, "b": False}


def test_folds_are_read_as_they_were_written_and_are_private(tmp_path: Path) -> None:
    write_folds(tmp_path, FOLDS)
    assert read_folds(tmp_path) == FOLDS
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600
    write_folds(tmp_path, {})
    assert list(tmp_path.iterdir()) == [], "without folds there is no file"
    assert read_folds(tmp_path) == {}


def test_of_very_many_the_newest_are_kept(tmp_path: Path) -> None:
    entries = [f"entry-{number}" for number in range(MOST_FOLDS + 5)]
    write_folds(tmp_path, dict.fromkeys(["x" * 1_000, *entries], True))
    assert list(read_folds(tmp_path)) == entries[5:]
    assert (tmp_path / NAME).stat().st_size < 100_000


def test_a_file_that_holds_something_else_is_as_good_as_none(tmp_path: Path) -> None:
    path = tmp_path / NAME
    for data in (b"", b"[]", b"3", b"\xff\xfe", b'{"a":', b"[" * 100_000, b'{"a": 1, "b": null}'):
        path.write_bytes(data)
        assert read_folds(tmp_path) == {}
    path.write_bytes(b'{"a": true, "b": "open"}')
    assert read_folds(tmp_path) == {"a": True}
    path.unlink()
    path.symlink_to("/dev/zero")
    assert read_folds(tmp_path) == {}


def test_a_session_that_was_deleted_does_not_come_back_for_it(tmp_path: Path) -> None:
    with pytest.raises(AgentTuiError):
        write_folds(tmp_path / "gone", FOLDS)
    assert not (tmp_path / "gone").exists()
