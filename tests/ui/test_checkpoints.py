"""The list of checkpoints: after a compaction it says where the earlier ones are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import pytest

from agent_tui.core.records import CompactionRecord
from agent_tui.core.summary import ArchiveSummary, CheckpointSummary
from agent_tui.ui.flows.past import revert
from agent_tui.ui.screens.time.archives import ArchivesScreen
from agent_tui.ui.screens.time.checkpoints import CheckpointsScreen
from agent_tui.ui.screens.time.revert_preview import RevertPreviewScreen
from tests.ui.stage import Stage
from tests.ui.test_chat_acts import desk

COMPACTED = ArchiveSummary(2, "", "compaction", "", 10, 30, 14)
CHECKPOINTS = [CheckpointSummary(7, "", 1, None, 2, "one thing")]


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_the_list_says_where_a_compaction_took_the_earlier_ones(
    size: tuple[int, int],
) -> None:
    app = Stage(screen=CheckpointsScreen(CHECKPOINTS, COMPACTED))
    async with app.run_test(size=size) as pilot:
        assert "14 checkpoints before" in app.text
        await pilot.press("a")
    assert app.results == ["archives"]


async def test_the_start_of_a_compacted_log_says_what_it_is() -> None:
    start = CheckpointSummary(0, "", None, None, 0, "")
    app = Stage(screen=CheckpointsScreen([start, *CHECKPOINTS], COMPACTED))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "0  (start, before the summary: empty context)" in app.text
        assert "(no prompt)" not in app.text


async def test_a_step_that_was_interrupted_before_its_answer_says_so() -> None:
    step = CheckpointSummary(8, "", 1, 1, 3, "one thing")
    async with (app := Stage(screen=CheckpointsScreen([*CHECKPOINTS, step]))).run_test(
        size=(40, 12)
    ) as pilot:
        await pilot.pause()
        assert "step 1  (no answer)" in app.text


async def test_without_a_compaction_nothing_leads_to_archives() -> None:
    app = Stage(screen=CheckpointsScreen(CHECKPOINTS))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("a")
        assert "compaction" not in app.text
    assert app.results == []


@pytest.mark.slow
async def test_f3_leads_to_the_archives_after_a_compaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        for prompt in ("Fix the bug", "Explain how the tide is calculated", "Run the tests"):
            await here.say(prompt)
        session = here.chat.session
        assert session is not None
        await session.operations.compact()
        await here.pilot.press("f3")
        await here.until(lambda: isinstance(here.app.screen, CheckpointsScreen))
        await here.pilot.press("a")
        await here.until(lambda: isinstance(here.app.screen, ArchivesScreen))


async def test_a_compaction_that_was_undone_holds_no_earlier_checkpoints() -> None:
    """The archives name it still, as the newest: what stands is the one before."""
    undone = replace(COMPACTED, number=6, checkpoints=4)
    view = Mock(has_compactions=True, records=[CompactionRecord("user", "keep", 9, 3, 2)])
    view.checkpoints.return_value = CHECKPOINTS
    view.archives = AsyncMock(return_value=[undone, COMPACTED])
    push = AsyncMock(return_value=None)
    chat = Mock(app=Mock(push_screen_wait=push))
    chat.holder.require_session.return_value = Mock(view=view)
    await revert(chat, "")
    (screen,) = push.await_args_list[0].args
    async with (app := Stage(screen=screen)).run_test(size=(80, 24)):
        assert "14 checkpoints before the compaction: archive 2" in app.text


@pytest.mark.slow
async def test_a_revert_of_the_conversation_says_how_to_undo_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        here.chat.prompt_box.set_text("/revert 0")
        await here.pilot.press("enter")
        await here.until(lambda: isinstance(here.app.screen, RevertPreviewScreen))
        await here.pilot.press("y")
        await here.until_said("Conversation reverted. Undo with Alt+U.")
