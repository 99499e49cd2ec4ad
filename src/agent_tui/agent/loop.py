"""The agent loop: run → loop → step. A prompt becomes steps; a step asks the model and runs tools.

Order of writing is the promise: the prompt is durable before the model is asked, a call before its
tool runs, a result as soon as its tool ends. Whatever interrupts a step, the log continues cleanly.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agent_tui.agent.approval import Approvals
from agent_tui.agent.asking import Asking
from agent_tui.agent.compactor import Compactor
from agent_tui.agent.policies import Ending, Policy, Progress, Repetition, StepLimit
from agent_tui.agent.settle import settle
from agent_tui.agent.time_travel import (
    DISCARDED,
    UNSENT,
    DMailArrived,
    DMailDesk,
    checkpoint_notice,
    go_back,
)
from agent_tui.agent.tool_runs import ToolRuns
from agent_tui.agent.toolset import Outcome, Toolset
from agent_tui.agent.unanswered import where_to_resume
from agent_tui.agent.unsaved import Unsaved
from agent_tui.agent.wire import Wire
from agent_tui.context.context import Context
from agent_tui.core.dataclass import dataclass
from agent_tui.core.dmail import DMail
from agent_tui.core.errors import AgentTuiError
from agent_tui.core.events import (
    CheckpointMade,
    Failed,
    NoticeGiven,
    PicturesShown,
    PromptJoined,
    Reverted,
    StepBegan,
    TurnBegan,
    TurnEnd,
    TurnFinished,
    TurnResumed,
)
from agent_tui.core.messages import images_of, text_of
from agent_tui.core.records import (
    AssistantMessage,
    HeadRecord,
    TurnEndRecord,
    UserMessage,
)
from agent_tui.core.summary import OperationReport
from agent_tui.core.usage import Usage
from agent_tui.providers.base import Provider
from agent_tui.sessions.store import Durability

if TYPE_CHECKING:
    from agent_tui.agent.attachments import Attached

_CANCELLED = Ending("cancelled", "Interrupted.")
_DONE = Ending("done")


async def _tell_nothing() -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a turn may go, and how often a request is tried; ``more`` are further policies."""

    max_steps: int = 100
    max_attempts: int = 5
    more: tuple[Policy, ...] = ()


