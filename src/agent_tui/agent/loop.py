"""The agent loop: a prompt becomes steps, a step asks the model and runs the tools it calls.

Order of writing is the promise: the prompt is durable before the model is asked, a call before its
tool runs, a result as soon as its tool ends. Whatever interrupts a step, the log continues cleanly.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass

from agent_tui.agent.approval import Approvals
from agent_tui.agent.compactor import Compactor
from agent_tui.agent.reply import Reply
from agent_tui.agent.retry import ask_again
from agent_tui.agent.settle import settle
from agent_tui.agent.toolset import Outcome, Toolset
from agent_tui.agent.wire import Wire
from agent_tui.context.context import Context
from agent_tui.core.errors import AgentTuiError, ProviderError
from agent_tui.core.events import (
    CheckpointMade,
    Failed,
    PromptJoined,
    ReplyEnded,
    StatusChanged,
    StepBegan,
    StepInterrupted,
    ToolFinished,
    ToolStarted,
    TurnBegan,
    TurnEnd,
    TurnFinished,
)
from agent_tui.core.messages import ToolCall, ToolResult
from agent_tui.core.records import AssistantMessage, ToolMessage, UserMessage
from agent_tui.providers.base import ModelRequest, Provider
from agent_tui.sessions.store import Durability

INTERRUPTED = (
    "Interrupted: this tool did not run to its end. Check its effects before repeating it."
)
_NO_RESULT = ToolResult(INTERRUPTED, is_error=True)


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a turn may go, and how often a request is tried."""

    max_steps: int = 100
    max_attempts: int = 5


