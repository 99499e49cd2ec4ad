"""A session that is opened shows its end first; the rest comes without a row that moves."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from agent_tui.core.records import Record, UserMessage
from agent_tui.runtime.live_session import LiveSession
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.conversation.conversation import Conversation
from agent_tui.ui.widgets.timeline.timeline import Timeline
from tests.benchmarks.http_stage import make_session
from tests.ui.timeline_stage import TimelineStage, numbered
from tests.waiting import until


def rows(widget: Widget) -> list[str]:
    assert isinstance(widget, Timeline)
    return [strip.text.rstrip() for strip in widget._painted]


async def test_the_whole_comes_above_the_end_and_nothing_in_view_moves() -> None:
    records = numbered(400)
    app = TimelineStage(records[-60:])
    async with app.run_test(size=(80, 20)) as pilot:
        timeline = app.timeline
        for keys in ("", "pageup"):
            timeline.load(records[-60:])
            if keys:
                timeline.focus()
                await pilot.press(keys, keys, "up")
            shown, cursor = rows(timeline), timeline._cursor
            timeline.load_whole([*records, UserMessage("Written meanwhile")] if keys else records)
            assert rows(timeline) == shown
            assert timeline.at_end is not bool(keys)
            if cursor is not None:
                assert timeline.block(timeline._cursor or 0) == _block(records[cursor - 60])
        timeline.action_first()
        assert "message 0" in " ".join(rows(timeline))


def _block(record: Record) -> object:
    timeline = Timeline()
    timeline.load([record])
    return timeline.block(0)


async def test_where_the_end_is_not_that_of_the_session_the_session_is_shown() -> None:
    app = TimelineStage(numbered(60))
    async with app.run_test(size=(80, 20)):
        app.timeline.load_whole([UserMessage("Another path")])
        assert "Another path" in " ".join(rows(app.timeline))
        assert "message 59" not in " ".join(rows(app.timeline))


class WithoutEngine(AgentTui):
    """Stops before its engine is loaded."""

    async def _start_engine(self) -> None:
        await self.chat_screen.mount_timeline(self.launch)


async def shown_by(app: AgentTui, pilot: Pilot[int]) -> list[str]:
    await until(pilot, lambda: app.chat.panes.has_timeline and bool(app.chat.timeline._painted))
    await pilot.pause()
    return [row for row in rows(app.chat.timeline) if row]


async def test_the_end_is_there_before_the_engine_and_cannot_be_written_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    session_id = await asyncio.to_thread(make_session, tmp_path, tmp_path, 400)
    launch = Launch(tmp_path, resume=session_id)
    app = WithoutEngine(launch)
    async with app.run_test(size=(100, 30)) as pilot:
        glimpsed = await shown_by(app, pilot)
        assert "Part 100 is right" in glimpsed[-1]
        assert "starting" in app.chat.status.render().plain
        app.chat.prompts.send("early")
        assert app.chat.session is None
        assert len([row for row in glimpsed if "Part 100 is right" in row]) == 1
    whole = AgentTui(launch)
    async with whole.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: whole.chat.session is not None)
        await pilot.pause()
        assert await shown_by(whole, pilot) == glimpsed
        await whole.chat_screen.end()


async def test_nothing_that_is_sent_before_there_is_a_session_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two prompts the second took the place of the first, and a command was gone."""
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    app = WithoutEngine(Launch(tmp_path))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.chat.panes.has_timeline)
        await pilot.press(*"first", "enter", *"second", "enter", *"!ls", "enter")
        await pilot.pause()
        assert app.chat.prompt_box.text == "!ls"
        assert "again" in app.chat.status.notice
        sent: list[str] = []
        with monkeypatch.context() as patched:
            patched.setattr(app.chat.prompts, "send", sent.append)
            app.chat.prompts.take_given("given")
            app.chat.prompts.send_early()
            app.chat.prompts.send_early()
        assert sent == ["given\n\nfirst\n\nsecond"]
        app.chat.prompts.send("third")
        app.chat.prompts.refuse()
        assert app.chat.prompt_box.text == "third\n\n!ls"
        app.chat.prompt_box.set_text("")
        app.chat.prompts.run_shell("ls")
        assert app.chat.prompt_box.text == "!ls"


async def test_what_is_sent_while_the_session_opens_stands_behind_what_was_sent_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It began the turn, which the earlier prompt then steered."""
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    app = AgentTui(Launch(tmp_path, demo=True))
    opening, asked = Conversation._show, list[str]()

    async def send_meanwhile(chat: Conversation, *sessions: Any, asks_folder: bool) -> None:
        await opening(chat, *sessions, asks_folder=asks_folder)
        chat.prompts.send("second")

    async def run_turn(session: LiveSession, prompt: str) -> None:
        asked.append(prompt)

    monkeypatch.setattr(Conversation, "_show", send_meanwhile)
    monkeypatch.setattr(LiveSession, "run_turn", run_turn)
    async with app.run_test(size=(100, 30)) as pilot:
        app.chat.prompts.send("first")
        await until(pilot, lambda: bool(asked))
        assert asked == ["first\n\nsecond"]


async def test_a_given_prompt_is_in_the_box_where_the_engine_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text("model = [broken\n")
    app = AgentTui(Launch(tmp_path, prompt="do this"))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.chat.status.banner == "no session")
        assert app.chat.prompt_box.text == "do this"


async def test_the_first_frame_of_a_session_to_open_is_no_welcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    launch = Launch(tmp_path, latest=True)
    app = WithoutEngine(launch)
    async with app.run_test(size=(100, 30)) as pilot:
        assert not app.chat.welcome.visible
        await until(pilot, lambda: app.chat.panes.has_timeline)
        app.chat.panes.show_conversation(shown=False)
        assert app.chat.welcome.visible
    app = WithoutEngine(replace(launch, latest=False))
    async with app.run_test(size=(100, 30)):
        assert app.chat.welcome.visible


async def test_the_first_frame_of_a_file_names_it_and_takes_no_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    app = WithoutEngine(Launch(tmp_path, path=tmp_path / "S.jsonl"))
    async with app.run_test(size=(100, 30)) as pilot:
        assert "Reading S.jsonl" in app.chat.status.render().plain
        await pilot.press("q")
        assert app.chat.prompt_box.text == ""
