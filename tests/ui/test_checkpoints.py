"""The list of checkpoints: after a compaction it says where the earlier ones are."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.core.summary import ArchiveSummary, CheckpointSummary
from agent_tui.ui.screens.time.archives import ArchivesScreen
from agent_tui.ui.screens.time.checkpoints import CheckpointsScreen
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
