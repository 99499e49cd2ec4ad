"""Choosing from a long list: found by letters, cleaned, and left with Esc."""

from __future__ import annotations

import pytest

from agent_tui.ui.screens.dialogs.picker import Pick, PickerScreen, find_picks
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.prompt.line_input import LineInput
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


async def test_the_bar_of_the_chosen_row_is_as_wide_as_the_field_above_it() -> None:
    app = Stage(screen=PickerScreen("Model", PICKS))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        rows, field = app.screen.query_one(Rows), app.screen.query_one(LineInput)
        assert rows.scrollable_content_region.width == field.content_region.width
        frame = next(line for line in app.text.splitlines() if "Model" in line)
        chosen = next(line for line in app.text.splitlines() if "\u276f" in line)
        assert frame.index("Model") == chosen.index("\u276f")
