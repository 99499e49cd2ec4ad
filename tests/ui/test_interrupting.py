"""Esc is seen on the screen at once, and leaving works, however what they end takes to end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_tui.ui import app as app_module
from tests.ui.stage import shown
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
        here.chat.prompts.send("!trap '' TERM; echo up > up; sleep 600; sleep 600")
        assert here.chat.engine is not None
        await here.until((here.chat.engine.workspace / "up").exists)
        seen.clear()
        await here.pilot.press("escape")
        await here.until(lambda: not here.chat.runner.is_busy)
        assert seen[0] == ("interrupting", True)
        await here.until(lambda: status.work == "")


@pytest.mark.parametrize("typed", ["/model another", "/compact the tests"])
async def test_a_command_that_comes_too_early_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.prompts.send("!echo up > up; sleep 600")
        assert here.chat.engine is not None
        await here.until((here.chat.engine.workspace / "up").exists)
        here.chat.prompt_box.set_text(typed)
        await here.pilot.press("enter")
        told = "works between turns: Esc to interrupt this one."
        await here.until(lambda: told in shown(here.app))
        assert here.chat.prompt_box.text == typed
        await here.pilot.press("escape")


@pytest.mark.parametrize("fault", ["an error", "no end"])
async def test_one_can_leave_whatever_goes_wrong_in_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """Without a terminal it would stay for good, and nobody would see it."""

    async def end() -> None:
        if fault == "no end":
            await asyncio.sleep(600)
        raise OSError(5, "Input/output error\x1b[2J")

    async with desk(tmp_path, monkeypatch) as here:
        with monkeypatch.context() as faulty:
            faulty.setattr(app_module, "_ENDING_SECONDS", 0.1)
            faulty.setattr(here.chat, "end", end)
            await here.app.leave()
        assert here.app._exit
        assert here.app.return_code == 1
        (told,) = here.app._exit_renderables
        reason = "did not stop within 0.1 seconds." if fault == "no end" else "Input/output error"
        assert "could not close properly" in str(told)
        assert reason in str(told)
        assert "\x1b" not in str(told)
