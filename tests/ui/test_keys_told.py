"""F1 tells the keys of whatever is open, and closes what it opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.keys import KeysScreen
from tests.ui.stage import Stage
from tests.ui.test_chat_acts import desk
from tests.ui.test_frames import SCREENS
from tests.waiting import settle

TOLD = {
    "palette": "Back",
    "confirm": "y          Yes",
    "choice": "Back",
    "question": "1-3        Answer",
    "revert": "PgUp       Page up",
    "command": "1, y       Allow once",
    "diff": "Esc        Reject",
}


class Desk(Stage):
    """Shows the keys of a popup, as the program does."""

    def on_popup_keys_wanted(self) -> None:
        self.push_screen(KeysScreen(self.screen))


@pytest.mark.parametrize("name", TOLD)
async def test_the_keys_of_what_is_open_are_told(name: str) -> None:
    async with (app := Desk()).run_test(size=(100, 40)) as pilot:
        await app.push_screen(screen := SCREENS[name](app))
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        assert isinstance(app.screen, KeysScreen)
        told = " ".join(app.text.split())
        assert " ".join(TOLD[name].split()) in told
        await pilot.press("f1")
        await settle(pilot)
        assert app.screen is screen


async def test_the_program_shows_the_keys_of_a_popup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.app.push_screen(ConfirmScreen("Clear?", "All of it.", "Clear"))
        await here.pilot.press("f1")
        await here.until(lambda: isinstance(here.app.screen, KeysScreen))
