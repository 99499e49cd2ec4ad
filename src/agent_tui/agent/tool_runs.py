"""Running the tools of an answer: those that only read together, those that act in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from agent_tui.agent.approval import Approvals
from agent_tui.agent.settle import run_together, settle
from agent_tui.agent.toolset import Outcome, Toolset
from agent_tui.agent.unanswered import unanswered_calls
from agent_tui.agent.unsaved import Unsaved
from agent_tui.agent.wire import Wire
from agent_tui.context.context import Context
from agent_tui.core.events import PicturesShown, ToolFinished, ToolOutput, ToolStarted
from agent_tui.core.messages import TextPart, ToolCall, ToolResult
from agent_tui.core.records import ApprovalRecord, AssistantMessage, ToolMessage, UserMessage
from agent_tui.core.words import INTERRUPTED
from agent_tui.sessions.store import Durability
from agent_tui.tools.image_file import UNSEEN

_NO_RESULT = ToolResult(INTERRUPTED, is_error=True)


class ToolRuns:
    """Carries out the calls of answers; every result is in the log before it is told."""

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
        """Put pictures behind the results: most servers take none inside of them."""
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
        """Calls that run beside each other, but those about the same thing one after the other."""
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

        outcome = await self._toolset.carry_out(call, self._approvals, self._note_decision, tell)
        await settle(self._write_result(call, outcome.result, turn))
        return outcome

    async def _note_decision(self, decision: ApprovalRecord) -> None:
        await self._context.note(decision, durability=Durability.D1)

    async def _write_result(self, call: ToolCall, result: ToolResult, turn: int | None) -> None:
        if result.images and not self._sees_images:
            result = replace(result, output=f"{result.output}\n{UNSEEN}")
        record = ToolMessage(
            call.id,
            result.output,
            is_error=result.is_error,
            display=result.display,
            turn=turn,
            rejected=result.rejected,
        )
        await self._unsaved.write(record, durability=Durability.D1)
        self._wire.emit(ToolFinished(call, result))

    async def answer_interrupted(self, turn: int) -> None:
        """Give every call without a result one that says so: servers refuse orphans."""
        await self._unsaved.flush()
        for call in unanswered_calls(self._context.state.messages, turn):
            record = ToolMessage(call.id, INTERRUPTED, is_error=True, interrupted=True, turn=turn)
            await self._context.append(record, durability=Durability.D1)
            self._wire.emit(ToolFinished(call, _NO_RESULT, interrupted=True))
