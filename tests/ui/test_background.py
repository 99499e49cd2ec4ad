"""What runs in the background is listed, and stopped one by one."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Event

import pytest

from agent_tui.tools.child import Ended
from agent_tui.tools.output import BoundedOutput
from agent_tui.ui.blocks import NoticeBlock
from agent_tui.ui.screens.dialogs.choice import ChoiceScreen
from tests.ui.test_chat_acts import desk

pytestmark = pytest.mark.slow


def wait(stop: Event, _: BoundedOutput) -> Ended:
    stop.wait()
    return Ended("stopped", 0, left_children=False)


async def test_a_person_stops_one_command_and_leaves_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        assert here.chat.session is not None
        commands = here.chat.session.commands
        for title in ("serve --watch", "tail -f log"):
            commands.start(title, BoundedOutput(100), wait)
        await here.until(lambda: here.chat.status.background == 2)
        here.app.chat_screen.run_command("background", "")
        await here.until(lambda: isinstance(here.app.screen, ChoiceScreen))
        told: list[str] = []

        def tell(sentence: str) -> None:
            told.append(sentence)

        here.app.chat_screen.watch(here.chat.status, "notice", tell, init=False)
        await here.pilot.press("down", "enter")
        await here.until(lambda: commands.titles == ("serve --watch",))
        await here.until(lambda: here.chat.status.background == 1)
        await here.until(lambda: isinstance(here.app.screen, ChoiceScreen))
        await here.pilot.press("escape")
        await here.until(lambda: here.app.screen is here.app.chat_screen)
        assert told == ["Stopped tail -f log. The agent is told at its next step."]


async def test_plan_mode_names_a_command_that_still_runs_and_how_to_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        assert here.chat.session is not None
        here.chat.session.commands.start("serve --watch", BoundedOutput(100), wait)
        await here.until(lambda: here.chat.status.background == 1)

        def notices() -> list[str]:
            return [each.text for each in here.shown if isinstance(each, NoticeBlock)]

        def shows(mode: str) -> bool:
            return here.chat.status.mode == mode

        before = notices()
        for mode in ("accept-edits", "plan", "ask"):
            here.app.chat_screen.run_command("mode", mode)
            await here.until(partial(shows, mode))
        await here.until(lambda: len(notices()) > len(before))
        assert notices()[len(before) :] == [
            "Still running in the background, and may write: serve --watch. "
            "Use /background to stop it."
        ]
