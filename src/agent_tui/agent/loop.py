"""The agent loop: a prompt becomes steps, a step asks the model and runs the tools it calls.

Order of writing is the promise: the prompt is durable before the model is asked, a call before its
tool runs, a result as soon as its tool ends. Whatever interrupts a step, the log continues cleanly.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from itertools import groupby

from agent_tui.agent.approval import Approvals
from agent_tui.agent.compactor import Compactor
from agent_tui.agent.reply import Reply
from agent_tui.agent.retry import ask_again
from agent_tui.agent.settle import run_together, settle
from agent_tui.agent.toolset import Outcome, Toolset
from agent_tui.agent.unanswered import unanswered_calls
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
from agent_tui.core.records import (
    ApprovalRecord,
    AssistantMessage,
    ToolMessage,
    TurnEndRecord,
    UserMessage,
)
from agent_tui.core.usage import Usage
from agent_tui.providers.base import ModelRequest, Provider
from agent_tui.sessions.store import Durability

INTERRUPTED = (
    "Interrupted: this tool did not run to its end. Check its effects before repeating it."
)
_TURN_ENDS: dict[TurnEnd, str] = {
    "cancelled": "Interrupted.",
    "max_steps": "Stopped at the limit of steps for one turn; say “go on” to continue.",
    "rejected": "Stopped: the action was rejected. Say what to do instead.",
}
"""What is told of a turn that ended without its answer; a failure has a sentence of its own."""
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
        toolset: Toolset,
        approvals: Approvals,
        compactor: Compactor,
        wire: Wire,
        limits: Limits,
    ) -> None:
        self._context = context
        self._provider = provider
        self._model = model
        self._toolset = toolset
        self._approvals = approvals
        self._compactor = compactor
        self._wire = wire
        self._limits = limits
        self._steers: deque[str] = deque()

    def steer(self, prompt: str) -> None:
        """Let a message join the running turn at its next step."""
        self._steers.append(prompt)

    def take_steers(self) -> list[str]:
        """The messages that no step has taken up; they are not sent any more."""
        steers = list(self._steers)
        self._steers.clear()
        return steers

    async def run_turn(self, prompt: str) -> TurnEnd:
        """Work on a prompt until the answer is complete.

        Cancelling the task interrupts the turn: the log is settled first, then the cancellation
        goes on. Failures of the model or the disk end the turn with one Failed event.
        """
        turn = self._context.last_turn + 1
        steps = 0
        end: TurnEnd = "failed"
        failure = ""
        try:
            await settle(self._begin(turn, prompt))
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
            end, failure = "failed", str(error)
            self._wire.emit(Failed(failure))
        except Exception as error:
            end, failure = "failed", f"The turn broke off: {type(error).__name__}: {error}."
            self._wire.emit(Failed(failure))
            raise
        finally:
            reason = failure or _TURN_ENDS.get(end, "")
            try:
                await self._write_end(turn, end, reason)
            finally:
                self._wire.emit(TurnFinished(turn, end, steps, reason))
        return end

    async def _write_end(self, turn: int, end: TurnEnd, reason: str) -> None:
        """Say in the log why a prompt has no whole answer, where the log can be written at all."""
        if end == "done":
            return
        with suppress(AgentTuiError):  # what it would tell of may be the disk itself
            await settle(self._context.note(TurnEndRecord(end, reason, turn)))

    async def _begin(self, turn: int, prompt: str) -> None:
        await self._answer_interrupted(turn - 1)
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
        await settle(self._checkpoint(turn, step))
        self._wire.emit(StepBegan(step))
        try:
            message = await self._ask(turn, step)
            rejected = await self._run_tools(message)
        finally:
            await settle(self._answer_interrupted(turn))
        if rejected:
            return "rejected"
        return None if message.tool_calls or self._steers else "done"

    async def _join_steers(self, turn: int) -> None:
        while self._steers:
            await settle(self._join(self._steers[0], turn))

    async def _join(self, text: str, turn: int) -> None:
        message = UserMessage(text, origin="steer", turn=turn)
        await self._context.append(message, durability=Durability.D1)
        self._steers.popleft()
        self._wire.emit(PromptJoined(text))

    async def _ask(self, turn: int, step: int) -> AssistantMessage:
        """Ask until a whole reply has come, and write it before anything acts on it.

        What the server finds too long, whatever we counted, is asked once more when compacted.
        """
        reply = Reply()

        async def attempt() -> None:
            nonlocal reply
            reply = Reply()
            await self._receive(self._request(), reply)

        async def ask() -> None:
            await ask_again(
                attempt, max_attempts=self._limits.max_attempts, on_retry=self._wire.emit
            )

        try:
            try:
                await ask()
            except ProviderError as error:
                if not error.too_long or not await self._compactor.make_room():
                    raise
                await settle(self._checkpoint(turn, step))
                await ask()
        except BaseException as error:
            await settle(self._keep_partial(reply, turn, error))
            raise
        message = reply.message(turn=turn, model=self._model)
        await settle(self._write_reply(message, reply.usage))
        return message

    def _request(self) -> ModelRequest:
        context = self._context
        return ModelRequest(
            self._model, context.system_prompt, context.history, self._toolset.schemas
        )

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
        if reply.has_words:
            message = reply.message(turn=turn, model=self._model, with_calls=False)
            await self._context.append(message, durability=Durability.D1)
        cancelled = isinstance(error, asyncio.CancelledError)
        self._wire.emit(StepInterrupted("cancelled" if cancelled else str(error)))

    async def _write_reply(self, message: AssistantMessage, usage: Usage | None) -> None:
        acts = any(self._toolset.has_side_effects(call) for call in message.tool_calls)
        durability = Durability.D1 if acts or not message.tool_calls else Durability.D0
        await self._context.append(message, durability=durability)
        if usage is not None and usage.total_tokens:
            await self._context.update_token_count(usage.total_tokens, usage)
        self._report_status(usage)

    async def _run_tools(self, message: AssistantMessage) -> bool:
        """Run every call, those without side effects together; True when the user stopped it."""
        for batch in self._batches(message.tool_calls):
            outcomes = await run_together(*(self._run_tool(call, message.turn) for call in batch))
            self._report_status()
            if any(outcome.stop for outcome in outcomes):
                return True
        return False

    def _batches(self, calls: Sequence[ToolCall]) -> Iterator[list[ToolCall]]:
        for acts, group in groupby(calls, self._toolset.has_side_effects):
            if acts:
                yield from ([call] for call in group)
            else:
                yield list(group)

    async def _run_tool(self, call: ToolCall, turn: int | None) -> Outcome:
        self._wire.emit(ToolStarted(call))
        outcome = await self._toolset.carry_out(call, self._approvals, self._note_decision)
        await settle(self._write_result(call, outcome.result, turn))
        return outcome

    async def _note_decision(self, decision: ApprovalRecord) -> None:
        await self._context.note(decision, durability=Durability.D1)

    async def _write_result(self, call: ToolCall, result: ToolResult, turn: int | None) -> None:
        record = ToolMessage(
            call.id,
            result.output,
            is_error=result.is_error,
            display=result.display,
            turn=turn,
            rejected=result.rejected,
        )
        await self._context.append(record, durability=Durability.D1)
        self._wire.emit(ToolFinished(call, result))

    async def _answer_interrupted(self, turn: int) -> None:
        """Give every call without a result one that says so: servers refuse orphans."""
        for call in unanswered_calls(self._context.state.messages, turn):
            record = ToolMessage(call.id, INTERRUPTED, is_error=True, interrupted=True, turn=turn)
            await self._context.append(record, durability=Durability.D1)
            self._wire.emit(ToolFinished(call, _NO_RESULT, interrupted=True))

    def _report_status(self, usage: Usage | None = None) -> None:
        self._wire.emit(StatusChanged(self._compactor.gauge(), usage, self._model))
