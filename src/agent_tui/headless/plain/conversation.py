"""A conversation in plain lines: nothing moves, nothing is drawn; for screen readers and pipes.

Each line of standard input is a message, a ``/command``, a ``!command``, or, while the agent waits
for one, an answer.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections import deque
from collections.abc import Coroutine
from typing import Any

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalRequest,
    ApprovalRequested,
    Event,
    Question,
    QuestionAsked,
)
from agent_tui.core.output import complain
from agent_tui.core.text import first_line
from agent_tui.core.words import say_how
from agent_tui.headless.input_lines import InputLine, input_lines
from agent_tui.headless.plain.asking import ask_lines
from agent_tui.headless.plain.commands import run_plain_command
from agent_tui.headless.plain.lines import PlainLines
from agent_tui.headless.plain.telling import tell
from agent_tui.headless.plain.typed import TypedLines
from agent_tui.headless.reader_gone import ReaderGone
from agent_tui.headless.ways import PLAIN_WAYS
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.live_session import LiveSession
from agent_tui.runtime.starting.launch import Launch

_TOO_SOON_SECONDS = 0.5
"""A line this soon after a question was typed before it, and does not answer it."""
_LONGEST = 160

_Asked = ApprovalRequest | Question


async def converse(launch: Launch) -> int:
    """Talk with the agent line by line until standard input closes; returns the exit code."""
    engine = await asyncio.to_thread(Engine.assemble, launch)
    reader = ReaderGone()
    try:
        session = await engine.open_launched()
        try:
            for notice in (*session.notices, *await engine.settle_tools()):
                complain(say_how(notice, PLAIN_WAYS))
            await _PlainConversation(session, reader).run(launch.prompt)
        except asyncio.CancelledError:
            reader.check()
            raise
        finally:
            await engine.close_session(session)
    finally:
        await engine.aclose()
    return 0


class _PlainConversation:
    """One session, what runs in it now, and what waits for an answer."""

    def __init__(self, session: LiveSession, reader: ReaderGone) -> None:
        self._session = session
        self._lines = PlainLines()
        self._work: asyncio.Task[None] | None = None
        self._is_turn = False
        self._waiting: list[str] = []
        self._asked: deque[_Asked] = deque()
        self._asked_at = 0.0
        self._closed = False
        self._over = False
        session.subscribe(self._hear, reader.stop)

    async def run(self, prompt: str) -> None:
        """Work until standard input closes and the last turn has ended."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        title = self._session.view.title or "new session"
        tell(f"agent-tui, plain: {first_line(title)}. Type a message, or /help.")
        if prompt.strip():
            self._begin_turn(prompt)
        lines = TypedLines(input_lines())
        try:
            while (line := await lines.next()).text:
                if not (self._asked and await self._take_answer(line, lines)):
                    self._take(line.text.strip())
            self._closed = True
            self._reject_all()
            while self._work is not None and self._busy:  # one may be followed by a turn
                await asyncio.gather(self._work, return_exceptions=True)
        finally:
            self._over = True
            if self._work is not None:
                self._work.cancel()
            loop.remove_signal_handler(signal.SIGINT)

    @property
    def _busy(self) -> bool:
        return self._work is not None and not self._work.done()

    async def _take_answer(self, line: InputLine, lines: TypedLines) -> bool:
        """Let a line answer what was asked; False where it was not written to do so.

        That is what was typed before the question could be read, and text that was pasted.
        """
        asked, too_soon = self._asked[0], self._asked_at + _TOO_SOON_SECONDS
        if line.read_at < too_soon or not await lines.is_alone(line):
            return False
        if not self._asked or self._asked[0] is not asked:
            return False
        if self._answer(asked, line.text.strip()):
            self._asked.popleft()
            self._ask_first()
        else:
            tell("Not an answer. Type yes, always or no; the action waits.")
        return True

    def _take(self, line: str) -> None:
        if not line:
            return
        if self._busy:
            if line.startswith(("/", "!")):
                running = "turn" if self._is_turn else "command"
                tell(f"Not run: wait for the running {running} to end, or press Ctrl+C.")
                return
            if not self._is_turn:
                tell("Your message is sent when the running command has ended.")
                self._waiting.append(line)
                return
            if self._asked:
                tell("Typed ahead or pasted: sent to the agent, not taken as an answer.")
            self._session.steer(line)
        elif line.startswith("/"):
            self._begin(run_plain_command(self._session, line))
        elif line.startswith("!"):
            self._begin(self._session.run_shell(line[1:].strip()))
        else:
            self._begin_turn(line)

    def _begin_turn(self, prompt: str) -> None:
        self._begin(self._session.run_turn(prompt), is_turn=True)

    def _send_what_waits(self) -> None:
        """Begin a turn with the messages that came too late for one, or during a command."""
        waiting = self._take_what_waits()
        if waiting:
            self._begin_turn(waiting[0])
        for message in waiting[1:]:
            self._session.steer(message)

    def _take_what_waits(self) -> list[str]:
        waiting = [*self._session.take_steers(), *self._waiting]
        self._waiting.clear()
        return waiting

    def _begin(self, work: Coroutine[Any, Any, object], *, is_turn: bool = False) -> None:
        self._is_turn = is_turn

        async def carry_out() -> None:
            try:
                await work
            except AgentTuiError as error:
                tell(say_how(str(error), PLAIN_WAYS))
            except asyncio.CancelledError:
                tell("Interrupted. The session is safe.")
            except Exception as error:
                tell(f"Internal error: {type(error).__name__}: {error}.")
            finally:
                self._asked.clear()
            if not self._over:
                self._send_what_waits()

        self._work = asyncio.create_task(carry_out())

    def _hear(self, event: Event) -> None:
        for line in self._lines.hear(event):
            tell(line)
        match event:
            case ApprovalRequested(asked) | QuestionAsked(asked):
                self._asked.append(asked)
                if self._closed:
                    self._reject_all()
                elif len(self._asked) == 1:
                    self._ask_first()
            case _:
                pass

    def _ask_first(self) -> None:
        """Put what waits longest before the person; the others follow one by one."""
        self._asked_at = time.monotonic()
        for line in ask_lines(self._asked[0]) if self._asked else ():
            tell(line)

    def _answer(self, asked: _Asked, line: str) -> bool:
        """Answer what was asked; False where the line is no answer to it."""
        if isinstance(asked, Question):
            self._session.questions.answer(asked.id, _choice(asked, line))
            return True
        answer = _approval(asked, line)
        if answer is not None:
            self._session.approvals.answer(asked.id, answer)
        return answer is not None

    def _reject_all(self) -> None:
        """Nobody is there any longer to answer."""
        while self._asked:
            asked = self._asked.popleft()
            if isinstance(asked, Question):
                self._session.questions.answer(asked.id, "")
            else:
                self._session.approvals.answer(asked.id, ApprovalAnswer("reject"))

    def _interrupt(self) -> None:
        if self._work is not None and self._busy:
            self._asked.clear()
            for message in self._take_what_waits():
                tell(f"Not sent: {first_line(message, _LONGEST)}")
            self._work.cancel()
        else:
            tell("Nothing is running. Press Ctrl+D to quit.")


def _choice(question: Question, line: str) -> str:
    """The answer that a line is: a choice by its number, or the line itself."""
    if line.isascii() and line.isdigit() and 0 < int(line) <= len(question.choices):
        return question.choices[int(line) - 1]
    return line


def _approval(request: ApprovalRequest, line: str) -> ApprovalAnswer | None:
    """The decision that a line is, or None where it is none."""
    word, _, rest = line.partition(" ")
    match word.casefold().rstrip(",.:"):
        case "yes" | "y" if not rest:
            return ApprovalAnswer("once")
        case "always" if not rest and request.offers:
            return ApprovalAnswer("session", rule=request.offers[0])
        case "no" | "n":
            return ApprovalAnswer("reject", feedback=rest.strip())
        case _:
            return None
