"""Questions of the agent: put to the user over the wire, one at a time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from functools import partial

from agent_tui.core.events import Event, Question, QuestionAnswered, QuestionAsked
from agent_tui.core.text import clean
from agent_tui.tools.base import Asks


class Questions:
    """Asks over the wire and waits for the answer.

    Args:
        emit: tells the listeners of the session.
    """

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._waiting: dict[str, asyncio.Future[str]] = {}
        self._numbers = itertools.count(1)
        self._turnstile = asyncio.Lock()

    def asker(self, call_id: str) -> Asks:
        """What one call asks its questions with."""
        return partial(self._ask, call_id)

    async def _ask(self, call_id: str, text: str, choices: tuple[str, ...] = ()) -> str:
        """Wait for the user's answer; empty where they would not, or where nobody is there."""
        async with self._turnstile:
            question = Question(f"question-{next(self._numbers)}", text, choices, call_id)
            future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            self._waiting[question.id] = future
            try:
                self._emit(QuestionAsked(question))
                answer = clean(await future)
            finally:
                del self._waiting[question.id]
            self._emit(QuestionAnswered(question, answer))
            return answer

    def is_waiting(self, question_id: str) -> bool:
        """Whether a question still waits for its answer."""
        return question_id in self._waiting

    def answer(self, question_id: str, answer: str) -> None:
        """Give the user's answer; ignored when nobody waits for it any more."""
        future = self._waiting.get(question_id)
        if future is not None and not future.done():
            future.set_result(answer)
