"""Permission for actions: who is waiting for a person, and what a person allowed for good."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterable
from typing import Any

from agent_tui.agent.permissions import Rule, is_risky_edit, offers_for, rules_allow
from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalAnswered,
    ApprovalRequest,
    ApprovalRequested,
    Event,
    ModeChanged,
)
from agent_tui.core.messages import Display, ToolCall
from agent_tui.core.modes import ApprovalMode
from agent_tui.tools.base import Subject

ANY_SUBJECT = Subject()


def approval_key(tool: str, arguments: dict[str, Any], cwd: str) -> str:
    """What a remembered approval is about: tool, folder and arguments, in one canonical form."""
    return json.dumps([tool, cwd, arguments], sort_keys=True, ensure_ascii=False)


class Approvals:
    """Asks for permission over the wire and remembers what was allowed for this session.

    Args:
        emit: tells the listeners of the session.
        mode: how much is allowed without asking; ``yolo`` is short for the mode ``auto``.
        always: rules of the user's settings and of the command line.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        *,
        yolo: bool = False,
        mode: ApprovalMode = "ask",
        always: Iterable[Rule] = (),
    ) -> None:
        self.mode: ApprovalMode = "auto" if yolo else mode
        self.always = tuple(always)
        self.session_rules: list[Rule] = []
        self._emit = emit
        self._allowed: set[str] = set()
        self._waiting: dict[str, asyncio.Future[ApprovalAnswer]] = {}
        self._numbers = itertools.count(1)
        self._turnstile = asyncio.Lock()

    def set_mode(self, mode: ApprovalMode) -> None:
        """Work in another mode from the next action on."""
        if mode != self.mode:
            self.mode = mode
            self._emit(ModeChanged(mode))

    def revoke(self, rule: Rule) -> None:
        """Ask again for what a rule of this session allowed."""
        self.session_rules = [each for each in self.session_rules if each != rule]

    @property
    def single_actions(self) -> int:
        """How many actions are allowed for the session exactly as they were."""
        return len(self._allowed)

    def revoke_single_actions(self) -> None:
        """Ask again for every action that was allowed by itself."""
        self._allowed.clear()

    async def ask(
        self,
        call: ToolCall,
        *,
        key: str,
        title: str,
        display: Display | None,
        subject: Subject = ANY_SUBJECT,
    ) -> tuple[str, ApprovalAnswer]:
        """Wait for a decision; requests are put to the person one at a time.

        Returns:
            The request's id (empty when nobody had to be asked) and the answer.
        """
        async with self._turnstile:
            if self._allows(call.name, key, subject):
                return "", ApprovalAnswer("once")
            offers = tuple(str(rule) for rule in offers_for(call.name, subject))
            name = f"approval-{next(self._numbers)}"
            request = ApprovalRequest(name, call, title, display, offers)
            answer = await self._wait_for(request)
            if answer.decision == "session":
                self._remember(key, answer.rule)
            self._emit(ApprovalAnswered(request, answer))
            return request.id, answer

    def _allows(self, tool: str, key: str, subject: Subject) -> bool:
        if self.mode == "auto" or key in self._allowed:
            return True
        if self.mode == "accept-edits" and subject.kind == "edit":
            return not is_risky_edit(subject.text)
        return rules_allow((*self.always, *self.session_rules), tool, subject)

    def _remember(self, key: str, rule: str) -> None:
        if rule:
            self.session_rules.append(Rule.parse(rule))
        else:
            self._allowed.add(key)

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
