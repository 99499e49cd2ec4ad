"""The empty conversation says where it is and what to do next; keys and the mouse choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.ui.blocks import NoticeBlock
from agent_tui.ui.widgets.panes.welcome import Suggestion, Welcome
from tests.ui.stage import Stage, shown
from tests.ui.test_chat_acts import desk

LAST = Suggestion("Continue “Fix the bug”", "sessions", "20260321-120000-abcdef", "2h ago")
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


class Host(Stage):
    """Keeps what the welcome suggested."""

    def __init__(self, welcome: Welcome) -> None:
        super().__init__([welcome])
        self.chosen: list[str] = []

    def on_welcome_suggested(self, event: Welcome.Suggested) -> None:
        self.chosen.append(event.text)


def stage_of(welcome: Welcome) -> Host:
    """A welcome that fills the screen."""
    welcome.styles.height = "1fr"
    return Host(welcome)


async def test_what_is_chosen_before_it_is_there_is_not_lost() -> None:
    async with (stage := stage_of(welcome := Welcome(waits=True))).run_test(size=(80, 24)) as pilot:
        welcome.move(1)
        welcome.move(1)
        assert welcome.choose()
        await pilot.pause()
        assert stage.chosen == []
        welcome.suggestions = ("first", "second")
        await pilot.pause()
        assert stage.chosen == ["second"]


@pytest.mark.parametrize("row", range(5))
async def test_the_cursor_stays_on_what_was_chosen_when_others_come(row: int) -> None:
    """Prompts of the project come where three for any project stood, above the commands."""
    async with stage_of(welcome := Welcome()).run_test(size=(80, 24)) as pilot:
        welcome.last = LAST
        welcome.move(row + 1)
        chosen = welcome.offered[welcome.cursor]
        welcome.suggestions = (*(f"Prompt {number}" for number in range(5)), chosen.text)
        await pilot.pause()
        assert welcome.offered[welcome.cursor].text == chosen.text
        (line,) = (line for line in welcome.render().plain.split("\n") if "\u276f" in line)
        assert chosen.text in line


async def test_enter_does_nothing_once_what_was_chosen_is_not_offered() -> None:
    async with (stage := stage_of(welcome := Welcome())).run_test(size=(80, 24)) as pilot:
        welcome.move(1)
        welcome.suggestions = ("Another",)
        await pilot.pause()
        assert welcome.cursor == -1
        assert not welcome.take_key("enter")
        await pilot.pause()
        assert stage.chosen == []


async def test_a_low_window_keeps_what_was_chosen_for_when_there_is_room() -> None:
    async with stage_of(welcome := Welcome()).run_test(size=(80, 24)) as pilot:
        welcome.suggestions = tuple(f"Suggestion {number}" for number in range(6))
        welcome.move(5)
        await pilot.resize_terminal(80, 7)
        await pilot.pause()
        assert not welcome.choose()
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert welcome.offered[welcome.cursor].text == "Suggestion 4"


async def test_an_early_enter_on_a_row_to_which_nothing_comes_does_nothing() -> None:
    async with (stage := stage_of(welcome := Welcome(waits=True))).run_test(size=(80, 24)) as pilot:
        welcome.move(4)
        assert welcome.choose()
        welcome.suggestions = ("first", "second")
        await pilot.pause()
        assert stage.chosen == []
        assert welcome.cursor == -1


async def test_an_early_enter_is_forgotten_once_something_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.until(lambda: bool(here.chat.welcome.suggestions))
        welcome, offered = here.chat.welcome, here.chat.welcome.suggestions
        welcome.suggestions = ()  # as before they are read
        await here.pilot.press("down", "enter", *"hm")
        welcome.suggestions = offered
        await here.pilot.pause()
        assert not here.chat.runner.is_busy
        assert here.chat.prompt_box.text == "hm"
        assert here.prompts == []


async def test_arrows_and_enter_choose_a_suggestion_which_joins_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.until(lambda: bool(here.chat.welcome.suggestions))  # behind the session
        chosen = here.chat.welcome.offered[1].text
        await here.pilot.press("enter")
        assert not here.chat.runner.is_busy
        await here.pilot.press("down", "down", "enter")
        await here.until(lambda: here.prompts == [chosen])
        await here.until(lambda: not here.chat.runner.is_busy)
        await here.pilot.press("up")
        assert here.chat.prompt_box.text == chosen


async def test_the_hints_say_that_enter_takes_what_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.until(lambda: bool(here.chat.welcome.suggestions))
        await here.until(lambda: "Enter send ·" in shown(here.app))
        await here.pilot.press("down")
        await here.until(lambda: "↑↓ choose · Enter select" in shown(here.app))
        await here.pilot.press("h")  # from here on Enter sends what is typed
        await here.until(lambda: "Enter send ·" in shown(here.app))
        await here.pilot.press("backspace")
        await here.until(lambda: "↑↓ choose · Enter select" in shown(here.app))
        await here.pilot.press("up")
        await here.until(lambda: "Enter send ·" in shown(here.app))


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


async def test_nothing_moves_when_the_last_session_is_found() -> None:
    welcome = Welcome()
    welcome.styles.height = "1fr"
    async with Stage([welcome]).run_test(size=(80, 24)) as _:
        welcome.place = "~/code/tidewatch"
        welcome.move(6)
        before = welcome.render().plain.split("\n")
        chosen = welcome.offered[welcome.cursor]
        welcome.last = LAST
        after = welcome.render().plain.split("\n")
        assert welcome.offered[welcome.cursor] == chosen
        changed = [new for old, new in zip(before, after, strict=True) if old != new]
        assert [" ".join(line.split()) for line in changed] == ["Continue “Fix the bug” 2h ago"]


async def test_the_cursor_passes_over_the_row_that_waits_for_the_last_session() -> None:
    welcome = Welcome()
    welcome.styles.height = "1fr"
    async with Stage([welcome]).run_test(size=(80, 24)) as pilot:
        seen = []
        for _ in range(8):
            welcome.move(1)
            seen.append(welcome.offered[welcome.cursor].text)
        assert "" not in seen
        assert seen[2:5] == [
            welcome.offered[2].text,
            "Browse all sessions",
            "Connect a model",
        ]
        for _ in range(3):
            welcome.move(-1)
        assert welcome.offered[welcome.cursor] == welcome.offered[2]
        row = next(
            y for y, line in enumerate(welcome.render().plain.split("\n")) if "Browse" in line
        )
        await pilot.hover(welcome, offset=(40, row - 1))
        assert welcome.offered[welcome.cursor] == welcome.offered[2]


@pytest.mark.parametrize("height", [8, 6, 5])
async def test_in_a_low_window_prompts_give_way_to_the_commands(height: int) -> None:
    welcome = Welcome()
    welcome.styles.height = "1fr"
    async with (app := Stage([welcome])).run_test(size=(40, height)) as pilot:
        welcome.suggestions = tuple(f"Suggestion {number}" for number in range(6))
        welcome.last = LAST
        await pilot.pause()
        assert "Suggestion 0" in app.text
        assert "Continue" in app.text
        assert "Keys and commands" in app.text


async def test_nothing_of_it_stands_beside_what_is_open_over_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A popup would cut the wordmark in two."""
    async with desk(tmp_path, monkeypatch) as here:
        await here.until(lambda: "Browse all sessions" in shown(here.app))
        await here.pilot.press("ctrl+p")
        await here.until(lambda: "Search commands" in shown(here.app))
        await here.until(lambda: "Browse all sessions" not in shown(here.app))
        await here.pilot.press("escape")
        await here.until(lambda: "Browse all sessions" in shown(here.app))


async def test_a_warning_leaves_the_welcome_and_stands_in_the_conversation_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the one about a model that was chosen from a server's list, at the first start."""
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.notices.warning("Using my-own, first of 2 listed. You can choose another model.")
        told = "Using my-own, first of 2 listed. You can choose another model (/model)."
        await here.until(lambda: told in shown(here.app))
        assert "Browse all sessions" in shown(here.app)
        assert told in [each.text for each in here.shown if isinstance(each, NoticeBlock)]
        here.chat.prompts.send("one thing")
        await here.until(lambda: "Browse all sessions" not in shown(here.app))
        assert here.chat.status.notice != told
        await here.until(lambda: not here.chat.runner.is_busy)