class Agent:
    """Continues a conversation, one turn at a time, over one context.

    ``tell_ended`` gives a sentence for each background command that ended since the last call.
    """

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
        desk: DMailDesk | None = None,
        sees_images: bool = True,
        tell_ended: Callable[[], Awaitable[list[str]]] = _tell_nothing,
    ) -> None:
        self._tell_ended = tell_ended
        self._untold: deque[str] = deque()
        self._context = context
        self._compactor = compactor
        self._wire = wire
        self._policies: tuple[Policy, ...] = (StepLimit(limits.max_steps), *limits.more)
        self._desk = desk
        self._toolset = toolset
        self._sees_images = sees_images
        self._repetition = Repetition()
        self._progress = Progress(0)
        self._steers: deque[str] = deque()
        self._is_joining = False
        self._unsaved = Unsaved(context)
        self._asking = Asking(
            context=context,
            provider=provider,
            model=model,
            toolset=toolset,
            compactor=compactor,
            wire=wire,
            unsaved=self._unsaved,
            max_attempts=limits.max_attempts,
            sees_images=sees_images,
        )
        self._tools = ToolRuns(
            context=context,
            toolset=toolset,
            approvals=approvals,
            wire=wire,
            unsaved=self._unsaved,
            report=self._asking.report_status,
            sees_images=sees_images,
        )

    # What callers ask of it.

    def steer(self, prompt: str) -> None:
        """Let a message join the running turn at its next step."""
        self._steers.append(prompt)

    def withdraw_steer(self, prompt: str) -> bool:
        """Drop a message that is still waiting; False if a step has taken it already."""
        waiting = list(self._steers)
        for place in range(len(waiting) - 1, -1 + self._is_joining, -1):
            if waiting[place] == prompt:
                del self._steers[place]
                return True
        return False

    def take_steers(self) -> list[str]:
        """Withdraw and return the messages that no step has taken yet."""
        steers = list(self._steers)
        self._steers.clear()
        return steers

    def count_usage(self, usage: Usage) -> None:
        """Count what a subagent used towards the running turn."""
        self._progress.usage += usage

    def check_limits(self) -> Ending | None:
        """The ending of the running turn if it has reached a limit; a subagent stops for it too."""
        limits = self._policies[1:]
        return next(filter(None, (each.check(self._progress) for each in limits)), None)

    @property
    def has_unsaved(self) -> bool:
        """Whether the disk refused part of the last turn; it is held until it can be written."""
        return bool(self._unsaved)

    async def flush(self) -> None:
        """Write what the disk refused earlier, if it can be written now."""
        with suppress(AgentTuiError):
            await settle(self._unsaved.flush())

    async def run_turn(self, prompt: str) -> TurnEnd:
        """Work on a prompt until the answer is complete.

        Cancelling the task interrupts the turn: the log is settled first, then the cancellation
        continues. Failures of the model or the disk end the turn with one Failed event.
        """
        turn = self._context.last_turn + 1
        return await self._run(turn, self._begin(turn, prompt))

    async def retry_turn(self) -> TurnEnd:
        """Continue the last turn, which ended without its answer; there is no new prompt."""
        turn = self._context.last_turn
        return await self._run(turn, self._resume(turn))

    # A turn: it begins, takes steps, and ends for one reason.

    async def _run(self, turn: int, begin: Coroutine[Any, Any, None]) -> TurnEnd:
        progress = self._progress = Progress(turn)
        ending = Ending("failed")
        try:
            await settle(begin)
            ending = await self._loop(progress)
        except asyncio.CancelledError:
            ending = _CANCELLED
            raise
        except AgentTuiError as error:
            ending = Ending("failed", str(error))
            self._wire.emit(Failed(ending.reason))
        except Exception as error:
            ending = Ending("failed", f"Internal error: {type(error).__name__}: {error}.")
            self._wire.emit(Failed(ending.reason))
            raise
        finally:
            unsent = self._desk.take() if self._desk else None
            try:
                await self._write_end(turn, ending)
                if unsent is not None:
                    await self._tell_unsent(turn)
            finally:
                finished = TurnFinished(turn, ending.end, progress.steps, ending.reason)
                self._wire.emit(finished)
        return ending.end

    async def _write_end(self, turn: int, ending: Ending) -> None:
        """Record why a prompt has no whole answer; held in memory if the disk refuses it."""
        if ending.end == "done":
            return
        record = TurnEndRecord(ending.end, ending.reason, turn)
        with suppress(AgentTuiError):
            await settle(self._unsaved.write(record, durability=Durability.D0))

    async def _begin(self, turn: int, prompt: str) -> None:
        await self._tools.answer_orphans(turn - 1)
        await self._checkpoint(turn, 0)
        attached = await self._attach(prompt, turn)
        message = UserMessage(prompt, origin="human", turn=turn)
        await self._context.append(
            message, *(attached.messages if attached else ()), durability=Durability.D1
        )
        self._wire.emit(TurnBegan(turn, prompt))
        self._tell_attached(attached)

    async def _attach(self, prompt: str, turn: int) -> Attached | None:
        """Read what the prompt names with ``@``; None if it names nothing."""
        if "@" not in prompt:
            return None
        from agent_tui.agent.attachments import attach

        return await attach(prompt, self._toolset.context, turn, sees_images=self._sees_images)

    def _tell_attached(self, attached: Attached | None) -> None:
        if attached is None:
            return
        if attached.names:
            self._wire.emit(NoticeGiven(f"Attached {', '.join(attached.names)}", "attached"))
        for sentence in attached.refused:
            self._wire.emit(NoticeGiven(sentence, "attached"))
        for message in attached.messages:
            if images := images_of(message.content):
                self._wire.emit(PicturesShown(text_of(message.content), images))

    async def _resume(self, turn: int) -> None:
        """Make the log end with what was asked: half an answer is left on a branch of its own."""
        await self._tools.answer_orphans(turn)
        place = where_to_resume([entry.record for entry in self._context.state.entries])
        if place is not None:
            leaf = self._context.state.leaf_uuid
            head = HeadRecord(place, "retry", leaf)
            await self._context.note(head, durability=Durability.D1)
            self._wire.emit(Reverted(OperationReport("retry", 0)))
        self._wire.emit(TurnResumed(turn))

    # The loop: step after step, until one of them or a policy ends the turn.

    async def _loop(self, progress: Progress) -> Ending:
        self._repetition = Repetition()
        while True:
            for policy in self._policies:
                if ending := policy.check(progress):
                    return ending
            progress.steps += 1
            try:
                ended = await self._step(progress)
            except DMailArrived as arrived:
                if again := self._repetition.watch_dmail(arrived.dmail):
                    return again
                await settle(self._go_back(arrived.dmail, progress))
                continue
            if ended is not None:
                return ended

    async def _step(self, progress: Progress) -> Ending | None:
        """One model call with its tools; None when the turn continues."""
        turn = progress.turn
        await self._join_steers(turn)
        self._untold += await self._tell_ended()
        while self._untold:
            await settle(self._remind_ended(turn))
        self._asking.refresh_tools()
        await self._compactor.compact_if_full()
        await self._mark(progress)
        self._wire.emit(StepBegan(progress.steps))
        try:
            message = await self._asking.ask(progress, lambda: self._mark(progress))
            outcomes = await self._tools.run(message)
        finally:
            await settle(self._tools.answer_interrupted(turn))
        await self._send_dmail(outcomes, turn)
        if stopped := next(filter(None, (outcome.stop for outcome in outcomes)), ""):
            return Ending("rejected", stopped)
        if message.tool_calls:
            return await self._watch(message, turn)
        return None if self._steers else _DONE

    async def _watch(self, message: AssistantMessage, turn: int) -> Ending | None:
        """Warn an agent that goes in circles, then stop it."""
        calls = [call for call in message.tool_calls if not self._toolset.may_repeat(call)]
        seen = self._repetition.watch(calls)
        if isinstance(seen, str):
            await settle(self._remind(seen, turn))
            return None
        return seen

    async def _remind_ended(self, turn: int) -> None:
        await self._remind(self._untold[0], turn)
        self._untold.popleft()

    async def _remind(self, text: str, turn: int) -> None:
        """Tell the agent something as the program, and show the user that it was told."""
        message = UserMessage(f"<system>{text}</system>", origin="reminder", turn=turn)
        await self._context.append(message, durability=Durability.D0)
        self._wire.emit(NoticeGiven(f"Told the agent: {text}", "reminder"))

    # D-Mail.

    async def _send_dmail(self, outcomes: Sequence[Outcome], turn: int) -> None:
        """End the step if a D-Mail was posted; a rejected action in the same step discards it."""
        dmail = self._desk.take() if self._desk else None
        if dmail is None:
            return
        if any(outcome.result.rejected for outcome in outcomes):
            await settle(self._remind(DISCARDED, turn))
            return
        raise DMailArrived(dmail)

    async def _tell_unsent(self, turn: int) -> None:
        """Say that a D-Mail was accepted but dropped, because its step was."""
        with suppress(AgentTuiError):
            await settle(self._remind(UNSENT, turn))

    async def _go_back(self, dmail: DMail, progress: Progress) -> None:
        """Revert to the checkpoint of a D-Mail, archiving the present, and deliver it there."""
        turn, step = progress.turn, progress.steps
        await go_back(self._context, self._wire, dmail, turn, lambda: self._checkpoint(turn, step))
        self._asking.report_status()

    # Checkpoints, and messages sent while the agent runs.

    async def _checkpoint(self, turn: int, step: int) -> None:
        number = await self._context.checkpoint(turn, step)
        self._wire.emit(CheckpointMade(number, turn, step))
        if self._desk and step:
            await self._context.append(checkpoint_notice(number, turn), durability=Durability.D0)

    async def _mark(self, progress: Progress) -> None:
        await settle(self._checkpoint(progress.turn, progress.steps))

    async def _join_steers(self, turn: int) -> None:
        while self._steers:
            await settle(self._join(self._steers[0], turn))

    async def _join(self, text: str, turn: int) -> None:
        message = UserMessage(text, origin="steer", turn=turn)
        self._is_joining = True
        try:
            attached = await self._attach(text, turn)
            await self._context.append(
                message, *(attached.messages if attached else ()), durability=Durability.D1
            )
        finally:
            self._is_joining = False
        self._steers.popleft()
        self._wire.emit(PromptJoined(text))
        self._tell_attached(attached)
