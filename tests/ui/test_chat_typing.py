"""What is typed beside the prompt: a letter goes into the prompt, and none acts unasked."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from agent_tui.providers.demo.scenario import Reply
from agent_tui.ui.screens.sessions.search import SearchScreen
from agent_tui.ui.screens.sessions.session_list import SessionListScreen
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.prompt.line_input import LineInput
from tests.agent.stage import Stage
from tests.ui.stage import shown
from tests.ui.test_chat_acts import Desk, desk

pytestmark = pytest.mark.slow


async def walk(here: Desk) -> str:
    """Say something and go into the conversation with Tab; returns the session's id."""
    await here.say("one thing")
    await here.pilot.press("tab")
    await here.until(lambda: here.app.focused is here.chat.timeline)
    assert here.chat.session is not None
    return here.chat.session.session_id


@pytest.mark.parametrize("typed", ["undo that", "Under", "for now", "U", "@", "7"])
async def test_who_types_in_the_conversation_means_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        session_id = await walk(here)
        await here.pilot.press(typed[0])
        await here.until(lambda: here.chat.prompt_box.text == typed[0])
        await here.pilot.press(*("space" if each == " " else each for each in typed[1:]))
        await here.until(lambda: here.chat.prompt_box.text == typed)
        assert here.prompts == ["one thing"]
        assert here.chat.session is not None
        assert here.chat.session.session_id == session_id


async def test_letters_that_come_in_one_burst_are_all_typed_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await walk(here)
        text = "undo and go on, fork just yet"
        for letter in text:
            here.app.post_message(events.Key("space" if letter == " " else letter, letter))
        await here.until(lambda: len(here.chat.prompt_box.text) >= len(text))
        assert here.chat.prompt_box.text == text


async def test_the_keys_of_the_conversation_stay_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await walk(here)
        await here.pilot.press("g", "j", "j", "k", "y", "G", "[", "]", "space")
        await here.pilot.pause()
        assert here.app.focused is here.chat.timeline
        assert here.chat.prompt_box.text == ""
        assert "one thing" in here.app.clipboard


async def test_a_paste_in_the_conversation_goes_into_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await walk(here)
        here.app.post_message(events.Paste("from elsewhere"))
        await here.until(lambda: here.chat.prompt_box.text == "from elsewhere")


async def test_a_window_that_only_reads_forks_by_a_single_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Stage(tmp_path, Reply(text="An answer."), home="home/demo") as stage:
        await stage.say("one thing")
        session_id = stage.session.session_id
        async with desk(tmp_path, monkeypatch, session_id) as here:
            assert here.chat.status.banner
            await here.pilot.press("u", "x")
            assert here.chat.prompt_box.text == ""
            await here.pilot.press("f")
            await here.until(lambda: not here.chat.status.banner)
            assert here.prompts == ["one thing"]
            assert here.chat.session is not None
            assert here.chat.session.session_id != session_id


async def test_a_window_that_only_reads_names_and_takes_the_key_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Stage(tmp_path, Reply(text="An answer."), home="home/demo") as stage:
        await stage.say("one thing")
        session_id = stage.session.session_id
        config = tmp_path / "home" / "config.toml"
        config.write_text('[keys]\nread-only-fork = "x"\n', encoding="utf-8")
        async with desk(tmp_path, monkeypatch, session_id) as here:
            await here.until(lambda: "Read-only (x to fork): " in shown(here.app))
            await here.pilot.press("f")
            assert here.session.session_id == session_id
            await here.pilot.press("x")
            await here.until(lambda: not here.chat.status.banner)
            assert here.session.session_id != session_id


@pytest.mark.parametrize("key", ["alt+s", "ctrl+p", "ctrl+f"])
async def test_what_is_typed_behind_the_key_of_a_line_goes_to_that_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.until(lambda: here.chat.session is not None)
        for name, character in ((key, None), *((each, each) for each in "tide")):
            here.app.post_message(events.Key(name, character))
        await here.until(lambda: any(each.value for each in here.app.screen.query(LineInput)))
        await here.until(lambda: here.app.screen.query(LineInput).last().value == "tide")
        assert here.chat.prompt_box.text == ""


@pytest.mark.parametrize("key", ["f1", "f2", "f3", "f5", "f8", "f9", "ctrl+t", "alt+c"])
async def test_what_is_typed_behind_the_key_of_a_screen_does_not_go_to_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        for name, character in ((key, None), ("j", "j"), ("j", "j")):
            here.app.post_message(events.Key(name, character))
        await here.until(lambda: here.app.screen is not here.app.chat_screen)
        await here.until(lambda: not here.app._typed)
        assert here.chat.prompt_box.text == ""


async def test_what_is_typed_while_the_search_follows_the_list_goes_to_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        for name in ("f2", *"tharmonic"):
            here.app.post_message(events.Key(name, name if len(name) == 1 else None))
        await here.until(lambda: isinstance(here.app.screen, SearchScreen))
        await here.until(lambda: here.app.screen.query_one(LineInput).value == "harmonic")
        assert here.chat.prompt_box.text == ""


async def test_what_is_typed_behind_the_choice_of_a_session_goes_to_that_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        assert here.chat.session is not None
        first = here.chat.session.session_id
        here.app.chat_screen.run_command("new")
        await here.until(lambda: session_id(here) != first)
        for name in ("f2", "slash", *"one"):
            here.app.post_message(events.Key(name, name if len(name) == 1 else None))
        await here.until(lambda: isinstance(here.app.screen, SessionListScreen))
        await here.until(lambda: here.app.screen.query_one(LineInput).value == "one")
        await here.until(lambda: here.app.screen.query_one(Rows).count > 0)
        for name in ("enter", *"typed"):
            here.app.post_message(events.Key(name, name if len(name) == 1 else None))
        await here.until(lambda: here.chat.prompt_box.text == "typed")
        assert session_id(here) == first


def session_id(here: Desk) -> str:
    return here.chat.session.session_id if here.chat.session else ""