class Agent:
    """Carries a conversation on: one turn at a time, over one context."""

    def __init__(
        self,
        *,
        context: Context,
        provider: Provider,
        model: str,
        system_prompt: str,
        toolset: Toolset,
        approvals: Approvals,
        compactor: Compactor,
        wire: Wire,
        limits: Limits,
    ) -> None:
        self._context = context
        self._provider = provider
        self._model = model
        self._system_prompt = system_prompt
        self._toolset = toolset
        self._approvals = approvals
        self._compactor = compactor
        self._wire = wire
        self._limits = limits
        self._steers: deque[str] = deque()

    def steer(self, prompt: str) -> None:
        """Let a message join the running turn at its next step."""
        self._steers.append(prompt)

    async def run_turn(self, prompt: str) -> TurnEnd:
        """Work on a prompt until the answer is complete.

        Cancelling the task interrupts the turn: the log is settled first, then the cancellation
        goes on. Failures of the model or the disk end the turn with one Failed event.
        """
        turn = self._context.last_turn + 1
        steps = 0
        end: TurnEnd = "failed"
        try:
            await self._begin(turn, prompt)
            end = "max_steps"
            for steps in range(1, self._limits.max_steps + 1):
                finished = await self._run_step(turn, steps)
                if finished is not None:
                    end = finished
                    break
        except asyncio.CancelledError:
            end = "cancelled"
            raise
        except AgentTuiError as error:
            end = "failed"
            self._wire.emit(Failed(str(error)))
        finally:
            self._wire.emit(TurnFinished(turn, end, steps))
        return end

    async def _begin(self, turn: int, prompt: str) -> None:
        await self._checkpoint(turn, 0)
        message = UserMessage(prompt, origin="human", turn=turn)
        await self._context.append(message, durability=Durability.D1)
        self._wire.emit(TurnBegan(turn, prompt))

    async def _checkpoint(self, turn: int, step: int) -> None:
        number = await self._context.checkpoint(turn, step)
        self._wire.emit(CheckpointMade(number, turn, step))

    async def _run_step(self, turn: int, step: int) -> TurnEnd | None:
        """One model call with its tools; None when the turn goes on."""
        await self._join_steers(turn)
        await self._compactor.compact_if_full()
        await self._checkpoint(turn, step)
        self._wire.emit(StepBegan(step))
        message = await self._ask(turn)
        if not message.tool_calls:
            return None if self._steers else "done"
        rejected = await self._run_tools(message)
        self._report_status()
        return "rejected" if rejected else None

    async def _join_steers(self, turn: int) -> None:
        while self._steers:
            text = self._steers.popleft()
            message = UserMessage(text, origin="steer", turn=turn)
            await self._context.append(message, durability=Durability.D1)
            self._wire.emit(PromptJoined(text))

    async def _ask(self, turn: int) -> AssistantMessage:
        """Ask until a whole reply has come, and write it before anything acts on it."""
        request = ModelRequest(
            self._model, self._system_prompt, self._context.history, self._toolset.schemas
        )
        reply = Reply()

        async def attempt() -> None:
            nonlocal reply
            reply = Reply()
            await self._receive(request, reply)

        try:
            await ask_again(
                attempt, max_attempts=self._limits.max_attempts, on_retry=self._wire.emit
            )
        except (asyncio.CancelledError, ProviderError) as error:
            await settle(self._keep_partial(reply, turn, error))
            raise
        message = reply.message(turn=turn, model=self._model)
        await self._context.append(message, durability=self._durability_of(message))
        if reply.usage is not None:
            await self._context.update_token_count(reply.usage.total_tokens, reply.usage)
        self._report_status(reply)
        return message

    async def _receive(self, request: ModelRequest, reply: Reply) -> None:
        try:
            async with aclosing(self._provider.stream(request)) as stream:
                async for part in stream:
                    reply.add(part)
                    if not isinstance(part, ReplyEnded):
                        self._wire.emit(part)
        except ProviderError as error:
            if reply.has_begun:
                error.retryable = False
            raise
        if reply.is_empty:
            raise ProviderError(
                "The model sent an empty reply. Ask again, or choose another model.",
                retryable=not reply.has_begun,
            )

    async def _keep_partial(self, reply: Reply, turn: int, error: BaseException) -> None:
        """Write what had arrived of an interrupted answer; half-written calls never ran."""
        if reply.is_empty and not reply.has_begun:
            return
        message = reply.message(turn=turn, model=self._model, with_calls=False)
        if message.content:
            await self._context.append(message, durability=Durability.D1)
        reason = "cancelled" if isinstance(error, asyncio.CancelledError) else str(error)
        self._wire.emit(StepInterrupted(reason))

    def _durability_of(self, message: AssistantMessage) -> Durability:
        if any(self._toolset.has_side_effects(call) for call in message.tool_calls):
            return Durability.D1
        return Durability.D0

    async def _run_tools(self, message: AssistantMessage) -> bool:
        """Run every call, those without side effects together; True when the user stopped it."""
        waiting = list(message.tool_calls)
        rejected = False
        try:
            while waiting and not rejected:
                batch = self._next_batch(waiting)
                outcomes = await asyncio.gather(
                    *(self._run_tool(c, message, waiting) for c in batch)
                )
                rejected = any(outcome.stop for outcome in outcomes)
        finally:
            if waiting:
                await settle(self._answer_interrupted(waiting, message))
        return rejected

    def _next_batch(self, waiting: list[ToolCall]) -> list[ToolCall]:
        if self._toolset.has_side_effects(waiting[0]):
            return waiting[:1]
        batch: list[ToolCall] = []
        for call in waiting:
            if self._toolset.has_side_effects(call):
                break
            batch.append(call)
        return batch

    async def _run_tool(
        self, call: ToolCall, message: AssistantMessage, waiting: list[ToolCall]
    ) -> Outcome:
        self._wire.emit(ToolStarted(call))
        outcome = await self._toolset.carry_out(call, self._approvals)
        await settle(self._write_result(call, outcome, message, waiting))
        return outcome

    async def _write_result(
        self, call: ToolCall, outcome: Outcome, message: AssistantMessage, waiting: list[ToolCall]
    ) -> None:
        if outcome.approval is not None:
            await self._context.note(outcome.approval, durability=Durability.D1)
        result = outcome.result
        record = ToolMessage(
            call.id,
            result.output,
            is_error=result.is_error,
            display=result.display,
            turn=message.turn,
        )
        await self._context.append(record, durability=Durability.D1)
        waiting.remove(call)
        self._wire.emit(ToolFinished(call, result))

    async def _answer_interrupted(self, calls: list[ToolCall], message: AssistantMessage) -> None:
        """Give every call without a result one that says so: servers refuse orphans."""
        for call in tuple(calls):
            record = ToolMessage(
                call.id, INTERRUPTED, is_error=True, interrupted=True, turn=message.turn
            )
            await self._context.append(record, durability=Durability.D1)
            self._wire.emit(ToolFinished(call, _NO_RESULT, interrupted=True))

    def _report_status(self, reply: Reply | None = None) -> None:
        gauge = self._compactor.gauge()
        self._wire.emit(StatusChanged(gauge, reply.usage if reply else None, self._model))
