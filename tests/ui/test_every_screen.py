"""Screens that are opened while the window is resized and anything is pressed: none dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from agent_tui.ui.commands.table import COMMANDS
from tests.ui.fumbling import OPENERS, fumble, names_for
from tests.ui.test_chat_acts import Desk

pytestmark = pytest.mark.slow


@pytest.mark.timeout(200)
@pytest.mark.parametrize("seed", [1, 101])
async def test_no_screen_dies_and_esc_leads_back_from_each(tmp_path: Path, seed: int) -> None:
    await fumble(tmp_path, seed, names_for(seed, 3), steps=5, talks=1)


def test_every_command_that_opens_a_screen_is_tried() -> None:
    assert {each.name for each in COMMANDS if each.opens_screen} <= OPENERS.keys()


async def test_a_program_that_is_told_to_end_meanwhile_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def end(here: Desk) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await here.until(lambda: here.app._exit)

    monkeypatch.setitem(OPENERS, "end", end)
    with pytest.raises(AssertionError, match="the program has ended"):
        await fumble(tmp_path, 1, ["end"], steps=0, talks=0)
