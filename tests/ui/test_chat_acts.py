"""Acts in the program itself: keys that come too quickly, commands, and what was not said."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key
from textual.pilot import Pilot

from agent_tui.context.filters import ContextFilter
from agent_tui.core.errors import ProviderError, StorageError
from agent_tui.core.events import (
    ApprovalRequest,
    BackgroundChanged,
    StreamPart,
    TurnEnd,
    TurnFinished,
    TurnResumed,
)
from agent_tui.core.messages import CommandDisplay, ToolCall, text_of
from agent_tui.core.records import Record, UserMessage
from agent_tui.core.summary import CompactionReport, RevertPreview
from agent_tui.history.records import checkpoints
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.demo.scenario import Reply
from agent_tui.providers.demo.scripted import Scripted
from agent_tui.runtime.live_session import LiveSession
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.blocks import (
    AssistantBlock,
    Block,
    EarlierBlock,
    EarlierHeadBlock,
    NoticeBlock,
    ShellBlock,
    UserBlock,
    plain_text,
)
from agent_tui.ui.conversation.conversation import Conversation
from agent_tui.ui.screens.dialogs.approval import ApprovalScreen
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.wide_folder import WideFolderScreen
from agent_tui.ui.screens.time.archives import ArchivesScreen
from agent_tui.ui.screens.time.browse import BrowseScreen
from agent_tui.ui.screens.time.revert_preview import RevertPreviewScreen
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.prompt.prompt_box import PromptBox
from agent_tui.ui.widgets.timeline.block_list import BlockList
from agent_tui.ui.widgets.timeline.timeline import Timeline
from tests.agent.stage import Stage
from tests.providers.sse_server import Pause, SseServer, stream, text_chunk
from tests.sessions.test_sessions_log import fail_with
from tests.ui.stage import hurry, shown
from tests.waiting import until

pytestmark = pytest.mark.slow


class Desk:
    """The running program, and somebody who is quick with the keys."""

    def __init__(self, app: AgentTui, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def chat(self) -> Conversation:
        return self.app.chat

    @property
    def session(self) -> LiveSession:
        """The open session."""
        assert self.chat.session is not None
        return self.chat.session

    @property
    def blocks(self) -> BlockList:
        return self.chat.timeline._blocks

    @property
    def shown(self) -> list[Block]:
        blocks = map(self.blocks.block, range(len(self.blocks)))
        return [block for block in blocks if block is not None]

    @property
    def all_blocks(self) -> list[Block | None]:
        """What stands at each place; None where a record shows nothing."""
        return [self.blocks.block(index) for index in range(len(self.blocks))]

    @property
    def queued(self) -> list[str]:
        return list(self.chat.prompt_box.queue.prompts)

    @property
    def prompts(self) -> list[str]:
        assert self.chat.session is not None
        records = [r for r in self.chat.session.view.records if isinstance(r, UserMessage)]
        return [text_of(r.content) for r in records]

    @property
    def wide_folder(self) -> Path | None:
        session = self.chat.session
        return session.wide_folder if session is not None else None

    async def until(self, happened: Callable[[], bool]) -> None:
        await until(self.pilot, happened)

    async def until_said(self, sentence: str) -> None:
        await self.until(lambda: self.chat.status.notice == sentence)

    async def say(self, text: str) -> None:
        self.chat.prompts.send(text)
        await self.until(lambda: not self.chat.runner.is_busy)

    async def interrupt(self) -> None:
        await self.pilot.press("escape")
        await self.until(lambda: not self.chat.runner.is_busy)


@asynccontextmanager
async def desk(
    folder: Path, monkeypatch: pytest.MonkeyPatch, resume: str = ""
) -> AsyncIterator[Desk]:
    monkeypatch.setenv("AGENT_TUI_HOME", str(folder / "home"))
    hurry(monkeypatch)
    app = AgentTui(Launch(folder, demo=True, yolo=True, resume=resume or None))
    async with app.run_test(size=(100, 30)) as pilot:
        here = Desk(app, pilot)
        await here.until(lambda: app.screen_stack != [] and app.chat.session is not None)
        yield here
        await here.app.chat_screen.end()


@pytest.mark.every_python
async def test_a_second_prompt_in_the_same_moment_does_not_undo_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.prompts.send("one thing")
        here.chat.prompts.send("and another")
        await here.until(lambda: not here.chat.runner.is_busy)
        assert here.prompts == ["one thing", "and another"]
        assert here.queued == []


async def test_a_prompt_waits_while_a_model_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:

        def send_both() -> None:
            here.chat.prompts.send("one thing")
            here.chat.prompts.send("and another")
            assert here.chat.status.notice == "Trying m."
            assert not here.chat.runner.is_busy

        with suppress(ProviderError), here.chat.prompts.held("Trying m."):
            send_both()
            raise ProviderError("It does not answer.")
        assert here.chat.prompt_box.text == "one thing\n\nand another"
        here.chat.prompt_box.clear()
        with here.chat.prompts.held("Trying m."):
            send_both()
        await here.until(lambda: here.prompts == ["one thing\n\nand another"])
        await here.until(lambda: not here.chat.runner.is_busy)


async def test_a_prompt_that_never_came_into_the_log_is_back_in_the_box(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk, or interrupted while it waited for an operation, it was nowhere."""
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        async with here.session._gate.alone():
            here.chat.prompts.send("and another")
            here.chat.prompt_box.set_text("typed since")
            await here.pilot.pause()
            await here.interrupt()
        assert here.chat.prompt_box.text == "and another\n\ntyped since"
        here.chat.prompt_box.set_text("")
        with monkeypatch.context() as full:
            full.setattr(os, "write", fail_with(errno.ENOSPC))
            await here.say("a third")
        assert here.chat.prompt_box.text == "a third"
        assert "Alt+A to retry" not in shown(here.app)
        assert here.prompts == ["one thing"]


