"""Commands that are typed, in the program itself: what each leaves behind."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from agent_tui.agent.permissions import Rule
from agent_tui.ui.blocks import NoticeBlock, UserBlock, plain_text
from agent_tui.ui.conversation.panes import WIDE
from agent_tui.ui.screens.dialogs.aside import AsideScreen
from agent_tui.ui.screens.dialogs.ask_line import AskLineScreen
from agent_tui.ui.screens.dialogs.choice import ChoiceScreen
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.keys import KeysScreen
from agent_tui.ui.screens.dialogs.picker import PickerScreen
from tests.ui.stage import shown
from tests.ui.test_chat_acts import Desk, desk

pytestmark = pytest.mark.slow


async def run(here: Desk, typed: str, screen: type[Screen[Any]] | None = None) -> None:
    """Type a command; with a screen, wait until that is shown."""
    here.chat.prompt_box.set_text(typed)
    await here.pilot.press("enter")
    if screen is not None:
        await here.until(lambda: isinstance(here.app.screen, screen))


def log_of(here: Desk, home: Path) -> Path:
    """The log of the open session."""
    assert here.chat.session is not None
    return next(home.rglob(f"{here.chat.session.session_id}/context.jsonl"))


async def test_a_side_question_is_answered_and_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        session = here.chat.session
        assert session is not None
        log = log_of(here, tmp_path)
        before = log.read_bytes()
        answered: list[str] = []
        ask = session.aside.ask

        async def listen(question: str, on_text: Any) -> str:
            answered.append(await ask(question, on_text))
            return answered[-1]

        monkeypatch.setattr(session.aside, "ask", listen)
        await run(here, "/btw which file is it?", AsideScreen)
        await here.until(lambda: bool(answered))
        assert answered[0].strip()
        await here.until(lambda: "which file is it?" in shown(here.app))
        assert answered[0].split()[0] in shown(here.app)
        await here.pilot.press("escape")
        await here.until(lambda: here.app.screen is here.app.chat_screen)
        assert log.read_bytes() == before
        assert here.prompts == ["one thing"]


async def test_another_agent_starts_in_a_new_session_with_its_own_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        first = here.chat.session
        assert first is not None
        assert "write_file" in {tool.name for tool in first.tools}
        await run(here, "/agent explorer")
        await here.until(lambda: here.chat.session is not first)
        assert here.chat.session is not None
        assert "write_file" not in {tool.name for tool in here.chat.session.tools}
        await run(here, "/tools", ChoiceScreen)
        assert "read_file" in shown(here.app)
        assert "write_file" not in shown(here.app)


async def test_an_agent_that_does_not_exist_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        session = here.chat.session
        await run(here, "/agent exploer")
        await here.until(lambda: "Did you mean explorer?" in shown(here.app))
        assert here.chat.session is session


async def test_yolo_allows_everything_and_asks_again_when_it_is_typed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        assert here.chat.session is not None
        approvals = here.chat.session.approvals
        approvals.set_mode("ask")
        await run(here, "/yolo")
        await here.until(lambda: approvals.mode == "auto")
        await run(here, "/yolo")
        await here.until(lambda: approvals.mode == "ask")


async def test_a_branch_begins_before_a_chosen_prompt_which_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        await here.say("another")
        await run(here, "/branch", PickerScreen)
        assert "another" in shown(here.app)
        await here.pilot.press("enter")
        await here.until(lambda: here.chat.prompt_box.text == "another")
        assert here.chat.session is not None
        records = [json.loads(line) for line in log_of(here, tmp_path).read_text().splitlines()]
        assert {"_head", "user"} <= {record["role"] for record in records}
        assert here.prompts == ["one thing"]


@pytest.mark.parametrize(("named", "returned"), [("1", "one thing"), ("2", "another")])
async def test_a_branch_begins_before_the_prompt_of_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, returned: str
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        await here.say("another")
        await run(here, "/branch 3")
        await here.until(lambda: "1 to 2" in shown(here.app))
        await run(here, f"/branch {named}")
        await here.until(lambda: here.chat.prompt_box.text == returned)


async def test_a_branch_begins_before_the_prompt_of_a_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        await here.say("another")
        records = [json.loads(line) for line in log_of(here, tmp_path).read_text().splitlines()]
        (first,) = (each for each in records if each.get("content") == "one thing")
        assert here.chat.session is not None
        await here.chat.session.operations.label(first["uuid"], "start")
        await run(here, "/branch strat")
        await here.until(lambda: "or a label (start)" in shown(here.app))
        await run(here, "/branch start")
        await here.until(lambda: here.chat.prompt_box.text == "one thing")


async def test_another_model_is_told_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await run(here, "/model tide-2")
        await here.until(lambda: here.chat.status.notice == "Model: tide-2. Undo with Alt+U.")
        assert here.chat.session is not None
        assert here.chat.session.model == "tide-2"
        assert here.shown[-1] == NoticeBlock("Model: tide-2")
        await run(here, "/model tide-3")
        await here.until(lambda: here.shown[-1] == NoticeBlock("Model: tide-3"))
        assert NoticeBlock("Model: tide-2") not in here.shown
        timeline = here.chat.timeline._blocks
        assert timeline.heights.total == 2


async def test_init_asks_the_agent_for_agents_md(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await run(here, "/init")
        await here.until(lambda: here.prompts != [] and not here.chat.runner.is_busy)
        assert here.prompts[0].startswith("Write an AGENTS.md for this project")


async def test_keys_lists_every_key_of_the_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await run(here, "/keys", KeysScreen)
        text = shown(here.app)
        assert all(key in text for key in ("F1", "F3", "Ctrl+T"))


async def test_thinking_is_chosen_kept_and_refused_where_it_is_no_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await run(here, "/thinking high")
        await here.until_said("Thinking: high")
        assert here.chat.engine is not None
        assert here.chat.engine.settings.thinking == "high"
        assert tomllib.loads((tmp_path / "home" / "config.toml").read_text())["thinking"] == "high"
        await run(here, "/thinking", ChoiceScreen)
        await here.pilot.press("up", "up", "enter")
        await here.until_said("Thinking: low")
        await run(here, "/thinking harder")
        await here.until(lambda: "Expected one of off, low, medium, high" in shown(here.app))


async def test_every_rule_that_is_listed_is_revoked_with_enter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text('[approvals]\nallow = ["edits"]\n')
    async with desk(tmp_path, monkeypatch) as here:
        assert here.chat.session is not None
        approvals = here.chat.session.approvals
        approvals.session_rules.append(Rule.parse("run_command(ls *)"))
        await run(here, "/approvals", ChoiceScreen)
        for listed in ("for this session", "settings or --allow"):
            await here.until(lambda listed=listed: listed in shown(here.app))  # type: ignore[misc]  # bound now
            await here.pilot.press("enter")
        await here.until(lambda: "Nothing is allowed yet." in shown(here.app))
        assert not approvals.session_rules
        assert not approvals.always


async def test_going_to_a_place_of_the_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        for number in range(4):
            await here.say(f"prompt {number}")
        await run(here, "/goto turn 2")
        timeline = here.chat.timeline
        await here.until(lambda: timeline.has_focus)
        shown = timeline.block(timeline._cursor or 0)
        assert isinstance(shown, UserBlock)
        assert shown.text == "prompt 1"
        here.chat.prompt_box.focus()
        await here.pilot.press("alt+g")
        await here.until(lambda: isinstance(here.app.screen, AskLineScreen))
        await here.pilot.press(*"turn", "space", "3", "enter")
        await here.until(lambda: timeline.has_focus)
        asked = timeline.block(timeline._cursor or 0)
        assert isinstance(asked, UserBlock)
        assert asked.text == "prompt 2"
        here.chat.prompt_box.focus()
        await run(here, "/goto turn 9")
        await here.until(lambda: "no turn 9" in here.chat.status.notice)
        assert not any("no turn 9" in plain_text(each) for each in here.shown), "a slip is not kept"


async def test_an_export_without_a_format_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        assert here.chat.engine is not None
        folder = here.chat.engine.workspace
        before = len(list(folder.glob("*.md")))
        for answer, written in (("n", 0), ("y", 1)):
            await run(here, "/export", ConfirmScreen)
            await here.pilot.press(answer)
            await here.until(lambda: not isinstance(here.app.screen, ConfirmScreen))
            if written:
                await here.until(
                    lambda: "Exported to" in " ".join(plain_text(each) for each in here.shown)
                )
            assert len(list(folder.glob("*.md"))) == before + written


async def test_the_side_panel_says_where_it_shows_when_there_is_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.until(lambda: here.chat.panes.side is not None)
        told = set()
        for _ in range(2):
            await run(here, "/panel")
            await here.until(lambda: "side panel is" in here.chat.status.notice)
            told.add(here.chat.status.notice)
            here.chat.status.notice = ""
        on = f"The side panel is on: it shows in a window of {WIDE} columns or more."
        assert told == {on, "The side panel is off."}
