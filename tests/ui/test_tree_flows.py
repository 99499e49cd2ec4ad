"""The tree in the program itself: keys to its acts, and the prompt behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent_tui.core.messages import text_of
from agent_tui.core.records import UserMessage
from agent_tui.providers.demo.scenario import Reply
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.blocks import Block, BranchBlock, LabelBlock
from agent_tui.ui.screens.dialogs.ask_line import AskLineScreen
from agent_tui.ui.screens.time.compare import CompareScreen
from agent_tui.ui.screens.time.scrubber import ScrubberScreen
from agent_tui.ui.screens.time.tree import TreeScreen
from agent_tui.ui.widgets.lists.tree_rows import TreeRows
from tests.agent.stage import Stage
from tests.ui.stage import hurry, shown
from tests.waiting import until

pytestmark = pytest.mark.slow


class Table:
    """The running program with what a test asks of it."""

    def __init__(self, app: AgentTui, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    async def say(self, text: str) -> None:
        self.app.chat.prompts.send(text)
        await until(self.pilot, lambda: self.app.chat.runner.is_busy)
        await until(self.pilot, lambda: not self.app.chat.runner.is_busy)

    async def revert(self, prompt: str) -> None:
        """Go back to before a prompt."""
        session = self.app.chat.session
        assert session is not None
        found = [each.id for each in session.view.checkpoints() if each.prompt == prompt]
        await session.operations.revert(found[0])

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause(0.05)

    async def open_tree(self) -> TreeRows:
        await self.press("ctrl+t")
        await until(self.pilot, lambda: isinstance(self.app.screen, TreeScreen))
        rows = self.app.screen.query_one(TreeRows)
        await until(self.pilot, lambda: rows.count > 0)
        return rows

    @property
    def prompts(self) -> list[str]:
        assert self.app.chat.session is not None
        records = [r for r in self.app.chat.session.view.records if isinstance(r, UserMessage)]
        return [text_of(r.content) for r in records if r.origin == "human"]


@asynccontextmanager
async def table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resume: str = ""
) -> AsyncIterator[Table]:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    hurry(monkeypatch)
    app = AgentTui(Launch(tmp_path, demo=True, yolo=True, resume=resume or None))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen_stack != [] and app.chat.session is not None)
        yield Table(app, pilot)


def blocks(t: Table) -> list[Block | None]:
    """What the conversation shows."""
    timeline = t.app.chat.timeline
    return [timeline.block(index) for index in range(len(timeline._blocks))]


def prompt_id(t: Table) -> str:
    """The id of the only prompt."""
    assert t.app.chat.session is not None
    (prompt,) = (r for r in t.app.chat.session.view.records if isinstance(r, UserMessage))
    return str(prompt.stamp.uuid)


async def test_a_branch_is_begun_undone_and_redone_by_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table(tmp_path, monkeypatch) as t:
        await t.say("one thing")
        await t.say("another thing")
        await t.open_tree()
        await t.press("b")
        await until(t.pilot, lambda: t.app.chat.prompt_box.text == "another thing")
        assert t.prompts == ["one thing"]
        await t.press("alt+u")
        await until(t.pilot, lambda: t.prompts == ["one thing", "another thing"])
        await t.press("alt+r")
        await until(t.pilot, lambda: t.prompts == ["one thing"])


async def test_a_fork_from_a_row_opens_with_its_prompt_in_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table(tmp_path, monkeypatch) as t:
        await t.say("one thing")
        await t.say("another thing")
        assert t.app.chat.session is not None
        before = t.app.chat.session.session_id
        await t.open_tree()
        await t.press("f")
        await until(t.pilot, lambda: t.app.chat.prompt_box.text == "another thing")
        assert t.app.chat.session.session_id != before
        assert t.prompts == ["one thing"]
        assert t.app.chat.session.view.title == "one thing (fork)"
        rows = await t.open_tree()
        await t.press("end")
        assert rows.row is not None
        assert rows.row.session_id == before
        await t.press("b")
        await until(t.pilot, lambda: t.prompts == ["one thing", "another thing"])
        assert t.app.chat.session.session_id == before


async def test_a_window_that_only_reads_forks_from_its_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Stage(tmp_path, Reply(text="One."), Reply(text="Two."), home="home/demo") as stage:
        await stage.say("one thing")
        await stage.say("another thing")
        async with table(tmp_path, monkeypatch, stage.session.session_id) as t:
            chat = t.app.chat
            assert chat.status.banner
            await t.open_tree()
            await t.press("f")
            await until(t.pilot, lambda: t.prompts == ["one thing"])
            assert not chat.status.banner
            assert chat.prompt_box.text == "another thing"
            await t.app.chat_screen.end()


async def test_the_row_of_a_branch_opens_the_tree_at_what_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table(tmp_path, monkeypatch) as t:
        await t.say("one thing")
        await t.say("another thing")
        await t.open_tree()
        await t.press("b")
        await until(t.pilot, lambda: t.prompts == ["one thing"])
        timeline = t.app.chat.timeline
        branch = next(n for n, block in enumerate(blocks(t)) if isinstance(block, BranchBlock))
        timeline.focus()
        timeline.go_to_record(branch)
        await t.press("enter")
        await until(t.pilot, lambda: isinstance(t.app.screen, TreeScreen))
        rows = t.app.screen.query_one(TreeRows)
        await until(t.pilot, lambda: rows.row is not None and rows.row.standing == "side")


async def test_a_prompt_that_came_back_leaves_again_with_the_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table(tmp_path, monkeypatch) as t:
        await t.say("one thing")
        await t.say("another thing")
        await t.open_tree()
        await t.press("b")
        await until(t.pilot, lambda: t.app.chat.prompt_box.text == "another thing")
        await t.press("alt+u")
        await until(t.pilot, lambda: t.prompts == ["one thing", "another thing"])
        assert t.app.chat.prompt_box.text == ""
        t.app.chat.prompt_box.set_text("a draft")
        await t.press("alt+r")
        await until(t.pilot, lambda: t.prompts == ["one thing"])
        assert t.app.chat.prompt_box.text == "a draft"


async def test_an_undo_leaves_in_the_box_what_was_there_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table(tmp_path, monkeypatch) as t:
        for said in ("one thing", "another thing", "a third"):
            await t.say(said)
        box = t.app.chat.prompt_box
        held = []
        for given in ("a third", "another thing"):
            held.append(box.text)
            await t.revert(given)
            await until(t.pilot, lambda text=given: box.text == text)  # type: ignore[misc]
        while held:
            await t.press("alt+u")
            await until(t.pilot, lambda: box.text == held[-1], f"not {held[-1]!r}: {box.text!r}")
            held.pop()
        assert t.prompts == ["one thing", "another thing", "a third"]
        await t.press("alt+r")
        await until(t.pilot, lambda: box.text == "a third")
        await t.press("alt+r")
        await until(t.pilot, lambda: box.text == "another thing")
        await t.press("alt+u")
        await until(t.pilot, lambda: box.text == "a third")


async def test_an_undo_of_something_else_leaves_the_box_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table(tmp_path, monkeypatch) as t:
        for said in ("one thing", "another thing"):
            await t.say(said)
        box = t.app.chat.prompt_box
        box.set_text("a draft")
        await t.revert("another thing")
        await until(t.pilot, lambda: box.text == "another thing\n\na draft")
        assert t.app.chat.session is not None
        await t.app.chat.session.operations.clear()
        await until(t.pilot, lambda: t.prompts == [])
        await t.press("alt+u")
        await until(t.pilot, lambda: t.prompts == ["one thing"])
        assert box.text == "another thing\n\na draft"
        await t.press("alt+u")
        await until(t.pilot, lambda: box.text == "a draft")


async def test_a_label_is_given_in_the_tree_and_undo_stays_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table(tmp_path, monkeypatch) as t:
        await t.say("one thing")
        rows = await t.open_tree()
        assert rows.row is not None
        await t.press("l")
        await until(t.pilot, lambda: isinstance(t.app.screen, AskLineScreen))
        await until(t.pilot, lambda: "Label of \u201cone thing\u201d" in shown(t.app))
        assert "remove the label" not in shown(t.app)
        await t.press("h", "e", "r", "e", "enter")
        await until(t.pilot, lambda: isinstance(t.app.screen, TreeScreen))
        rows = t.app.screen.query_one(TreeRows)
        await until(t.pilot, lambda: rows.row is not None and rows.row.label == "here")
        assert LabelBlock("here", prompt_id(t)) in blocks(t)
        await t.press("u")
        await until(t.pilot, lambda: t.app.screen.query_one(TreeRows) is not rows)
        assert isinstance(t.app.screen, TreeScreen)
        await until(t.pilot, lambda: "Label removed" in shown(t.app))
        await t.press("escape")
        assert t.prompts == ["one thing"]
        assert LabelBlock("", prompt_id(t)) in blocks(t)


async def test_the_scrubber_and_the_comparison_open_from_their_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table(tmp_path, monkeypatch) as t:
        await t.say("one thing")
        await t.press("f9")
        await until(t.pilot, lambda: isinstance(t.app.screen, ScrubberScreen))
        await t.press("escape")
        assert t.app.chat.session is not None
        await t.app.chat.session.operations.clear()
        t.app.chat_screen.run_command("archives")
        await until(t.pilot, lambda: t.app.screen is not t.app.chat_screen)
        await t.pilot.pause(0.3)
        await t.press("c")
        await until(t.pilot, lambda: isinstance(t.app.screen, CompareScreen))
        await t.press("escape")


async def test_a_branch_that_was_left_is_summed_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table(tmp_path, monkeypatch) as t:
        await t.say("one thing")
        await t.say("another thing")
        await t.open_tree()
        await t.press("b")
        await until(t.pilot, lambda: t.prompts == ["one thing"])
        await t.say("something else")
        rows = await t.open_tree()
        await t.press("home", "]")
        assert rows.row is not None
        assert rows.row.standing == "side"
        await t.press("m")
        session = t.app.chat.session
        assert session is not None

        def is_told() -> bool:
            last = session.view.records[-1]
            return isinstance(last, UserMessage) and last.origin == "branch"

        await until(t.pilot, is_told)
