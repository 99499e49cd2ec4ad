"""A file that is continued asks what any session asks first: is what the folder ships trusted?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import AssistantMessage, SystemPrompt, UserMessage
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.screens.dialogs.trust import TrustScreen
from agent_tui.ui.screens.time.browse import BrowseScreen
from tests.ui.stage import shown
from tests.waiting import settle, until

RULE = "Heights stay floats until the very end."


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentTui:
    """The program, started with a file of another agent in a folder that ships instructions."""
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    (work / ".git").mkdir()
    (work / "AGENTS.md").write_text(RULE)
    said = (UserMessage("ask"), AssistantMessage("answer"))
    path = tmp_path / "context.jsonl"
    path.write_text("".join(f"{json.dumps(record_fields(each))}\n" for each in said))
    return AgentTui(Launch(work, path=path))


async def resume(app: AgentTui, pilot: Pilot[int]) -> None:
    await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
    await until(pilot, lambda: "answer" in shown(app))
    await pilot.press("f")
    await until(pilot, lambda: isinstance(app.screen, TrustScreen), "nothing was asked")
    assert "AGENTS.md" in shown(app)
    assert app.chat.session is None, "nothing is made before the answer"


async def answer(app: AgentTui, *, trusted: bool) -> None:
    """Answer without waiting for the guard against keys that were typed before."""
    question = app.screen
    assert isinstance(question, TrustScreen)
    question.dismiss(trusted)


def instructions(app: AgentTui) -> str:
    assert app.chat.session is not None
    records = app.chat.session.view.records
    return "".join(each.content for each in records if isinstance(each, SystemPrompt))


async def test_what_the_folder_ships_is_used_once_it_is_trusted(app: AgentTui) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await resume(app, pilot)
        await answer(app, trusted=True)
        await until(pilot, lambda: app.chat.session is not None and app.screen is app.chat_screen)
        assert RULE in instructions(app)
        assert app.chat.engine is not None
        assert app.chat.engine.project.trusted
        await settle(pilot)
        assert app.screen is app.chat_screen, "it is asked once"
        await app.chat_screen.end()


async def test_without_trust_nothing_of_the_folder_is_used(app: AgentTui) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await resume(app, pilot)
        await answer(app, trusted=False)
        await until(pilot, lambda: app.chat.session is not None and app.screen is app.chat_screen)
        assert RULE not in instructions(app)
        await settle(pilot)
        assert app.screen is app.chat_screen, "it is asked once"
        await app.chat_screen.end()
