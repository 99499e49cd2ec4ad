"""Two subagents at once: each has rows of its own, folds alone and is stopped alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.blocks import ToolBlock
from agent_tui.ui.screens.dialogs.choice import ChoiceScreen
from tests.providers.sse_server import (
    Answer,
    Pause,
    Seen,
    SseServer,
    call_chunk,
    finish_chunk,
    stream,
    text_chunk,
    usage_chunk,
)
from tests.ui.stage import shown
from tests.ui.test_block_menu import choose
from tests.ui.test_chat_acts import Desk

pytestmark = pytest.mark.slow

PLACES = ("north", "south")
PROMPT = "Survey the {place}\n\n- Harbours of the {place} first"


def answer(seen: Seen) -> Answer:
    """The agent starts two subagents; each says where it is, and then nothing for long."""
    asked = json.dumps([m for m in seen.body["messages"] if m["role"] == "user"])
    for place in PLACES:
        if f"Survey the {place}" in asked:
            return stream(text_chunk(f"I am in the {place}."), Pause(600), finish_chunk())
    calls = [
        call_chunk(
            number,
            call_id=place,
            name="task",
            arguments=json.dumps({"agent": "explorer", "prompt": PROMPT.format(place=place)}),
        )
        for number, place in enumerate(PLACES)
    ]
    return stream(*calls, finish_chunk("tool_calls"))


def task(here: Desk, place: str) -> ToolBlock:
    (found,) = [b for b in here.shown if isinstance(b, ToolBlock) and b.call_id == place]
    return found


async def press_at(here: Desk, place: str, key: str) -> None:
    here.chat.timeline.focus()
    here.chat.timeline.go_to_record(here.all_blocks.index(task(here, place)))
    await here.pilot.press(key)


async def until_said(here: Desk, place: str) -> None:
    await here.until(lambda: f"I am in the {place}." in shown(here.app))


async def test_two_subagents_fold_and_stop_each_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0")
    (tmp_path / "work").mkdir()
    with SseServer(reply=answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        app = AgentTui(Launch(tmp_path / "work", yolo=True, model="m"))
        async with app.run_test(size=(100, 40)) as pilot:
            here = Desk(app, pilot)
            await here.until(lambda: app.screen_stack != [] and app.chat.session is not None)
            here.chat.prompts.send("Begin")
            for place in PLACES:
                await until_said(here, place)

            await press_at(here, "north", "space")
            await here.until(lambda: "Harbours of the north" in shown(here.app))
            assert "Harbours of the south" not in shown(here.app)
            await press_at(here, "north", "space")
            await here.until(lambda: "Harbours of the north" not in shown(here.app))

            await press_at(here, "north", "enter")
            await here.until(lambda: isinstance(app.screen, ChoiceScreen))
            await choose(here, "stop")
            await here.until(lambda: task(here, "north").state == "error")
            assert "the user stopped it" in task(here, "north").output
            assert task(here, "south").state == "running"
            assert here.chat.runner.is_busy

            here.chat.prompt_box.focus()
            await pilot.press("escape")
            await here.until(lambda: not here.chat.runner.is_busy)
            assert task(here, "south").state == "interrupted"
            await app.chat_screen.end()


def answer_at_once(seen: Seen) -> Answer:
    """The agent starts one subagent, which reports and says what it used."""
    told = json.dumps(seen.body["messages"])
    if "Survey the north" in told and '"tool"' not in told and "Begin" not in told:
        return stream(text_chunk("All north."), finish_chunk(), usage_chunk(700, 30))
    if '"tool"' in told:
        return stream(text_chunk("Done."), finish_chunk(), usage_chunk(100, 10))
    arguments = json.dumps({"agent": "explorer", "prompt": PROMPT.format(place="north")})
    call = call_chunk(0, call_id="north", name="task", arguments=arguments)
    return stream(call, finish_chunk("tool_calls"), usage_chunk(100, 10))


async def test_what_subagents_used_is_part_of_what_the_session_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0")
    (tmp_path / "work").mkdir()
    with SseServer(reply=answer_at_once) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        app = AgentTui(Launch(tmp_path / "work", yolo=True, model="m"))
        async with app.run_test(size=(100, 40)) as pilot:
            here = Desk(app, pilot)
            await here.until(lambda: app.screen_stack != [] and app.chat.session is not None)
            await here.say("Begin")
            app.chat_screen.run_command("usage")
            await here.until(lambda: isinstance(app.screen, ChoiceScreen))
            row = "subagent · m  price unknown · 1 request · 700 in"
            await here.until(lambda: row in shown(here.app))
            assert "2 requests · 200 in" in shown(here.app)
            await pilot.press("escape")
            await app.chat_screen.end()
