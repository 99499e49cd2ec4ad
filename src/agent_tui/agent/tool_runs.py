"""Running the tools of an answer: those that only read run together, those that act in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby

from agent_tui.agent.approval import Approvals
from agent_tui.agent.settle import run_together, settle
from agent_tui.agent.toolset import Outcome, RunningCall, Toolset
from agent_tui.agent.unanswered import unanswered_calls
from agent_tui.agent.unsaved import Unsaved
from agent_tui.agent.wire import Wire
from agent_tui.context.context import Context
from agent_tui.core.events import PicturesShown, ToolFinished, ToolOutput, ToolStarted
from agent_tui.core.messages import TextPart, ToolCall, ToolResult
from agent_tui.core.records import ApprovalRecord, AssistantMessage, ToolMessage, UserMessage
from agent_tui.sessions.store import Durability
from agent_tui.tools.image_file import UNSEEN

_NEVER_BEGUN = RunningCall()
_NEVER_HEARD_OF = RunningCall(has_begun=True)


class ToolRuns:
    """Carries out the calls of answers; every result is in the log before an event tells of it.

    Where the disk refuses them, those of calls that were interrupted are told and held.
    """

    def __init__(
        self,
        *,
        context: Context,
        toolset: Toolset,
        approvals: Approvals,
        wire: Wire,
        unsaved: Unsaved,
        report: Callable[[], None],
        sees_images: bool = True,
    ) -> None:
        self._context = context
        self._toolset = toolset
        self._approvals = approvals
        self._wire = wire
        self._unsaved = unsaved
        self._report = report
        self._sees_images = sees_images
        self._running: dict[str, RunningCall] = {}

    async def run(self, message: AssistantMessage) -> list[Outcome]:
        """Run every call, those without side effects together, until the user stops it."""
        outcomes: list[Outcome] = []
        for batch in self._batches(message.tool_calls):
            queues = self._queues(batch)
            ended = await run_together(*(self._run_queue(each, message.turn) for each in queues))
            outcomes += [outcome for queue in ended for outcome in queue]
            self._report()
            if any(outcome.stop for outcome in outcomes):
                break
        await settle(self._show_images(outcomes, message.turn))
        return outcomes

    async def _show_images(self, outcomes: Sequence[Outcome], turn: int | None) -> None:
        """Send pictures after the results: most servers accept none inside them."""
        images = tuple(image for outcome in outcomes for image in outcome.result.images)
        if images and self._sees_images:
            text = TextPart("<system>The pictures that were just read:</system>")
            shown = UserMessage((text, *images), origin="reminder", turn=turn)
            await self._unsaved.write(shown, durability=Durability.D1)
            self._wire.emit(PicturesShown(text.text, images))

    def _batches(self, calls: Sequence[ToolCall]) -> Iterator[list[ToolCall]]:
        for acts, group in groupby(calls, self._toolset.has_side_effects):
            if acts:
                yield from ([call] for call in group)
            else:
                yield list(group)

    def _queues(self, calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
        """Calls that run side by side, except that those about the same thing take turns."""
        queues: dict[str, list[ToolCall]] = {}
        for number, call in enumerate(calls):
            queues.setdefault(self._toolset.queue(call) or str(number), []).append(call)
        return list(queues.values())

    async def _run_queue(self, calls: Sequence[ToolCall], turn: int | None) -> list[Outcome]:
        return [await self._run_tool(call, turn) for call in calls]

    async def _run_tool(self, call: ToolCall, turn: int | None) -> Outcome:
        self._wire.emit(ToolStarted(call))

        def tell(text: str) -> None:
            self._wire.emit(ToolOutput(call.id, text))

        running = self._running[call.id] = RunningCall(tell)
        outcome = await self._toolset.carry_out(call, self._approvals, self._note_decision, running)
        await settle(self._write_result(call, outcome.result, turn))
        return outcome

    async def _note_decision(self, decision: ApprovalRecord) -> None:
        # Nothing is done about a rejection: its result is synced next, and this before it.
        durability = Durability.D0 if decision.decision == "reject" else Durability.D1
        await self._context.note(decision, durability=durability)

    async def _write_result(self, call: ToolCall, result: ToolResult, turn: int | None) -> None:
        if result.images and not self._sees_images:
            result = replace(result, output=f"{result.output}\n{UNSEEN}")
        await self._unsaved.write(_record(call, result, turn), durability=Durability.D1)
        self._wire.emit(ToolFinished(call, result))

    async def answer_orphans(self, turn: int) -> None:
        """Answer calls that an earlier run left open: nobody knows how far they got."""
        await self._unsaved.flush()
        await self._answer(turn, lambda _: _NEVER_HEARD_OF)

    async def answer_interrupted(self, turn: int) -> None:
        """Answer what a step that ends has left open, with what there is of each result."""
        try:
            await self._answer(turn, lambda call: self._running.get(call.id, _NEVER_BEGUN))
        finally:
            self._running.clear()

    async def _answer(self, turn: int, running_of: Callable[[ToolCall], RunningCall]) -> None:
        """Give every call without a result one that says so: servers refuse orphans."""
        said = (entry.record for entry in reversed(self._context.state.messages))
        calls = unanswered_calls(chain(reversed(self._unsaved.held), said), turn)
        stopped = [(call, running_of(call)) for call in calls]
        results = [(call, run.interrupted_result(), not run.has_ended) for call, run in stopped]
        records = [_record(call, result, turn, interrupted=cut) for call, result, cut in results]
        try:
            await self._unsaved.write(*records, durability=Durability.D1)
        finally:  # what is held now is written without a word later
            for call, result, cut in results:
                self._wire.emit(ToolFinished(call, result, interrupted=cut))


def _record(
    call: ToolCall, result: ToolResult, turn: int | None, *, interrupted: bool = False
) -> ToolMessage:
    return ToolMessage(
        call.id,
        result.output,
        is_error=result.is_error,
        interrupted=interrupted,
        display=result.display,
        turn=turn,
        rejected=result.rejected,
    )
