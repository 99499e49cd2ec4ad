"""A log opened by its path: its tree and its moments, however big it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from agent_tui.core.errors import UsageError
from agent_tui.core.record_writing import record_fields as fields
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    Record,
    SessionHeader,
    UserMessage,
)
from agent_tui.core.summary import CompactionView
from agent_tui.history.sources import file_source
from agent_tui.history.tree import session_tree
from agent_tui.history.view import SessionView
from agent_tui.providers.demo.scenario import Reply
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.blocks import CompactionBlock
from agent_tui.ui.screens.context.compaction import PastCompactionScreen
from agent_tui.ui.screens.dialogs.choice import ChoiceScreen
from agent_tui.ui.screens.dialogs.keys import describe_keys
from agent_tui.ui.screens.time import browse
from agent_tui.ui.screens.time.browse import BrowseScreen
from agent_tui.ui.screens.time.scrubber import ScrubberScreen
from agent_tui.ui.screens.time.tree import TreeScreen
from agent_tui.ui.widgets.lists.tree_rows import TreeRows
from agent_tui.ui.widgets.timeline.timeline import Timeline
from tests.agent.stage import Stage
from tests.history.test_history_imported import write_compacted_claude
from tests.importers.foreign_files import claude_user
from tests.importers.session_files import write_lines
from tests.ui.stage import shown
from tests.waiting import until

LONG = "Nothing was decided about it. " * 200


@pytest.fixture(autouse=True)
def _everything_is_big(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(file_source, "BIG_BYTES", 1)
    monkeypatch.setattr(session_tree, "BIG_BYTES", 1)
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))


def log(folder: Path, *records: Record) -> Path:
    path = folder / "context.jsonl"
    every = list(records)
    for number in range(300):
        every += [UserMessage(f"ask {number}"), AssistantMessage(f"answer {number}")]
    path.write_text("".join(f"{json.dumps(fields(record))}\n" for record in every))
    return path


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
        assert "f fork" in shown(app)
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
    monkeypatch.setattr(file_source, "WHOLE_BYTES", 1)
    app = AgentTui(Launch(tmp_path, path=log(tmp_path)))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await pilot.press("t")
        await until(pilot, lambda: "too big to show as a tree" in shown(app))
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


async def test_the_keys_that_are_named_are_those_that_something_answers(tmp_path: Path) -> None:
    path = log(tmp_path, SessionHeader("s", "/w", "", ""))
    app = AgentTui(Launch(tmp_path, path=path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: isinstance(app.screen.focused, Timeline))
        named = {each.aside.strip(): each.term for each in describe_keys(app.screen)}
        assert "timeline-copy" in named
        assert not {"timeline-find", "timeline-quote"} & set(named)
        assert named["browse-find"] == "/"
        assert named["timeline-toggle-all"] == "Ctrl+O"
        assert named["timeline-activate"] == "Space"
        assert named["timeline-open"] == "Enter"
        assert "timeline-menu" not in named


async def test_compactions_are_chosen_over_the_log_that_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_source, "BIG_BYTES", 10_000_000)
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


async def test_the_row_of_another_agents_compaction_tells_its_losses(tmp_path: Path) -> None:
    app = AgentTui(Launch(tmp_path, path=write_compacted_claude(tmp_path)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: re.search(r"≡ compacted .* \d+ loss", shown(app)))


async def test_a_long_session_says_where_its_losses_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows told none, as if nothing had been lost, and nothing said why."""
    monkeypatch.setattr(browse, "_QUICK_RECORDS", 3)
    app = AgentTui(Launch(tmp_path, path=write_compacted_claude(tmp_path)))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "losses are counted when you open a compaction" in shown(app))
        assert "c count losses" in shown(app)
        await pilot.press("c")
        await until(pilot, lambda: "≡" in shown(app) or "Compaction" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PastCompactionScreen))
        await until(pilot, lambda: "the summary does not mention" in shown(app))


