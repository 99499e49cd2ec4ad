"""Permission for actions: which await a person's decision, and what was allowed before."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Protocol

from agent_tui.agent.permissions import Rule, allowing_rules, is_risky_edit, offers_for
from agent_tui.core.errors import AgentTuiError
from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalAnswered,
    ApprovalRequest,
    ApprovalRequested,
    ApprovalsQueued,
    Event,
    ModeChanged,
    NoticeGiven,
)
from agent_tui.core.messages import Display, ToolCall
from agent_tui.core.modes import PRESENT_PLAN, ApprovalMode
from agent_tui.core.text import hides_characters
from agent_tui.tools.base import Subject

ANY_SUBJECT = Subject()


class KeepRule(Protocol):
    """Saves that a rule is kept for a folder, or no longer is. Blocks."""

    def __call__(self, rule: Rule, *, kept: bool) -> tuple[Rule, ...]:
        """The rules as they are now; raises AgentTuiError when they cannot be saved."""
        ...


def approval_key(tool: str, arguments: dict[str, Any], cwd: str) -> str:
    """What a remembered approval is about: tool, folder and arguments, in one canonical form."""
    return json.dumps([tool, cwd, arguments], sort_keys=True, ensure_ascii=False)


class Approvals:
    """Asks for permission over the wire and remembers what was allowed for this session.

    Args:
        emit: tells the listeners of the session.
        mode: how much is allowed without asking; ``yolo`` is short for the mode ``auto``.
        always: rules of the user's settings and of the command line.
        kept: rules that a person keeps for this folder.
        keep: writes them down; None where they count for this session only.
        drop: takes one of ``always`` out of the settings; None where they stay as they are.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        *,
        yolo: bool = False,
        mode: ApprovalMode = "ask",
        always: Iterable[Rule] = (),
        kept: Iterable[Rule] = (),
        keep: KeepRule | None = None,
        drop: Callable[[Rule], None] | None = None,
    ) -> None:
        self.mode: ApprovalMode = "auto" if yolo else mode
        self.always = tuple(always)
        self.session_rules: list[Rule] = []
        self.kept_rules = tuple(kept)
        self._keep = keep
        self._drop = drop
        self._emit = emit
        self._allowed: set[str] = set()
        self._waiting: dict[str, asyncio.Future[ApprovalAnswer]] = {}
        self._numbers = itertools.count(1)
        self._turnstile = asyncio.Lock()
        self._queued = 0
        self._queued_sources: list[str] = []
        self._told_sources: tuple[str, ...] = ()

    def set_mode(self, mode: ApprovalMode) -> None:
        """Use another mode from the next action on."""
        if mode != self.mode:
            self.mode = mode
            self._emit(ModeChanged(mode))

    def leave_plan(self, answer: ApprovalAnswer) -> None:
        """A plan was approved: ask before each edit, or accept them all, as was answered."""
        is_once = answer.decision == "once" and not answer.rule
        self.set_mode("ask" if is_once else "accept-edits")

    def revoke(self, rule: Rule) -> None:
        """Ask again for what a rule of this session allowed."""
        self.session_rules = [each for each in self.session_rules if each != rule]

    async def forget(self, rule: Rule) -> None:
        """Ask again for what a rule that was kept for this folder allowed.

        Raises:
            AgentTuiError: it could not be written down, so the rule still counts.
        """
        if self._keep is not None:
            self.kept_rules = await asyncio.to_thread(self._keep, rule, kept=False)

    async def drop(self, rule: Rule) -> None:
        """Ask again for what a rule of the settings or the command line allowed.

        Raises:
            AgentTuiError: the settings could not be written, so the rule still counts.
        """
        if self._drop is not None:
            await asyncio.to_thread(self._drop, rule)
        self.always = tuple(each for each in self.always if each != rule)

    @property
    def single_actions(self) -> int:
        """How many exact actions, beside the rules, are allowed for the session."""
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
        source: str = "",
    ) -> tuple[str, ApprovalAnswer]:
        """Wait for a decision; requests are put to the person one at a time.

        What is allowed already waits for nobody's answer, and what the answers before it allow
        is not asked any longer. ``source`` is the call whose subagent asks, if one does.

        Returns:
            The request's id (empty when nobody had to be asked) and the answer, with the rule
            that allows the action, if any does.
        """
        if allowed := self._allowed_already(call.name, key, subject):
            return "", allowed
        async with self._turn_to_ask(source):
            if allowed := self._allowed_already(call.name, key, subject):
                return "", allowed
            is_plan = call.name == PRESENT_PLAN
            rules = () if is_plan else offers_for(call.name, subject)
            offers = tuple(map(str, rules))
            name = f"approval-{next(self._numbers)}"
            can_keep = self._keep is not None and bool(offers)
            request = ApprovalRequest(name, call, title, display, offers, can_keep, source)
            answer = await self._wait_for(request)
            if not is_plan:
                await self._remember(key, answer)
            self._emit(ApprovalAnswered(request, answer))
            return request.id, answer

    @asynccontextmanager
    async def _turn_to_ask(self, source: str) -> AsyncIterator[None]:
        """Wait until nobody else asks; who is asked hears how many wait."""
        self._queued += 1
        if self._turnstile.locked():
            self._queued_sources.append(source)
        self._tell_queue()
        try:
            await self._turnstile.acquire()
        finally:
            self._queued -= 1
            if source in self._queued_sources:
                self._queued_sources.remove(source)
            self._tell_queue()
        try:
            yield
        finally:
            self._turnstile.release()

    def _tell_queue(self) -> None:
        sources = tuple(filter(None, self._queued_sources))
        if self._waiting or sources != self._told_sources:
            self._told_sources = sources
            self._emit(ApprovalsQueued(self._queued, sources))

    def _allowed_already(self, tool: str, key: str, subject: Subject) -> ApprovalAnswer | None:
        """The answer to what nobody has to be asked for; None where somebody has to."""
        if self._is_free(key, subject):
            return ApprovalAnswer("once")
        if rules := self._allowing(tool, subject):
            return ApprovalAnswer("once", rule=" ".join(map(str, rules)))
        return None

    def _is_free(self, key: str, subject: Subject) -> bool:
        """Whether the mode allows an action, or it was allowed before exactly as it is."""
        if self.mode == "auto" or key in self._allowed:
            return True
        if self.mode == "accept-edits" and subject.kind == "edit":
            return not is_risky_edit(subject.text) and not _hides(subject.text)
        return False

    def _allowing(self, tool: str, subject: Subject) -> tuple[Rule, ...]:
        if _hides(subject.text):
            return ()
        rules = (*self.always, *self.kept_rules, *self.session_rules)
        return allowing_rules(rules, tool, subject)

    async def _remember(self, key: str, answer: ApprovalAnswer) -> None:
        if answer.decision not in ("session", "always"):
            return
        if not answer.rule:
            self._allowed.add(key)
            return
        rule = Rule.parse(answer.rule)
        if answer.decision == "always" and self._keep is not None:
            try:
                self.kept_rules = await asyncio.to_thread(self._keep, rule, kept=True)
            except AgentTuiError as error:
                self._emit(NoticeGiven(f"{rule} is allowed for this session only: {error}"))
            else:
                return
        self.session_rules.append(rule)

    async def _wait_for(self, request: ApprovalRequest) -> ApprovalAnswer:
        future: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = future
        try:
            self._emit(ApprovalRequested(request))
            if self._queued:
                self._tell_queue()
            return await future
        finally:
            del self._waiting[request.id]

    def is_waiting(self, request_id: str) -> bool:
        """Whether a request still waits for a decision."""
        return request_id in self._waiting

    def answer(self, request_id: str, answer: ApprovalAnswer) -> None:
        """Give a person's decision; ignored when nobody waits for it any more."""
        future = self._waiting.get(request_id)
        if future is not None and not future.done():
            future.set_result(answer)


def _hides(text: str) -> bool:
    """Whether a text hides characters from a reader; resolved paths have them spelled out."""
    return hides_characters(text) or "<U+" in text
