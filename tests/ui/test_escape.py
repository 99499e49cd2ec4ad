"""Esc from rest: one that closed something is not the first of the two that go back in time."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.ui.conversation import second_press
from agent_tui.ui.conversation.second_press import SecondPress
from agent_tui.ui.screens.dialogs.help import HelpScreen
from agent_tui.ui.screens.dialogs.palette import PaletteScreen
from agent_tui.ui.screens.dialogs.reader import ReaderScreen
from agent_tui.ui.screens.time.checkpoints import CheckpointsScreen
from agent_tui.ui.widgets.bars.key_hints import KeyHints
from agent_tui.ui.widgets.lists.definitions import Definitions
from agent_tui.ui.widgets.prompt.find_bar import FindBar
from tests.ui.test_chat_acts import Desk, desk
from tests.waiting import settle

pytestmark = pytest.mark.slow


class Watch:
    """A stopwatch that a test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def monotonic(self) -> float:
        """What it shows."""
        return self.seconds


@pytest.fixture(autouse=True)
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """The only time that passes between two presses is what a test lets pass."""
    watch = Watch()
    monkeypatch.setattr(second_press, "time", watch)
    return watch


def test_a_press_that_did_something_else_begins_no_pair(watch: Watch) -> None:
    key = SecondPress(1.0)
    assert [key.press(), key.press(), key.press()] == [False, True, False]
    key.use()
    for _ in range(4):
        watch.seconds += 0.9
        assert not key.press(), "each follows at once on the one before it"
    watch.seconds += 1.1
    assert [key.press(), key.press()] == [False, True]


async def at_rest(here: Desk) -> bool:
    """Whether Esc, however often, stayed in the conversation with the keys in the prompt."""
    await here.until(lambda: not here.app._typed and here.app._follower is None)
    await settle(here.pilot)
    return here.app.screen is here.app.chat_screen and here.chat.prompt_box.is_writing


async def test_many_esc_lead_out_of_nested_things_and_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        await here.pilot.press("f1")
        await here.until(lambda: isinstance(here.app.screen, HelpScreen))
        await here.pilot.press(*["escape"] * 3)
        assert await at_rest(here)
        here.chat.timeline.focus()
        await here.pilot.press("up", "v")
        await here.until(lambda: isinstance(here.app.screen, ReaderScreen))
        await here.pilot.press(*["escape"] * 3)
        assert await at_rest(here)


async def test_esc_closes_the_line_that_finds_though_the_keys_left_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        await here.pilot.press("ctrl+f")
        await here.until(lambda: bool(here.app.screen.query(FindBar)))
        bar = here.app.screen.query_one(FindBar)
        await here.until(lambda: here.app.focused in bar.children)
        await here.pilot.press("tab")
        await here.until(lambda: here.chat.prompt_box.is_writing)
        assert bar.display
        await here.pilot.press("escape")
        await here.until(lambda: not bar.display)
        await here.pilot.press("escape", "escape")
        assert await at_rest(here)


async def test_ctrl_c_says_what_the_next_one_does_wherever_it_is_pressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.pilot.press("f1")
        await here.until(lambda: isinstance(here.app.screen, HelpScreen))
        await here.pilot.press("ctrl+c")
        hints = here.app.screen.query_one(KeyHints)
        await here.until(lambda: "Press Ctrl+C again" in str(hints.render()))
        watch.seconds += 5
        await here.pilot.press("escape", "ctrl+p")
        await here.until(lambda: isinstance(here.app.screen, PaletteScreen))
        await here.pilot.press("ctrl+c")
        await here.until(lambda: "Press Ctrl+C again" in here.chat.status.notice)


async def test_help_tells_first_the_keys_of_what_has_the_focus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        for focus, first, second in (
            (here.chat.prompt_box.focus, "While writing", "In the conversation"),
            (here.chat.timeline.focus, "In the conversation", "While writing"),
        ):
            focus()
            await here.pilot.press("f1")
            await here.until(lambda: isinstance(here.app.screen, HelpScreen))
            keys = here.app.screen.query_one("#help-keys", Definitions)
            told = str(keys.render())
            assert told.index(first) < told.index(second)
            for key in ("\u2193, j", "[", "Home, g", "End, G", "Space"):
                assert key in told
            await here.pilot.press("escape")
            await here.until(lambda: here.app.screen is here.app.chat_screen)


async def test_two_esc_from_rest_go_back_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        watch.seconds += 5
        here.chat.prompt_box.focus()
        await settle(here.pilot)
        await here.pilot.press("escape", "escape")
        await here.until(lambda: isinstance(here.app.screen, CheckpointsScreen))


async def test_esc_that_leaves_the_search_of_prompts_or_vims_typing_begins_no_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        watch.seconds += 5
        here.chat.prompt_box.focus()
        await here.pilot.press("ctrl+r", *["escape"] * 3)
        assert await at_rest(here)
        watch.seconds += 5
        here.chat.prompt_box.use_vim()
        await here.pilot.press(*["escape"] * 3)
        assert await at_rest(here)
