"""Esc is seen on the screen at once, however long what it ends takes to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui.test_chat_acts import desk

pytestmark = pytest.mark.slow


async def test_the_screen_says_so_while_a_command_that_ignores_it_still_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        seen: list[tuple[str, bool]] = []
        status = here.chat.status
        here.app.watch(
            status, "work", lambda work: seen.append((work, here.chat.runner.is_busy)), init=False
        )
        here.chat.prompts.send("!trap '' TERM; echo up > up; sleep 60; sleep 60")
        assert here.chat.engine is not None
        await here.until((here.chat.engine.workspace / "up").exists)
        seen.clear()
        await here.pilot.press("escape")
        await here.until(lambda: not here.chat.runner.is_busy)
        assert seen[0] == ("interrupting", True)
        await here.until(lambda: status.work == "")
