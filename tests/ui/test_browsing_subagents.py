"""The subagents of another agent's session, read from the screen that shows it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, UserMessage
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.screens.dialogs.picker import PickerScreen
from agent_tui.ui.screens.dialogs.reader import ReaderScreen
from agent_tui.ui.screens.time.browse import BrowseScreen
from agent_tui.ui.screens.time.tree import TreeScreen
from tests.importers.foreign_files import (
    called,
    claude_answer,
    claude_session,
    claude_user,
    returned,
    said,
)
from tests.importers.session_files import write_lines
from tests.ui.stage import shown
from tests.waiting import until


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))


def is_shown(app: AgentTui, words: str) -> bool:
    return words in shown(app)


def with_subagents(folder: Path) -> Path:
    """A session with a subagent in a file of its own, and one whose lines stand in between."""
    below = folder / "S" / "subagents"
    below.mkdir(parents=True)
    apart = [
        claude_user("c1", None, 3, "look around", isSidechain=True, agentId="77"),
        claude_answer("c2", "c1", 4, "m8", said("seen it all"), isSidechain=True, agentId="77"),
    ]
    write_lines(below / "agent-77.jsonl", apart)
    within = [
        claude_user("d1", None, 5, "count the files", isSidechain=True),
        claude_answer("d2", "d1", 6, "m9", said("there are nine"), isSidechain=True),
    ]
    started = [
        claude_answer("b1", "a4", 8, "m7", called("t7", "Task", prompt="look around")),
        claude_user("b2", "b1", 9, [returned("t7", "told")], toolUseResult={"agentId": "77"}),
    ]
    return write_lines(folder / "S.jsonl", [*claude_session()[:-1], *started, *within])


async def test_a_subagent_is_chosen_from_a_list_and_left_for_its_session(tmp_path: Path) -> None:
    app = AgentTui(Launch(tmp_path, demo=True, path=with_subagents(tmp_path)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        parent = app.screen
        await until(pilot, lambda: "subagents" in shown(app))
        titles = ("look around", "count the files")
        for words, answer in (("look", "seen it all"), ("count", "there are nine")):
            await pilot.press("u")
            await until(pilot, lambda: isinstance(app.screen, PickerScreen))
            await until(pilot, lambda: all(each in shown(app) for each in titles))
            await pilot.press(*words, "enter")
            await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
            await until(pilot, partial(is_shown, app, answer))
            assert "subagents" not in shown(app)
            await pilot.press("t")
            await until(pilot, lambda: isinstance(app.screen, TreeScreen))
            await pilot.press("escape")
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is parent)


async def test_the_call_that_started_a_subagent_leads_to_it(tmp_path: Path) -> None:
    app = AgentTui(Launch(tmp_path, demo=True, path=with_subagents(tmp_path)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        parent = app.screen
        await until(pilot, lambda: "subagents" in shown(app))
        await pilot.press("up", "u")
        await until(pilot, lambda: isinstance(app.screen, PickerScreen))
        await until(pilot, lambda: "● look around" in shown(app))
        await pilot.press("escape", "v")
        await until(pilot, lambda: "seen it all" in shown(app))
        assert app.screen is not parent
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is parent)
        await pilot.press("up", "v")
        await until(pilot, lambda: isinstance(app.screen, ReaderScreen))
        assert "Done." in shown(app)


async def test_a_subagent_is_continued_here(tmp_path: Path) -> None:
    app = AgentTui(Launch(tmp_path, demo=True, path=with_subagents(tmp_path)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "subagents" in shown(app))
        await pilot.press("up", "v")
        await until(pilot, lambda: "seen it all" in shown(app))
        await pilot.press("f")
        await until(pilot, lambda: app.chat.session is not None and app.screen is app.chat_screen)
        assert app.chat.session is not None
        records = app.chat.session.view.records
        messages = [each for each in records if isinstance(each, UserMessage | AssistantMessage)]
        assert [text_of(each.content) for each in messages] == ["look around", "seen it all"]
