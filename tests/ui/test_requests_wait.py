"""A request of the agent waits while something else is open: keys meant for that answer nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.screen import ModalScreen

from agent_tui.core.events import ApprovalAnswer, ApprovalRequest
from agent_tui.core.messages import CommandDisplay, ToolCall
from agent_tui.core.modes import PRESENT_PLAN
from agent_tui.runtime.live_session import LiveSession
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.conversation.asking import _END_SECONDS, Requests
from agent_tui.ui.screens.dialogs.answer_guard import GUARD_SECONDS
from agent_tui.ui.screens.dialogs.sheet import Sheet
from agent_tui.ui.screens.dialogs.typed_answers import ALLOW_HOLD_SECONDS, WIDE_HOLD_SECONDS
from agent_tui.ui.widgets.bars.waiting_note import WaitingNote
from agent_tui.ui.widgets.lists.rows import Rows
from tests.ui.stage import hurry, shown
from tests.waiting import until

pytestmark = pytest.mark.slow

Ask = Callable[[LiveSession], Coroutine[Any, Any, object]]


async def ask_command(session: LiveSession) -> object:
    call = ToolCall("c1", "run_command", '{"command": "touch danger"}')
    display = CommandDisplay("touch danger")
    _, answer = await session.approvals.ask(call, key="k", title="Run", display=display)
    return answer.decision


async def ask_plan(session: LiveSession) -> object:
    call = ToolCall("c1", PRESENT_PLAN, '{"plan": "Delete it"}')
    _, answer = await session.approvals.ask(call, key="k", title="Plan", display=None)
    return answer.decision


async def ask_user(session: LiveSession) -> object:
    return await session.questions.asker("c1")("Which store?", ("SQLite", "Files"))


REQUESTS = [
    pytest.param("palette", ask_command, "Run this command?", "reject", id="command-palette"),
    pytest.param("sessions", ask_command, "Run this command?", "reject", id="command-sessions"),
    pytest.param("help", ask_plan, "Carry out this plan?", "reject", id="plan-help"),
    pytest.param("tools", ask_user, "Which store?", "", id="question-tools"),
    pytest.param("palette", ask_user, "Which store?", "", id="question-palette"),
]


class Place:
    """The running program, something that is open in it, and the agent that asks meanwhile."""

    def __init__(self, app: AgentTui, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    async def open(self, command: str) -> None:
        self.app.chat_screen.run_command(command)
        await until(self.pilot, lambda: self.app.screen is not self.app.chat_screen)
        await self.pilot.pause()

    def ask(self, ask: Ask) -> asyncio.Task[object]:
        assert self.app.chat.session is not None
        return asyncio.create_task(ask(self.app.chat.session))

    async def until_told(self, words: str) -> None:
        await until(self.pilot, lambda: bool(self.app.screen.query(WaitingNote)))
        await until(self.pilot, lambda: f"The agent asks: {words}" in shown(self.app))

    async def press_earlier(self, at: float, *keys: str) -> None:
        """Bring keys that were pressed at that time, however late they come."""
        for key in keys:
            event = Key(key, key if len(key) == 1 else None)
            event.time = at
            self.app.post_message(event)
        await self.pilot.pause()
        await self.pilot.pause()

    async def refuse(self, answer: asyncio.Task[object]) -> None:
        """Press Esc until it counts: on a busy machine it may come too late to."""
        deadline = monotonic() + 20
        while not answer.done():
            await self.pilot.press("escape")
            await self.pilot.pause(GUARD_SECONDS + 0.1)
            assert monotonic() < deadline

    async def until_asked(self) -> Sheet[Any]:
        await until(self.pilot, lambda: isinstance(self.app.screen, Sheet))
        assert isinstance(self.app.screen, Sheet)
        return self.app.screen


@asynccontextmanager
async def place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    monkeypatch.setenv("AGENT_TUI_HOME", str(folder / "home"))
    hurry(monkeypatch)
    app = AgentTui(Launch(folder, demo=True))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.screen_stack != [] and app.chat.session is not None)
        await until(pilot, lambda: app.chat.panes.side is not None)
        yield Place(app, pilot)
        await app.chat_screen.end()


@pytest.mark.parametrize(("command", "ask", "words", "refused"), REQUESTS)
async def test_a_request_waits_until_what_is_open_is_closed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    ask: Ask,
    words: str,
    refused: str,
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        await here.open(command)
        opened = here.app.screen
        answer = here.ask(ask)
        await here.until_told(words)
        await here.pilot.press("y", "1")
        await here.pilot.pause(WIDE_HOLD_SECONDS)
        assert here.app.screen is opened
        assert not answer.done()
        before = monotonic()
        while here.app.screen is opened:  # the first Esc may empty its search
            await here.pilot.press("escape")
            await here.pilot.pause()
        asked = await here.until_asked()
        await here.press_earlier(before, "escape", "y", "1")  # on their way when it opened
        assert here.app.screen is asked
        assert not answer.done()
        here.app.chat.prompt_box.clear()
        await here.pilot.pause(4 * GUARD_SECONDS + 0.1)
        await here.refuse(answer)
        assert answer.result() == refused


async def test_what_is_opened_over_it_says_that_a_request_waits_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        await here.open("sessions")
        answer = here.ask(ask_command)
        await here.until_told("Run this command?")
        await here.open("palette")
        await here.until_told("Run this command?")
        answer.cancel()
        await until(here.pilot, answer.done)
        here.app.chat.requests.drop_stale()
        await until(here.pilot, lambda: not here.app.screen.query(WaitingNote))
        await here.pilot.press("escape")
        await here.pilot.press("escape")
        await until(here.pilot, lambda: here.app.screen is here.app.chat_screen)


@pytest.mark.parametrize(
    ("ask", "words"), [(ask_command, "Run this command?"), (ask_user, "Which store?")]
)
async def test_a_screen_that_covers_a_request_says_that_it_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, words: str
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        answer = here.ask(ask)
        asked = await here.until_asked()
        here.app.chat_screen.run_command("sessions")  # its key was pressed just before
        await until(here.pilot, lambda: here.app.screen is not asked)
        await here.until_told(words)
        assert not asked.query(WaitingNote)
        await here.pilot.press("escape")
        await until(here.pilot, lambda: here.app.screen is asked)
        assert not answer.done()
        answer.cancel()


async def test_a_screen_that_has_not_begun_yet_says_so_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        answer = here.ask(ask_user)
        asked = await here.until_asked()
        chat_screen, opened = here.app.chat_screen, asyncio.Event()

        def open_screen() -> None:
            """Within one message of the conversation: the screen itself has not heard any."""
            here.app.push_screen(ModalScreen[None]())
            assert not here.app.screen.is_running
            opened.set()

        chat_screen.call_next(open_screen)
        await opened.wait()
        await here.until_told("Which store?")
        assert not asked.query(WaitingNote)
        answer.cancel()


async def test_what_no_longer_waits_gives_way_to_what_waits_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        await here.open("sessions")
        for question in ("First?", "", "Second?"):
            here.app.chat.requests._tell(question)
        await here.until_told("Second?")
        await here.pilot.pause()
        assert len(here.app.screen.query(WaitingNote)) == 1


@pytest.mark.parametrize(
    ("is_own", "queued", "held"), [(True, 0, True), (True, 2, False), (False, 0, False)]
)
async def test_only_a_rejection_that_ends_the_turn_is_waited_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_own: bool,
    queued: int,
    held: bool,
) -> None:
    holds: list[float] = []

    async def hold(_: Requests, seconds: float) -> None:
        holds.append(seconds)

    monkeypatch.setattr(Requests, "_hold_frame", hold)
    async with place(tmp_path, monkeypatch) as here:
        call = ToolCall("c1", "run_command", '{"command": "ls"}')
        request = ApprovalRequest("r1", call, "Run ls", CommandDisplay("ls"))
        here.app.chat.requests.approve(request, is_own=is_own)
        here.app.chat.requests.tell_queue(queued)
        asked = await here.until_asked()
        asked.dismiss(ApprovalAnswer("reject"))
        await until(here.pilot, lambda: bool(holds))
        assert (holds == [_END_SECONDS]) == held


async def test_what_was_to_be_drawn_during_a_hold_is_drawn_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        await here.open("sessions")
        drawn = here.app.screen
        checked: list[object] = []
        monkeypatch.setattr(drawn, "check_idle", lambda: checked.append(drawn))
        await here.app.chat.requests._hold_frame(0.0)
        assert checked == [drawn]


@pytest.mark.parametrize(
    ("ask", "mode", "words"),
    [
        (ask_command, "accept-edits", "Mode “accept edits” begins after this answer"),
        (ask_user, "accept-edits", "Mode “accept edits” begins after this answer"),
        (ask_plan, "ask", "your answer sets the mode"),
    ],
    ids=["command", "question", "plan"],
)
async def test_the_mode_changes_while_a_question_stands_and_answers_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, mode: str, words: str
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        waiting = here.ask(ask)
        await here.until_asked()
        await here.pilot.press("shift+tab")
        await until(here.pilot, lambda: words in shown(here.app), lambda: shown(here.app))
        assert here.app.chat.session is not None
        assert here.app.chat.session.approvals.mode == mode
        assert not waiting.done()
        await here.until_asked()


async def test_a_request_of_one_kind_waits_for_one_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        command = here.ask(ask_command)
        first = await here.until_asked()
        question = here.ask(ask_user)
        await here.pilot.pause(4 * GUARD_SECONDS)
        assert here.app.screen is first
        await here.refuse(command)
        await here.until_asked()
        assert not question.done()
        await here.pilot.pause(4 * GUARD_SECONDS)
        await here.refuse(question)


@pytest.mark.parametrize("then", [None, ask_command, ask_user], ids=["chat", "command", "question"])
@pytest.mark.parametrize("ask", [ask_command, ask_user], ids=["command", "question"])
async def test_a_click_while_a_key_is_held_gives_one_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, then: Ask | None
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        first = here.ask(ask)
        asked = await here.until_asked()
        second = here.ask(then) if then else None
        await until(here.pilot, lambda: not asked.guard.is_hidden)
        await here.pilot.pause(GUARD_SECONDS + 0.1)
        await here.pilot.press("1")
        await here.pilot.pause(ALLOW_HOLD_SECONDS - 0.2)
        await here.pilot.click(asked.query_one(Rows), offset=(4, 0))
        await until(here.pilot, first.done)
        await until(here.pilot, lambda: here.app.screen is not asked)
        if then is not None:
            await here.until_asked()
        below = here.app.screen
        await until(here.pilot, lambda: not asked.is_running)
        assert here.app.screen is below
        if second is not None:
            assert isinstance(below, Sheet)
            assert not second.done()
            await here.pilot.pause(4 * GUARD_SECONDS)
            await here.refuse(second)


async def test_a_question_that_was_answered_cannot_be_answered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        first, second = here.ask(ask_user), here.ask(ask_command)
        asked = await here.until_asked()
        asked.dismiss("SQLite")
        asked.dismiss("Files")
        await here.until_asked()
        asked.dismiss("Files")
        await until(here.pilot, first.done)
        assert first.result() == "SQLite"
        assert here.app.screen is not asked
        assert isinstance(here.app.screen, Sheet)
        assert not second.done()


@pytest.mark.parametrize("ask", [ask_command, ask_user], ids=["command", "question"])
async def test_an_answer_goes_to_the_session_that_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        answer = here.ask(ask)
        asked, holder = await here.until_asked(), here.app.chat.holder
        before, holder.session = holder.session, await holder.require_engine().new_session()
        assert before is not None
        other = asyncio.create_task(ask(holder.session))  # its requests have the same ids
        await here.pilot.pause(4 * GUARD_SECONDS)
        assert here.app.screen is asked
        await here.pilot.press("escape")
        await until(here.pilot, lambda: here.app.screen is not asked)
        await here.pilot.pause()
        assert (answer.done(), other.done()) == (True, False)
        other.cancel()
        await holder.require_engine().close_session(before)


async def test_a_drag_that_began_after_an_answer_is_not_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_tui.ui.app._LINGER_SECONDS", 1.0)  # also where all takes longer
    async with place(tmp_path, monkeypatch) as here:
        answer = here.ask(ask_user)
        asked = await here.until_asked()
        asked.dismiss("SQLite")
        await answer
        assert asked.is_running
        dragged = here.app.chat.timeline
        here.app.capture_mouse(dragged)
        await until(here.pilot, lambda: not asked.is_running)
        await here.pilot.pause()
        assert here.app.mouse_captured is dragged
