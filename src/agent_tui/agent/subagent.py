"""Subagents: another agent works on one task in its own session, and reports."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import field, replace
from typing import Protocol

from agent_tui.agent.spec import AgentSpec
from agent_tui.agent.wire import Wire
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ToolError
from agent_tui.core.events import Event, StatusChanged, SubagentEvent, TurnEnd, TurnFinished
from agent_tui.core.messages import ToolResult, text_of
from agent_tui.core.records import AssistantMessage, Record
from agent_tui.core.system_notes import sign_report
from agent_tui.core.usage import Gauge, Usage
from agent_tui.tools.base import Spawns

MOST_AT_ONCE = 4
_STOPPED = "the user stopped it; do not start it again"


@dataclass(frozen=True, slots=True)
class Child:
    """A subagent's session, open: what runs it, what it says, and what it wrote."""

    session_id: str
    wire: Wire
    run: Callable[[str], Awaitable[TurnEnd]]
    records: Callable[[], list[Record]]


class OpenChild(Protocol):
    """Opens a session for a subagent and closes it again."""

    def __call__(self, spec: AgentSpec, call_id: str) -> AbstractAsyncContextManager[Child]:
        """The session of a subagent that a call has started."""
        ...


class Subagents:
    """Starts the subagents of one session and tells its wire what happens in theirs.

    Args:
        find: gives the spec of a name; raises ConfigError where there is none.
        open_child: opens a session for it.
        wire: the parent's.
        gauge: how full the parent's context is: what a child takes is told beside it.
        count: counts what a child takes to the parent's turn.
    """

    def __init__(
        self,
        find: Callable[[str], AgentSpec],
        open_child: OpenChild,
        wire: Wire,
        gauge: Callable[[], Gauge],
        count: Callable[[Usage], None],
    ) -> None:
        self._find = find
        self._open_child = open_child
        self._wire = wire
        self._gauge = gauge
        self._count = count
        self._running = 0
        self._turns: dict[str, asyncio.Future[TurnEnd]] = {}

    def spawner(self, call_id: str) -> Spawns:
        """A function that starts a subagent for one call."""

        async def spawn(name: str, prompt: str) -> ToolResult:
            return await self._run(self._find(name), call_id, prompt)

        return spawn

    def is_running(self, call_id: str) -> bool:
        """Whether a subagent is running for a call."""
        return call_id in self._turns

    def stop(self, call_id: str) -> bool:
        """End the subagent of one call, and no other; False if none is running for it."""
        turn = self._turns.get(call_id)
        return turn is not None and turn.cancel()

    async def _run(self, spec: AgentSpec, call_id: str, prompt: str) -> ToolResult:
        if self._running >= MOST_AT_ONCE:
            raise ToolError(
                f"{MOST_AT_ONCE} subagents are already running: wait for one of them to finish."
            )
        self._running += 1
        try:
            async with self._open_child(spec, call_id) as child:
                teller = _Teller(
                    spec.name, call_id, child.session_id, self._wire, self._gauge, self._count
                )
                child.wire.subscribe(teller.hear)
                end = await self._finish(child, call_id, prompt, teller)
                return _report(spec.name, child.records(), end, teller)
        finally:
            self._running -= 1

    async def _finish(self, child: Child, call_id: str, prompt: str, teller: _Teller) -> TurnEnd:
        """Run a child to the end of its turn, or until a person stops it alone."""
        turn = self._turns[call_id] = asyncio.ensure_future(child.run(prompt))
        try:
            return await turn
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if own is None or own.cancelling():
                raise
            teller.reason = _STOPPED
            return "cancelled"
        finally:
            self._turns.pop(call_id, None)


@dataclass(slots=True)
class _Teller:
    """Hears a child's events, tells them to the parent's wire, and adds up what they took."""

    name: str
    call_id: str
    session_id: str
    wire: Wire
    gauge: Callable[[], Gauge]
    count: Callable[[Usage], None]
    usage: Usage = field(default_factory=Usage)
    reason: str = ""

    def hear(self, event: Event) -> None:
        """Pass an event on under the name of the child."""
        if isinstance(event, TurnFinished):
            self.reason = event.reason
        self.wire.emit(SubagentEvent(self.call_id, self.name, self.session_id, event))
        if isinstance(event, StatusChanged) and event.usage is not None:
            self.usage += event.usage
            self.count(event.usage)
            self.wire.emit(StatusChanged(self.gauge(), event.usage, event.model))


def _report(name: str, records: list[Record], end: TurnEnd, teller: _Teller) -> ToolResult:
    """The child's last answer, and how it ended where that is not an answer."""
    answers = [text_of(r.content) for r in records if isinstance(r, AssistantMessage)]
    said = next((answer for answer in reversed(answers) if answer.strip()), "")
    cost = sign_report(name, teller.session_id, teller.usage.total_tokens)
    result = ToolResult(f"{said}\n\n{cost}".strip())
    if end == "done" and said:
        return result
    why = teller.reason or f"it ended with: {end}"
    text = f"{name} did not finish: {why}\n\n{result.output}"
    return replace(result, output=text, is_error=True)
