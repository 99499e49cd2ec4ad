"""Choosing from a long list: found by letters, cleaned, and left with Esc."""

from __future__ import annotations

import pytest

from agent_tui.ui.screens.dialogs.picker import Pick, PickerScreen, find_picks
from tests.ui.stage import Stage

PICKS = [Pick(name, name, f"note of {name}") for name in ("gpt-5-mini", "qwen3:8b", "gpt-oss:20b")]


def test_letters_in_their_order_find_picks_and_the_closest_is_first() -> None:
    assert [pick.value for pick in find_picks(PICKS, "gpt")] == ["gpt-5-mini", "gpt-oss:20b"]
    assert [pick.value for pick in find_picks(PICKS, "oss")][0:1] == ["gpt-oss:20b"]
    assert find_picks(PICKS, "zzz") == []


@pytest.mark.parametrize(
    ("keys", "taken"),
    [
        (("enter",), "qwen3:8b"),
        (("down", "enter"), "gpt-oss:20b"),
        (("down", "down", "enter"), "gpt-5-mini"),
        ((*"mini", "enter"), "gpt-5-mini"),
        (("escape",), None),
        ((*"zzz", "enter", "escape"), None),
    ],
    ids=str,
)
async def test_a_pick_is_taken(keys: tuple[str, ...], taken: str | None) -> None:
    app = Stage(screen=PickerScreen("Model", PICKS, "qwen3:8b"))
    async with app.run_test() as pilot:
        await pilot.press(*keys)
        await pilot.pause()
    assert app.results == [taken]
