"""Permission for actions: who is waiting for a person, and what a person allowed for good."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalAnswered,
    ApprovalRequest,
    ApprovalRequested,
    Event,
)
from agent_tui.core.messages import Display, ToolCall


def approval_key(tool: str, arguments: dict[str, Any], cwd: str) -> str:
    """What a remembered approval is about: tool, folder and arguments, in one canonical form."""
    return json.dumps([tool, cwd, arguments], sort_keys=True, ensure_ascii=False)


class Approvals:
    """Asks for permission over the wire and remembers what was allowed for this session.

    ``yolo`` allows everything without asking.
    """

    def __init__(self, emit: Callable[[Event], None], *, yolo: bool = False) -> None:
        self.yolo = yolo
        self._emit = emit
        self._allowed: set[str] = set()
        self._waiting: dict[str, asyncio.Future[ApprovalAnswer]] = {}
        self._numbers = itertools.count(1)
        self._turnstile = asyncio.Lock()

    async def ask(
        self, call: ToolCall, *, key: str, title: str, display: Display | None
    ) -> tuple[str, ApprovalAnswer]:
        """Wait for a decision; requests are put to the person one at a time.

        Returns:
            The request's id (empty when nobody had to be asked) and the answer.
        """
        async with self._turnstile:
            if self.yolo or key in self._allowed:
                return "", ApprovalAnswer("once")
            request = ApprovalRequest(f"approval-{next(self._numbers)}", call, title, display)
            answer = await self._wait_for(request)
            if answer.decision == "session":
                self._allowed.add(key)
            self._emit(ApprovalAnswered(request, answer))
            return request.id, answer

    async def _wait_for(self, request: ApprovalRequest) -> ApprovalAnswer:
        future: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = future
        try:
            self._emit(ApprovalRequested(request))
            return await future
        finally:
            del self._waiting[request.id]

    def answer(self, request_id: str, answer: ApprovalAnswer) -> None:
        """Give a person's decision; one that nobody waits for any more is ignored."""
        future = self._waiting.get(request_id)
        if future is not None and not future.done():
            future.set_result(answer)
