"""The session of a subagent is read from the row of the call that started it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from agent_tui.ui.blocks import ToolBlock
from agent_tui.ui.chat import ChatScreen
from agent_tui.ui.screens.time.browse import BrowseScreen
from agent_tui.ui.widgets.timeline.timeline import Timeline
from tests.ui.test_block_menu import choose, open_menu
from tests.ui.test_chat_acts import Desk, desk

pytestmark = pytest.mark.slow


def go_to_task(here: Desk) -> None:
    here.chat.timeline.focus()
    blocks = enumerate(here.all_blocks)
    tasks = [n for n, block in blocks if isinstance(block, ToolBlock) and block.name == "task"]
    here.chat.timeline.go_to_record(tasks[-1])


async def test_v_on_the_row_of_a_task_reads_the_subagents_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("Use a subagent")
        go_to_task(here)
        await here.pilot.press("v")
        await here.until(lambda: isinstance(here.app.screen, BrowseScreen))
        screen = here.app.screen
        assert isinstance(screen, BrowseScreen)
        assert screen._view.title.startswith("explorer: Survey what the tests")
        await here.pilot.press("escape")
        await here.until(lambda: here.app.screen is here.app.chat_screen)
        offered = await open_menu(here, ToolBlock, lambda block: block.name == "task")
        assert "subagent" in offered
        await choose(here, "subagent")
        await here.until(lambda: isinstance(here.app.screen, BrowseScreen))


async def test_the_menu_of_another_call_names_no_subagent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("Fix the bug")
        assert "subagent" not in await open_menu(here, ToolBlock)


def test_the_conversation_hears_of_every_row_that_leads_elsewhere() -> None:
    for marker in get_args(Timeline.Marker):
        assert hasattr(ChatScreen, marker.handler_name), marker
