"""A hint is shown some times, and never again to one who did what it tells of."""

from __future__ import annotations

from pathlib import Path

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
