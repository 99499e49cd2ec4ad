"""A log opened by its path: its tree and its moments, however big it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from agent_tui.core.record_writing import record_fields as fields
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    Record,
    SessionHeader,
    UserMessage,
)
from agent_tui.history import browsed_session, session_tree
from agent_tui.runtime.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.screens.dialogs.choice import ChoiceScreen
from agent_tui.ui.screens.time.browse import BrowseScreen
from agent_tui.ui.screens.time.scrubber import ScrubberScreen
from agent_tui.ui.screens.time.tree import TreeScreen
from agent_tui.ui.widgets.lists.tree_rows import TreeRows


@pytest.fixture(autouse=True)
def _everything_is_big(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(browsed_session, "BIG_BYTES", 1)
    monkeypatch.setattr(session_tree, "BIG_BYTES", 1)
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))


def log(folder: Path, *records: Record) -> Path:
    path = folder / "context.jsonl"
    every = list(records)
    for number in range(300):
        every += [UserMessage(f"ask {number}"), AssistantMessage(f"answer {number}")]
    path.write_text("".join(f"{json.dumps(fields(record))}\n" for record in every))
    return path


async def until(pilot: Pilot[int], happened: Callable[[], bool]) -> None:
    for _ in range(400):
        await pilot.pause(0.05)
        if happened():
            return
    raise AssertionError("it never happened")


def shown(app: AgentTui) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_big_log_is_walked_as_a_tree_and_step_by_step(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = log(tmp_path, SessionHeader("s", "/w", "", ""))
    app = AgentTui(Launch(tmp_path, path=path))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TreeScreen))
        await until(pilot, lambda: "ask 299" in shown(app))
        assert app.screen.query_one(TreeRows).count == 300
        assert "f fork" not in shown(app)
        await pilot.press("home", "enter")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "answer 0" in shown(app))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, ScrubberScreen))
        await until(pilot, lambda: "600 messages" in shown(app))
        assert "answer 299" in shown(app)
        await pilot.press("left")
        await until(pilot, lambda: "599 messages" in shown(app))
        await pilot.press("home")
        await until(pilot, lambda: "moment 1 of 301" in shown(app))
        assert "ask 0" in shown(app)


async def test_another_agents_log_that_is_too_big_for_a_tree_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browsed_session, "WHOLE_BYTES", 1)
    app = AgentTui(Launch(tmp_path, path=log(tmp_path)))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await pilot.press("t")
        await until(pilot, lambda: "do not say who spoke" in shown(app))
        assert isinstance(app.screen, BrowseScreen)


@pytest.mark.parametrize(("key", "screen"), [("ctrl+t", TreeScreen), ("f9", ScrubberScreen)])
async def test_the_keys_of_the_conversation_lead_to_tree_and_scrubber_too(
    tmp_path: Path, key: str, screen: type[Screen[object]]
) -> None:
    path = log(tmp_path, SessionHeader("s", "/w", "", ""))
    app = AgentTui(Launch(tmp_path, path=path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, screen))


async def test_compactions_are_chosen_over_the_log_that_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browsed_session, "BIG_BYTES", 10_000_000)
    log(tmp_path, SessionHeader("s", "/w", "", "")).rename(tmp_path / "context.jsonl.1")
    compaction = CompactionRecord("manual", "last", 4_000, 1_200, 1, kept=2)
    path = log(tmp_path, SessionHeader("s", "/w", "", ""), compaction)
    app = AgentTui(Launch(tmp_path, path=path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await until(pilot, lambda: "4.0k → 1.2k" in shown(app))
        assert "answer 299" in shown(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