async def test_a_command_that_was_interrupted_while_it_waited_is_back_in_the_box(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        async with here.session._gate.alone():
            here.chat.prompt_box.post_message(PromptBox.Submitted("echo one", shell=True))
            await here.until(lambda: here.chat.runner.is_busy)
            here.chat.prompt_box.set_text("typed since")
            await here.pilot.pause()
            await here.interrupt()
        assert here.chat.prompt_box.text == "!echo one\n\ntyped since"
        assert here.chat.status.work == ""
        here.chat.prompt_box.set_text("")
        here.chat.prompt_box.post_message(PromptBox.Submitted("echo two", shell=True))
        await here.until(lambda: "two" in shown(here.app) and not here.chat.runner.is_busy)
        assert here.chat.prompt_box.text == ""


async def test_a_marker_that_is_pressed_twice_asks_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        here.app.chat_screen.run_command("revert", "0")
        here.app.chat_screen.run_command("revert", "0")
        await here.until(lambda: isinstance(here.app.screen, RevertPreviewScreen))
        await here.pilot.pause(0.2)
        await here.pilot.press("escape")
        await here.until(lambda: here.app.screen is here.app.chat_screen)
        here.app.chat_screen.run_command("revert", "0")
        await here.until(lambda: isinstance(here.app.screen, RevertPreviewScreen))


async def test_a_marker_leads_straight_to_its_preview_which_is_worked_out_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    preview_revert = checkpoints.preview_revert

    def count(records: Sequence[Record], checkpoint: int, *more: Any) -> RevertPreview:
        asked.append(checkpoint)
        return preview_revert(records, checkpoint, *more)

    monkeypatch.setattr(checkpoints, "preview_revert", count)
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        here.chat.timeline.post_message(Timeline.CheckpointPressed(0))
        await here.until(lambda: isinstance(here.app.screen, RevertPreviewScreen))
        await here.pilot.press("y")
        await here.until(lambda: here.chat.prompt_box.text == "one thing")
        assert asked == [0]


async def test_who_types_on_after_a_click_in_the_conversation_means_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        await here.pilot.click("Timeline", offset=(10, 1))
        await here.pilot.pause(0.2)
        if here.app.screen is not here.app.chat_screen:
            await here.pilot.press("escape")
            await here.until(lambda: here.app.screen is here.app.chat_screen)
        await here.pilot.press("u")
        assert here.chat.prompt_box.text == "u"
        assert here.prompts == ["one thing"]


async def test_a_reverted_prompt_leaves_the_box_with_an_undo_and_comes_back_with_a_redo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one")
        await here.say("two")
        box, operations = here.chat.prompt_box, here.session.operations
        at = next(c.id for c in here.session.view.checkpoints() if c.prompt == "two")
        await operations.revert(at)
        await here.until(lambda: box.text == "two")
        await operations.undo()
        await here.until(lambda: box.text == "")
        await operations.redo()
        await here.until(lambda: box.text == "two")
        box.set_text("two, and more")
        await operations.undo()
        await here.until(lambda: here.prompts == ["one", "two"])
        assert box.text == "two, and more"  # it was edited: only who typed it may drop it
        await operations.redo()
        await here.until(lambda: here.prompts == ["one"])
        assert box.text == "two, and more"


async def test_what_is_typed_like_a_prompt_sent_before_stays_at_an_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one")
        await here.session.operations.revert(0)
        await here.until(lambda: here.chat.prompt_box.text == "one")
        here.chat.prompt_box.set_text("")
        await here.say("one")
        await here.session.operations.rename("a name")
        here.chat.prompt_box.set_text("one")
        await here.session.operations.clear()
        await here.until(lambda: here.prompts == [])
        assert here.chat.prompt_box.text == "one"


@pytest.mark.every_python
async def test_each_of_three_quick_undos_takes_an_act_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        for prompt in ("one", "two", "three"):
            await here.say(prompt)
        session = here.chat.session
        assert session is not None
        for prompt in ("three", "two", "one"):
            at = next(c.id for c in session.view.checkpoints() if c.prompt == prompt)
            await session.operations.revert(at)
        for _ in range(3):
            here.app.chat_screen.run_command("undo")
        await here.until(lambda: here.prompts == ["one", "two", "three"])


async def test_a_rename_is_taken_back_by_a_key_and_said_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        status, shown = here.chat.status, here.shown
        here.app.chat_screen.run_command("rename", "A good name")
        await here.until(lambda: status.title == "A good name")
        here.app.chat_screen.run_command("model", "another")
        await here.until(lambda: status.model == "another")
        for letter, title, told in (
            ("u", "A good name", "Model: scripted. Redo with Alt+R."),
            ("u", "one thing", "Name: “one thing”. Redo with Alt+R."),
            ("r", "A good name", "Name: “A good name”. Undo with Alt+U."),
            ("r", "A good name", "Model: another. Undo with Alt+U."),
        ):
            # As terminals do that send the letter along: it is no letter for the prompt.
            here.app.post_message(Key(f"alt+{letter}", letter))
            await here.until_said(told)
            assert status.title == title
        assert (status.model, here.chat.prompt_box.text) == ("another", "")
        assert here.shown == [*shown, NoticeBlock("Model: another")]
        assert here.prompts == ["one thing"]


async def test_esc_ends_a_command_that_the_user_runs_and_gives_back_what_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.prompt_box.post_message(PromptBox.Submitted("sleep 600", shell=True))
        await here.until(lambda: here.chat.status.work == "running your command")
        here.chat.prompts.send("said meanwhile")
        assert here.queued == ["said meanwhile"]
        await here.pilot.press("escape")
        await here.until(lambda: not here.chat.runner.is_busy)
        assert here.chat.status.work == ""
        assert here.chat.prompt_box.text == "said meanwhile"
        assert here.queued == []
        block = here.shown[-1]
        assert isinstance(block, ShellBlock)
        # Whether it changed files is told when the folder has been looked at: before or after.
        block = replace(block, changed=None)
        assert block == ShellBlock("sleep 600", "[interrupted]", "interrupted")


async def test_what_is_sent_while_a_command_of_the_user_runs_is_asked_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came back into the box, as if nobody had sent it."""
    async with desk(tmp_path, monkeypatch) as here:
        frame, go = here.chat.prompt_box.frame, tmp_path / "go"
        command = f"until [ -e {go} ]; do sleep 0.02; done"
        here.chat.prompt_box.post_message(PromptBox.Submitted(command, shell=True))
        await here.until(lambda: here.chat.status.work == "running your command")
        assert "when the command has ended" in frame._placeholders()[0]
        assert "stop it" in str(frame.border_subtitle)
        here.chat.prompts.send("said meanwhile")
        here.chat.prompts.send("and this")
        here.chat.prompts.run_shell("ls")
        assert here.chat.status.notice.startswith("A command is working")
        here.chat.prompt_box.set_text("")
        assert here.queued == ["said meanwhile", "and this"]
        go.touch()
        await here.until(lambda: here.prompts[1:] == ["said meanwhile\n\nand this"])
        await here.until(lambda: not here.chat.runner.is_busy)
        assert here.queued == []
        assert here.chat.prompt_box.text == ""
        assert not frame.waits


async def test_a_command_typed_while_the_agent_works_stays_in_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.prompts.send("one thing")
        here.chat.prompt_box.post_message(PromptBox.Submitted("echo no", shell=True))
        await here.until(lambda: here.chat.prompt_box.text == "!echo no")
        await here.until(lambda: not here.chat.runner.is_busy)
        assert here.prompts == ["one thing"]


async def test_who_quits_twice_is_told_of_the_session_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Textual takes every farewell but the first for an error, and says that there were some."""
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        await asyncio.gather(here.app.action_quit(), here.app.action_quit())
        await here.app.action_quit()
        assert len(here.app._exit_renderables) == 1


async def test_a_fault_of_our_own_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(tmp_path, monkeypatch) as here:

        async def fail(_session: object) -> None:
            raise KeyError("lost")

        here.chat.runner.start(fail)
        await here.until(lambda: here.blocks.block(len(here.blocks) - 1) is not None)
        said = here.blocks.block(len(here.blocks) - 1)
        assert isinstance(said, NoticeBlock)
        assert "KeyError: 'lost'" in said.text


async def test_who_reads_further_up_is_not_moved_by_what_another_window_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = Reply(text="A line that says something.\n\n" * 60)
    async with Stage(
        tmp_path, long, Reply(text="and more"), Reply(text="after"), home="home/demo"
    ) as stage:
        await stage.say("first")
        async with desk(tmp_path, monkeypatch, stage.session.session_id) as here:
            timeline = here.chat.timeline
            assert here.chat.status.banner
            await here.pilot.pause()
            timeline.focus()
            await here.pilot.press("home")
            top = timeline._reading.top
            await stage.say("second")
            await here.until(lambda: here.prompts == ["first", "second"])
            await here.pilot.pause(0.1)
            assert timeline._reading.top == top
            await stage.operations.revert(0)
            await stage.say("another")
            await here.until(lambda: here.prompts == ["another"])


async def test_the_gauge_shows_what_fills_the_context_after_each_act(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:

        def kinds() -> set[str]:
            return {share.kind for share in here.chat.gauge.gauge.shares}

        await here.until(lambda: {"system prompt", "tools"} <= kinds())
        assert "user" not in kinds()
        await here.say("one thing")
        await here.until(lambda: {"user", "agent"} <= kinds())
        here.chat.runner.start(lambda session: session.operations.revert(0))
        await here.until(lambda: "user" not in kinds())


@pytest.mark.parametrize(
    ("command", "told"),
    [("undo", "There is nothing to undo."), ("redo", "There is nothing to redo.")],
)
async def test_nothing_to_take_back_is_said_in_the_status_line_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, told: str
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        shown = here.shown
        here.app.chat_screen.run_command(command)
        await here.until_said(told)
        assert here.shown == shown


async def scroll_up(here: Desk) -> None:
    """Fill more than a screen and go to its beginning."""
    for number in range(4):
        await here.say(f"Explain how the tide is calculated, part {number}")
    here.chat.timeline.action_first()
    assert not here.chat.timeline.at_end


async def test_who_sends_a_message_or_meets_an_error_is_taken_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await scroll_up(here)
        here.chat.prompts.send("and another")
        assert here.chat.timeline.at_end
        here.chat.timeline.action_first()
        here.chat.prompts.send("said meanwhile")
        assert here.chat.timeline.at_end
        await here.until(lambda: not here.chat.runner.is_busy)
        here.chat.timeline.action_first()

        async def fail(_session: object) -> None:
            raise StorageError("The disk is full.")

        here.chat.runner.start(fail)
        await here.until(lambda: here.chat.timeline.at_end)
        assert NoticeBlock("The disk is full.", "error") in here.shown


@pytest.mark.parametrize("end", ["failed", "done"])
async def test_a_turn_that_failed_shows_its_error_and_another_leaves_the_reader_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: TurnEnd
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await scroll_up(here)
        here.chat.log.view._listener.turn_finished(end, 1)
        assert here.chat.timeline.at_end == (end == "failed")


async def test_an_approval_is_shown_with_the_end_of_the_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await scroll_up(here)
        call = ToolCall("c1", "run_command", '{"command": "ls"}')
        here.chat.log.view._listener.approval_requested(
            ApprovalRequest("r1", call, "Run ls", CommandDisplay("ls")), is_own=True
        )
        await here.until(lambda: isinstance(here.app.screen, ApprovalScreen))
        assert here.chat.timeline.at_end


async def test_a_compaction_that_was_made_is_told_with_its_way_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        report = CompactionReport("manual", "last-messages", 12_400, 3_100, 2, 7, 1, 4)
        here.chat.log.view._listener.compaction_finished(report, "")
        told = "Compacted: 12.4k → 3.1k tokens. Undo with Alt+U."
        assert here.chat.status.notice == told
        here.chat.log.view._listener.step_began(2)
        assert here.chat.status.notice == told
        here.chat.log.view._listener.compaction_finished(None, "It would not be smaller.")
        here.chat.status.notice = "retry 2 in 4 s: busy"
        here.chat.log.view._listener.step_began(3)
        assert here.chat.status.notice == ""


async def test_what_was_on_the_screen_before_a_compaction_stays_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        for prompt in ("one thing", "another"):
            await here.say(prompt)
        await here.session.operations.trim(ContextFilter(max_messages=2))
        report = CompactionReport("auto", "last-messages", 12_400, 3_100, 2, 7, 1, 4)
        here.chat.log.view._listener.compaction_finished(report, "")
        assert here.shown[0] == EarlierHeadBlock(2, folded=True)
        assert here.chat.timeline.at_end
        here.blocks.fold_earlier()
        assert EarlierBlock(UserBlock("one thing")) in here.shown
        assert [b.text for b in here.shown if isinstance(b, UserBlock)] == ["another"]
        assert EarlierBlock(UserBlock("another")) not in here.shown


async def test_what_compactions_took_out_is_read_again_where_a_session_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        for prompt in ("another", "a third"):
            await here.say(prompt)
            await here.session.operations.trim(ContextFilter(max_messages=2))
        await here.say("a fourth")
        here.chat.log.load()
        await here.until(lambda: isinstance(here.shown[0], EarlierHeadBlock))
        assert here.shown[0] == EarlierHeadBlock(4, folded=True)
        assert [b.text for b in here.shown if isinstance(b, UserBlock)] == ["a third", "a fourth"]
        here.chat.timeline._blocks.fold_earlier()
        prompts = [UserBlock("one thing"), UserBlock("another"), UserBlock("a third")]
        assert [here.shown.count(EarlierBlock(each)) for each in prompts] == [1, 1, 0]
        assert here.chat.timeline.at_end


async def test_after_looking_at_an_archive_the_same_one_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        for prompt in ("one", "two"):
            await here.say(prompt)
            here.chat.runner.start(lambda session: session.operations.clear())
            await here.until(lambda: here.prompts == [])
        await here.pilot.press("f5")
        await here.until(lambda: isinstance(here.app.screen, ArchivesScreen))
        await here.until(lambda: here.app.screen.query_one(Rows).count == 2 * 2)
        await here.pilot.press("down", "enter")
        await here.until(lambda: isinstance(here.app.screen, BrowseScreen))
        await here.pilot.press("escape")
        await here.until(lambda: isinstance(here.app.screen, ArchivesScreen))
        await here.until(lambda: here.app.screen.query_one(Rows).count == 2 * 2)
        await here.pilot.press("r")
        await here.until(lambda: isinstance(here.app.screen, ConfirmScreen))
        await here.pilot.press("y")
        await here.until(lambda: here.prompts == ["one"])


async def test_after_a_conversation_the_welcome_marks_nothing_as_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.pilot.press("down", "down")
        assert here.chat.welcome.cursor >= 0
        await here.say("one")
        here.chat.runner.start(lambda session: session.operations.clear())
        await here.until(lambda: here.chat.welcome.display)
        assert here.chat.welcome.cursor == -1


_HOW_TO_REVERT = "Ask anything, or click ◇ to revert"


async def test_the_empty_prompt_says_once_after_the_first_answer_how_to_revert(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        invited = here.chat.prompt_box.frame
        await here.say("one")
        await here.until(lambda: invited.invitation[0] == _HOW_TO_REVERT)
        assert len(invited.invitation[0]) <= 40 - 6, "it fits into a terminal of 40 columns"
        await here.say("two")
        assert invited.invitation == ("Ask anything",)
        await here.pilot.press("ctrl+n")
        await here.until(lambda: here.prompts == [])
        await here.say("one")
        assert invited.invitation == ("Ask anything",)


async def test_how_to_revert_is_told_in_a_few_runs_and_then_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came back at every start of the program, for ever."""
    times = 3
    for _ in range(times):
        async with desk(tmp_path, monkeypatch) as here:
            await here.say("one")
            await here.until(lambda: here.chat.prompt_box.frame.invitation[0] == _HOW_TO_REVERT)
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one")
        await _settle_hints(here)
        assert here.chat.prompt_box.frame.invitation == ("Ask anything",)


async def test_who_has_reverted_once_is_not_told_again_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one")
        await here.until(lambda: here.chat.prompt_box.frame.invitation[0] == _HOW_TO_REVERT)
        here.chat.runner.start(lambda session: session.operations.revert(0))
        await here.until(lambda: here.prompts == [])
        await _settle_hints(here)
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one")
        await _settle_hints(here)
        assert here.chat.prompt_box.frame.invitation == ("Ask anything",)


async def _settle_hints(here: Desk) -> None:
    """Wait until what keeps hints has ended."""
    workers = here.app.chat_screen.workers
    await here.until(lambda: all(w.is_finished for w in workers if w.group == "hint"))


async def test_the_empty_prompt_says_how_a_failed_turn_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one")
        invited = here.chat.prompt_box.frame
        here.chat.log.view.handle(TurnFinished(1, "failed", 1))
        assert invited.invitation[0] == "Ask anything, or press Alt+A to retry, or use /model"
        here.chat.notices.notice("Something else.")
        assert invited.invitation[0] == "Ask anything, or press Alt+A to retry, or use /model"
        here.chat.log.view.handle(TurnResumed(1))
        assert invited.invitation[0] == "Ask anything"


async def test_the_end_of_a_background_command_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.log.view.handle(BackgroundChanged(("make watch",)))
        here.chat.log.view.handle(BackgroundChanged(("make watch", "sleep 9")))
        told = here.chat.status.notice
        here.chat.log.view.handle(BackgroundChanged(("make watch",), "sleep 9"))
        assert here.chat.status.notice == "Background command ended: sleep 9" != told


async def test_a_skill_of_a_folder_that_is_not_trusted_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.app.chat_screen.run_command("skill:tide")
        await here.until_said("There is no command /skill:tide; F1 to list them all.")
        assert here.chat.engine is not None

        async def shipped() -> tuple[str, ...]:
            return (".agents",)

        monkeypatch.setattr(here.chat.engine.project, "untrusted_files", shipped)
        here.app.chat_screen.run_command("skill:tide")
        await here.until_said(
            "There is no command /skill:tide; to use those of this folder, restart and trust it."
        )


async def test_the_status_says_that_no_session_could_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.app.chat_screen.fail_to_begin("There is no agent 'x'.")
        assert here.chat.status.banner == "no session"


async def test_an_event_that_cannot_be_shown_is_told_and_its_turn_is_shown_from_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:

        def fail(_text: str) -> None:
            raise RuntimeError("no such colour")

        monkeypatch.setattr(here.chat.timeline, "stream_text", fail)
        await here.say("one")
        monkeypatch.undo()
        assert here.prompts == ["one"]
        shown = [plain_text(block) for block in here.shown]
        assert any("one" in text for text in shown)
        await here.say("two")
        assert here.prompts == ["one", "two"]
        assert not here.chat.wire.is_broken


async def test_a_key_asks_again_where_a_turn_ended_without_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Scripted.stream
    failed: list[bool] = []

    async def stream(self: Scripted, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        if not failed:
            failed.append(True)
            raise ProviderError("The server went away.")
        async for part in answer(self, request):
            yield part

    monkeypatch.setattr(Scripted, "stream", stream)
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("What files are here?")
        assert any(plain_text(block) == "The server went away." for block in here.shown)
        invited = here.chat.prompt_box.frame.invitation[0]
        assert invited == "Ask anything, or press Alt+A to retry, or use /model"
        await here.pilot.press("alt+a")
        await here.until(
            lambda: (
                not here.chat.runner.is_busy
                and any(isinstance(block, AssistantBlock) for block in here.shown)
            )
        )
        assert here.prompts == ["What files are here?"]
        await here.pilot.press("alt+a")
        await here.until(
            lambda: any(plain_text(block).startswith("Nothing to retry") for block in here.shown)
        )


@pytest.mark.parametrize(("key", "folder"), [("n", ""), ("y", "/")])
async def test_a_session_of_a_wide_folder_asks_before_it_works_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, folder: str
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    _write_wide_session(tmp_path)
    app = AgentTui(Launch(tmp_path, resume="wide"))
    async with app.run_test(size=(100, 30)) as pilot:
        here = Desk(app, pilot)
        await here.until(lambda: isinstance(app.screen, WideFolderScreen))
        await pilot.pause(0.5)
        assert not _told_of_folder(here), "the question says it"
        await pilot.press(key)
        await here.until(lambda: not isinstance(app.screen, WideFolderScreen))
        await here.until(lambda: bool(here.wide_folder) is not bool(folder))
        assert here.chat.session is not None
        await here.chat.session.run_shell(f"pwd > {tmp_path}/told")
        assert (tmp_path / "told").read_text().strip() == (folder or str(tmp_path))
        assert _told_of_folder(here) is not bool(folder)
        await here.chat.end()


def _told_of_folder(here: Desk) -> bool:
    return any("is a home or system folder" in plain_text(block) for block in here.shown)


async def test_a_turn_that_runs_is_interrupted_before_its_session_moves_to_a_wide_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prompt of the command line begins a turn while the question stands there."""
    with SseServer([stream(text_chunk("Half an"), Pause(600), text_chunk("answer"))]) as server:
        for name, value in {"API_KEY": "sk-x", "BASE_URL": server.url}.items():
            monkeypatch.setenv(f"OPENAI_{name}", value)
        monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
        log = _write_wide_session(tmp_path)
        app = AgentTui(Launch(tmp_path, resume="wide", prompt="Go on", model="m"))
        async with app.run_test(size=(100, 30)) as pilot:
            here = Desk(app, pilot)
            await here.until(lambda: isinstance(app.screen, WideFolderScreen))
            await here.until(lambda: bool(server.requests) and here.chat.runner.is_busy)
            await pilot.pause(0.5)
            await pilot.press("y")
            await here.until(lambda: not here.wide_folder and not here.chat.runner.is_busy)
            ends = [json.loads(line) for line in log.read_text().splitlines()]
            assert [each["end"] for each in ends if each["role"] == "_turn_end"] == ["cancelled"]
            await here.chat.end()


def _write_wide_session(folder: Path) -> Path:
    """The log of a session that names the root as its folder."""
    place = folder / "home" / "projects" / "-" / "wide"
    place.mkdir(parents=True, mode=0o700)
    header = {"role": "_session", "format": 1, "session_id": "wide", "cwd": "/"}
    lines = (header, {"role": "user", "content": "go"}, {"role": "assistant", "content": "on"})
    (place / "context.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return place / "context.jsonl"


@pytest.mark.parametrize("key", ["f1", "f2", "f3", "f8"])
async def test_esc_right_after_its_key_closes_a_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        workers = here.app.chat_screen.workers

        def is_done() -> bool:
            return not here.app._typed and all(
                worker.is_finished for worker in workers if worker.group == "flow"
            )

        for turns in (0, 1, 3):
            here.app.simulate_key(key)
            for _ in range(turns):
                await asyncio.sleep(0)
            here.app.simulate_key("escape")
            await here.pilot.pause(0.05)
            await here.until(is_done)
            assert here.app.screen is here.app.chat_screen


async def test_the_empty_prompt_says_how_to_come_back_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        for prompt in ("one thing", "\n".join(f"line {number}" for number in range(80))):
            await here.say(prompt)
        frame = here.chat.prompt_box.frame
        as_before = frame.invitation
        await here.pilot.press("pageup")
        await here.until(lambda: "press End for the newest" in shown(here.app))
        await here.pilot.press("end")
        await here.until(lambda: here.chat.timeline.at_end)
        await here.until(lambda: frame.invitation == as_before)
        await here.pilot.press("pageup", "a", "b", "home", "end", "c")
        await here.until(lambda: here.chat.prompt_box.text == "abc")
        assert not here.chat.timeline.at_end


async def test_the_prompt_says_how_to_make_room_while_the_context_is_nearly_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.prompts.send("What have we done so far?")
        await here.until(lambda: not here.chat.runner.is_busy)
        here.chat.panes.invite("")
        frame, gauge = here.chat.prompt_box.frame, here.chat.gauge
        gauge.gauge = replace(gauge.gauge, tokens=int(0.9 * gauge.gauge.trigger_at))
        await here.until(lambda: frame.invitation[0] == "Ask anything, or press F4 to compact")
        gauge.gauge = replace(gauge.gauge, tokens=1)
        await here.until(lambda: frame.invitation == ("Ask anything",))


async def test_a_blank_row_stands_below_the_conversation_where_there_are_rows_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.prompts.send("What have we done so far?")
        await here.until(lambda: not here.chat.runner.is_busy)
        timeline, prompt = here.chat.timeline, here.chat.prompt_box
        await here.until(lambda: prompt.region.y == timeline.region.bottom)
        await here.pilot.resize_terminal(100, 40)
        await here.until(lambda: prompt.region.y == timeline.region.bottom + 1)