async def test_losses_are_counted_once_however_often_the_file_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    view_compaction = SessionView.view_compaction

    async def count(view: SessionView, archive: int) -> CompactionView:
        counted.append(archive)
        return await view_compaction(view, archive)

    monkeypatch.setattr(SessionView, "view_compaction", count)
    path = write_compacted_claude(tmp_path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    app = AgentTui(Launch(tmp_path, path=path))
    async with app.run_test(size=(120, 60)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: re.search(r"≡ compacted .* \d+ loss", shown(app)))
        await pilot.pause(0.5)  # until the folder is watched
        lines.append(claude_user("u9", "a5", 22, "and now?"))
        write_lines(path, lines)
        await until(pilot, lambda: "and now?" in shown(app))
        await until(pilot, lambda: re.search(r"≡ compacted .* \d+ loss", shown(app)))
        assert len(counted) == 1


async def compacted_twice(folder: Path) -> str:
    """A session whose second archive and whose tree hold the marker of its first compaction."""
    answers = (Reply(text=f"answer {LONG}") for _ in range(4))
    summaries = (Reply(text="## Current focus\nThe letters."),) * 2
    async with Stage(folder, *answers, compactions=summaries, home="home/demo") as stage:
        for prompts in ("ab", "cd"):
            for prompt in prompts:
                await stage.say(f"{prompt} {LONG}")
            await stage.operations.compact()
        return stage.session.session_id


async def press_marker(pilot: Pilot[int], app: AgentTui) -> None:
    """Open the compaction that the timeline on the screen shows."""
    timeline = app.screen.query_one(Timeline)
    await until(pilot, lambda: len(timeline._blocks) > 0)
    blocks = (timeline.block(index) for index in range(len(timeline._blocks)))
    place = next(n for n, block in enumerate(blocks) if isinstance(block, CompactionBlock))
    timeline._activate(place)
    await until(pilot, lambda: isinstance(app.screen, PastCompactionScreen))
    await until(pilot, lambda: "archive 1" in shown(app))


async def test_a_compaction_marker_leads_to_its_compaction_wherever_it_stands(
    tmp_path: Path,
) -> None:
    session_id = await compacted_twice(tmp_path)
    app = AgentTui(Launch(tmp_path, demo=True, resume=session_id))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen_stack != [] and app.chat.session is not None)
        app.chat_screen.run_command("archives", "2")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await press_marker(pilot, app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat_screen)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, TreeScreen))
        rows = app.screen.query_one(TreeRows)
        await until(pilot, lambda: rows.count > 0)
        rows.cursor = next(i for i in range(rows.count) if _kind(rows, i) == "compaction")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await press_marker(pilot, app)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, TreeScreen))


def _kind(rows: TreeRows, index: int) -> str:
    assert rows._row is not None
    return rows._row(index).kind


async def test_what_was_opened_from_the_tree_can_be_restored_and_ends_in_the_conversation(
    tmp_path: Path,
) -> None:
    session_id = await compacted_twice(tmp_path)
    app = AgentTui(Launch(tmp_path, demo=True, resume=session_id))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen_stack != [] and app.chat.session is not None)
        session = app.chat.session
        assert session is not None
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, TreeScreen))
        rows = app.screen.query_one(TreeRows)
        await until(pilot, lambda: rows.count > 0)
        rows.cursor = next(i for i in range(rows.count) if _kind(rows, i) == "compaction")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await press_marker(pilot, app)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "archive 1" in shown(app))
        await pilot.press("r")
        await until(pilot, lambda: app.screen is app.chat_screen)
        await until(pilot, lambda: session.view.message_count == 4)


@pytest.mark.parametrize("key", ["slash", "ctrl+f"])
async def test_text_is_found_in_what_is_only_looked_at(tmp_path: Path, key: str) -> None:
    path = log(tmp_path, SessionHeader("s", "/w", "", ""))
    app = AgentTui(Launch(tmp_path, path=path))
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "answer 299" in shown(app))
        await pilot.press(key, *"answer 41")
        await until(pilot, lambda: "1 of 1" in shown(app), "nothing was found")
        assert "answer 41" in shown(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen.focused, Timeline))
        assert isinstance(app.screen, BrowseScreen)


async def test_where_a_file_cannot_be_shown_the_prompt_still_takes_what_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Launch) -> Engine:
        raise UsageError("The settings are broken.")

    monkeypatch.setattr("agent_tui.ui.app._assemble", fail)
    app = AgentTui(Launch(tmp_path, path=log(tmp_path)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.chat.status.banner == "no session")
        await pilot.press("a")
        assert app.chat.prompt_box.text == "a"
        assert not app.chat.status.reading


async def test_a_log_that_closes_can_be_asked_for_its_keys(tmp_path: Path) -> None:
    """A key may still be on its way: which of its keys act must not end the program."""
    app = AgentTui(Launch(tmp_path, path=log(tmp_path, SessionHeader("s", "/w", "", ""))))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "answer 299" in shown(app))
        with app.batch_update():  # a frame would draw what is half gone
            await app.screen.query_one(Timeline).remove()  # as closing does
            assert app.screen.check_action("continue_here", ()) is False
