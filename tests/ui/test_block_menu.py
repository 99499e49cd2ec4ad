"""The menu of a block: what Enter in the conversation offers, and where it leads."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_tui.ui.blocks import (
    AssistantBlock,
    LabelBlock,
    ShellBlock,
    ToolBlock,
    UserBlock,
    plain_text,
)
from agent_tui.ui.screens.dialogs.ask_line import AskLineScreen
from agent_tui.ui.screens.dialogs.choice import ChoiceScreen
from agent_tui.ui.screens.dialogs.reader import ReaderScreen
from agent_tui.ui.screens.time.changes import ChangesScreen
from agent_tui.ui.screens.time.revert_files import RevertFilesScreen
from agent_tui.ui.screens.time.revert_preview import RevertPreviewScreen
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.prompt.prompt_box import PromptBox
from tests.ui.stage import shown
from tests.ui.test_chat_acts import Desk, desk

pytestmark = pytest.mark.slow


async def open_menu(
    here: Desk, kind: type, fits: Callable[[Any], bool] = lambda _: True
) -> list[str]:
    """Press Enter on the last block of a kind that fits; what its menu offers."""
    timeline = here.chat.timeline
    timeline.focus()
    blocks = enumerate(here.all_blocks)
    last = max(index for index, block in blocks if isinstance(block, kind) and fits(block))
    timeline.go_to_record(last)
    await here.pilot.press("enter")
    await here.until(lambda: isinstance(here.app.screen, ChoiceScreen))
    screen = here.app.screen
    assert isinstance(screen, ChoiceScreen)
    return [choice.value for choice in screen._choices]


async def choose(here: Desk, value: str) -> None:
    screen = here.app.screen
    assert isinstance(screen, ChoiceScreen)
    values = [choice.value for choice in screen._choices]
    screen.query_one(Rows).cursor = values.index(value)
    await here.pilot.press("enter")


async def test_a_prompt_is_quoted_read_reverted_to_and_labelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        await here.say("another thing")
        offered = await open_menu(here, UserBlock)
        assert offered == ["open", "copy", "quote", "view", "revert", "branch", "label"]
        await here.pilot.press("q")
        await here.until(lambda: here.chat.prompt_box.text.startswith("> another thing"))
        here.chat.prompt_box.clear()
        await open_menu(here, AssistantBlock)
        told = shown(here.app)
        assert re.search(
            r"Block · step 1: [\d.]+ s · [\d.]+k in \([\d.]+k? cached\) · \d+ out", told
        ), told
        await choose(here, "view")
        await here.until(lambda: isinstance(here.app.screen, ReaderScreen))
        await here.pilot.press("escape")
        await open_menu(here, UserBlock)
        await choose(here, "label")
        await here.until(lambda: isinstance(here.app.screen, AskLineScreen))
        await here.pilot.press("h", "e", "r", "e", "enter")
        await here.until(lambda: any(isinstance(block, LabelBlock) for block in here.shown))
        await open_menu(here, UserBlock)
        await choose(here, "revert")
        screens = RevertPreviewScreen | RevertFilesScreen
        await here.until(lambda: isinstance(here.app.screen, screens))
        await here.pilot.press("y")
        await here.until(lambda: here.prompts == ["one thing"])


async def test_of_a_long_output_the_reader_shows_more_than_the_log_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.prompt_box.post_message(PromptBox.Submitted("seq 30000", shell=True))
        await here.until(lambda: "30,000 lines" in shown(here.app))
        await here.until(lambda: not here.chat.runner.is_busy)
        await open_menu(here, ShellBlock)
        await choose(here, "view")
        await here.until(lambda: "30,002 lines" in shown(here.app))


async def test_a_branch_from_a_prompt_keeps_what_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        await here.say("another thing")
        await open_menu(here, UserBlock)
        await choose(here, "branch")
        await here.until(lambda: here.prompts == ["one thing"])
        await here.until(lambda: here.chat.prompt_box.text == "another thing")


async def test_a_call_that_changed_files_offers_to_revert_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("Fix the bug")
        offered = await open_menu(here, ToolBlock, lambda block: block.name == "edit_file")
        assert offered[-1] == "files"
        await here.pilot.press("f")
        await here.until(lambda: isinstance(here.app.screen, RevertFilesScreen))
        await here.pilot.press("y")
        status = here.chat.status
        await here.until(lambda: status.notice.endswith("reverted. Undo with Alt+U."))
        here.app.chat_screen.run_command("undo")
        await here.until(lambda: status.notice == "Undid the revert of files. Redo with Alt+R.")
        assert not any("Undo with" in plain_text(block) for block in here.shown)


async def test_the_list_of_changes_says_what_was_just_reverted_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("Fix the bug")
        here.app.chat_screen.run_command("changes")
        await here.until(lambda: "agent: edit_file" in shown(here.app))
        await here.pilot.press("u")
        await here.until(lambda: isinstance(here.app.screen, RevertFilesScreen))
        await here.pilot.press("y")
        await here.until(lambda: isinstance(here.app.screen, ChangesScreen))
        await here.until(lambda: "reverted. Undo with Esc, then Alt+U." in shown(here.app))
