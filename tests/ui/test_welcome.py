"""The empty conversation says where it is and what to do next; keys and the mouse choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.ui.widgets.panes.welcome import Welcome
from tests.ui.stage import Stage
from tests.ui.test_chat_acts import desk

SIZES = [(40, 12), (80, 24), (120, 40), (200, 60), (20, 6)]


@pytest.mark.parametrize("size", SIZES)
async def test_everything_stands_inside_at_any_size(size: tuple[int, int]) -> None:
    welcome = Welcome()
    welcome.styles.height = "1fr"
    async with (app := Stage([welcome])).run_test(size=size) as _:
        welcome.place, welcome.model = "~/code/tidewatch · main", "gpt-5-mini"
        lines = welcome.render().plain.split("\n")
        assert len(lines) <= size[1]
        assert max(map(len, lines)) <= size[0]
        assert "Keys and commands" in app.text or size[1] < 12


async def test_nothing_moves_when_suggestions_come() -> None:
    welcome = Welcome(waits=True)
    welcome.styles.height = "1fr"
    async with Stage([welcome]).run_test(size=(80, 24)) as _:
        welcome.place, welcome.model = "~/code/tidewatch", "gpt-5-mini"
        before = welcome.render().plain.split("\n")
        welcome.suggestions = tuple(f"Suggestion {number}" for number in range(6))
        after = welcome.render().plain.split("\n")
        assert len(before) == len(after)
        assert all(old == new for old, new in zip(before, after, strict=True) if old.strip())


async def test_what_is_chosen_before_it_is_there_is_not_lost() -> None:
    welcome = Welcome(waits=True)
    welcome.styles.height = "1fr"
    chosen: list[str] = []

    class Host(Stage):
        def on_welcome_suggested(self, event: Welcome.Suggested) -> None:
            chosen.append(event.text)

    async with Host([welcome]).run_test(size=(80, 24)) as pilot:
        welcome.move(2)
        assert welcome.choose()
        await pilot.pause()
        assert chosen == []
        welcome.suggestions = ("first", "second")
        await pilot.pause()
        assert chosen == ["second"]


async def test_arrows_and_enter_choose_a_suggestion_which_joins_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        chosen = here.chat.welcome.offered[1].text
        await here.pilot.press("enter")
        assert not here.chat.runner.is_busy
        await here.pilot.press("down", "down", "enter")
        await here.until(lambda: here.prompts == [chosen])
        await here.until(lambda: not here.chat.runner.is_busy)
        await here.pilot.press("up")
        assert here.chat.prompt_box.text == chosen


async def test_a_click_chooses_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        welcome = here.chat.welcome
        row = next(
            y
            for y, line in enumerate(welcome.render().plain.split("\n"))
            if "Keys and commands" in line
        )
        await here.pilot.click(welcome, offset=(welcome.size.width // 2, row))
        await here.until(lambda: type(here.app.screen).__name__ == "HelpScreen")
