"""Screens that are opened while the window is resized and anything is pressed: none dies."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.ui.commands.table import COMMANDS
from tests.ui.fumbling import OPENERS, fumble, names_for

pytestmark = pytest.mark.slow


@pytest.mark.timeout(200)
@pytest.mark.parametrize("seed", [1, 101])
async def test_no_screen_dies_and_esc_leads_back_from_each(tmp_path: Path, seed: int) -> None:
    await fumble(tmp_path, seed, names_for(seed, 3), steps=5, talks=1)


def test_every_command_that_opens_a_screen_is_tried() -> None:
    assert {each.name for each in COMMANDS if each.opens_screen} <= OPENERS.keys()
