"""A hint is shown some times, and never again to one who did what it tells of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_tui.runtime.connect.learned_windows import LearnedWindows
from agent_tui.runtime.starting.hints import Hints


def test_a_hint_is_shown_three_times_from_run_to_run(tmp_path: Path) -> None:
    assert [Hints(tmp_path / "h.json").take("revert") for _ in range(5)] == [True] * 3 + [False] * 2
    assert Hints(tmp_path / "h.json").take("another")


def test_what_was_done_once_is_not_hinted_again(tmp_path: Path) -> None:
    Hints(tmp_path / "home" / "h.json").learn("revert")
    assert not Hints(tmp_path / "home" / "h.json").take("revert")


def test_a_run_that_writes_nothing_keeps_nothing(tmp_path: Path) -> None:
    hints = Hints(tmp_path / "h.json", keeps=False)
    assert hints.take("revert")
    hints.learn("revert")
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_nothing_shown(tmp_path: Path) -> None:
    for text in ("{", "[1]", '{"revert": "3", "b": true}'):
        (tmp_path / "h.json").write_text(text)
        assert Hints(tmp_path / "h.json").take("revert")


@pytest.mark.timeout(20)
def test_a_file_that_never_ends_counts_as_missing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    for name in ("pipe", "endless"):
        assert Hints(tmp_path / name, keeps=False).take("revert")
        assert LearnedWindows(tmp_path / name, keeps=False).apply("small", 9) == 9
