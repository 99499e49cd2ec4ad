"""Captures the files around what the agent does: asked by the loop, done behind it.

A prompt never waits. A tool that changes files waits until what others changed before it has been
captured, up to a limit; what changed while it ran is then its own.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from agent_tui.agent.settle import settle
from agent_tui.agent.wire import Wire
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import AgentTuiError
from agent_tui.core.events import CheckpointMade, Event, sum_up
from agent_tui.core.file_changes import ChangeCause, FileChange
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import Record, WorkspaceRecord
from agent_tui.workspace.capture import Capture, WorkspaceDelta

Note = Callable[[WorkspaceRecord], Awaitable[list[Record]]]
"""Writes a record to the log; returns it as written."""

LATE = "they could not be captured before {call} ran"
UNWRITTEN = "they may have changed before: an earlier capture could not be saved"


@dataclass(frozen=True, slots=True)
class Moment:
    """Where the conversation stands: the newest checkpoint, its id as a record, turn and step."""

    checkpoint: int | None = None
    uuid: str | None = None
    turn: int | None = None
    step: int | None = None


class WorkspaceWatch:
    """Takes captures one after the other and writes each to the log.

    Without a capture (None) it does nothing.
    """

    def __init__(
        self,
        capture: Capture | None,
        note: Note,
        find_tip: Callable[[], str | None],
        uuid_of: Callable[[int], str | None],
        wire: Wire,
    ) -> None:
        self._capture = capture
        self._note = note
        self._find_tip = find_tip
        self._uuid_of = uuid_of
        self._wire = wire
        self._moment = Moment()
        self._tip: str | None = None
        self._started = False
        self._linked = False
        self._unsure = ""
        self._last: asyncio.Task[WorkspaceRecord | None] | None = None
        self._busy = asyncio.Lock()
        self._running: list[tuple[ChangeCause, str]] = []

    @property
    def capture(self) -> Capture | None:
        """What is captured here, for those who plan and restore."""
        return self._capture

    def hear(self, event: Event) -> None:
        """A checkpoint was made: before a prompt, what others changed is captured behind it."""
        if isinstance(event, CheckpointMade):
            self._moment = Moment(event.id, self._uuid_of(event.id), event.turn, event.step)
            if event.step == 0:
                self._begin_between()

    @asynccontextmanager
    async def around(
        self,
        call: ToolCall,
        cause: ChangeCause = "tool_call",
        *,
        target: str = "",
        label: str = "",
        told: bool = True,
    ) -> AsyncIterator[None]:
        """Hold a tool back until the files are captured; capture what changed while it ran.

        ``told`` says whether it is written down, too, that nothing changed. What calls change that
        run beside each other is told of the one that ends first.
        """
        if self._capture is None:
            yield
            return
        running = (cause, label or call.id)
        beside = bool(self._running)
        self._running.append(running)
        try:
            await self._capture_before(call, beside=beside)
            try:
                yield
            finally:
                self._begin(*running, self._targets(target), told=told)
        finally:
            self._running.remove(running)

    def _targets(self, target: str) -> frozenset[str]:
        """The path that an edit tool was given, as the capture names it."""
        if not target or self._capture is None:
            return frozenset()
        root = self._capture.root
        path = os.path.relpath(os.path.join(root, target), root)  # noqa: PTH118
        return frozenset({path})

    async def idle(self, seconds: float | None = None) -> None:
        """Wait until every capture that was started is in the log, or for so many seconds."""
        while self._last is not None and not self._last.done():
            _, pending = await asyncio.wait([self._last], timeout=seconds)
            if pending and seconds is not None:
                return

    def place(self, moment: Moment) -> None:
        """Say where the conversation stands, where no checkpoint was heard of yet."""
        if self._moment.checkpoint is None:
            self._moment = moment

    async def snapshot(self) -> WorkspaceRecord | None:
        """Capture what others, or a call that runs, changed until now, and wait for it."""
        if self._capture is None:
            return None
        return await self._begin_between()

    async def write(self, record: WorkspaceRecord) -> WorkspaceRecord:
        """Write the record of a revert, linked behind the captures before it."""
        await self.idle()
        async with self._busy:
            return await self._append(record)

    async def take_up(self, revert: WorkspaceRecord) -> None:
        """Continue from what a revert of files left; what others changed meanwhile is recorded."""
        if self._capture is None:
            return
        async with self._busy:
            found = await asyncio.to_thread(self._capture.take)
            if found.status == "captured":
                rest = tuple(_beyond(found.delta, revert.delta))
                if rest:
                    await self._record(
                        "human", "", self._moment, replace(found, delta=rest, folders={})
                    )
                else:
                    await self._settle()
        self._wire.emit(sum_up(revert))

    async def _capture_before(self, call: ToolCall, *, beside: bool) -> None:
        assert self._capture is not None
        # Beside other calls, what changes is the agent's already: only a capture under way counts.
        task = self._last if beside and self._last is not None else self._begin("human")
        done, _ = await asyncio.wait([task], timeout=self._capture.limits.wait_seconds)
        if not done:
            self._unsure = LATE.format(call=call.name)

    def _begin_between(self) -> asyncio.Task[WorkspaceRecord | None]:
        """Capture what others changed, or what a call that runs has changed so far."""
        return self._begin(*(self._running[-1] if self._running else ("human", "")), told=False)

    def _begin(
        self,
        cause: ChangeCause,
        call: str = "",
        targets: frozenset[str] = frozenset(),
        *,
        told: bool = True,
    ) -> asyncio.Task[WorkspaceRecord | None]:
        work = self._run(cause, call, targets, self._moment, self._last, told)
        self._last = asyncio.ensure_future(settle(work))
        return self._last

    async def _run(
        self,
        cause: ChangeCause,
        call: str,
        targets: frozenset[str],
        moment: Moment,
        before: asyncio.Task[WorkspaceRecord | None] | None,
        told: bool,
    ) -> WorkspaceRecord | None:
        if self._capture is None:
            return None
        if before is not None and not before.done():
            await asyncio.wait([before])
        async with self._busy:
            found = await asyncio.to_thread(self._capture.take, targets)
            if found.status == "captured" and self._unsure and cause == "human":
                # The tool may have run meanwhile: whose changes these are is not known.
                cause, found = "outside", replace(found, why=self._unsure)
                self._unsure = ""
            return await self._record(cause, call, moment, found, told=told)

    async def _record(
        self,
        cause: ChangeCause,
        call: str,
        moment: Moment,
        found: WorkspaceDelta,
        *,
        told: bool = True,
    ) -> WorkspaceRecord | None:
        opening = not self._started
        self._started = True
        if cause == "human" and (opening or self._unsure):
            cause = "outside"
        if found.status == "none":
            self._unsure = found.why
        elif cause in ("human", "outside"):
            self._unsure = ""
        elif self._unsure:  # the capture before it failed: more than the tool may have acted
            found, cause, self._unsure = replace(found, why=self._unsure), "outside", ""
        nothing = found.status == "captured" and not (found.delta or found.folders)
        quiet = nothing and (cause in ("human", "outside") or not told)
        if quiet and not found.first and moment.step != 0:
            return None
        record = WorkspaceRecord(
            cause,
            found.delta,
            moment.checkpoint,
            moment.uuid,
            None,
            found.status,
            call,
            moment.turn,
            moment.step,
            found.why,
            found.files,
            found.stored_bytes,
            found.left_out,
            found.cost_ms,
            found.head,
            folders=found.folders,
        )
        with suppress(AgentTuiError):  # the log cannot be written: the next capture finds it again
            record = await self._append(record)
            if found.status == "captured":
                await self._settle()
            if call or found.delta or found.status == "none":
                self._wire.emit(sum_up(record))
            return record
        self._unsure = UNWRITTEN  # whoever acts next did not change that
        return None

    async def _append(self, record: WorkspaceRecord) -> WorkspaceRecord:
        if not self._linked:
            self._tip = await asyncio.to_thread(self._find_tip)
            self._linked = True
        written = await self._note(replace(record, base=self._tip))
        record = next(each for each in written if isinstance(each, WorkspaceRecord))
        self._tip = record.stamp.uuid
        return record

    async def _settle(self) -> None:
        assert self._capture is not None
        with suppress(AgentTuiError, OSError):
            await asyncio.to_thread(self._capture.settle)


def _beyond(delta: tuple[FileChange, ...], known: tuple[FileChange, ...]) -> Iterator[FileChange]:
    """What a capture found that is not just what a revert did."""
    reverted = {change.path: change.new for change in known}
    for change in delta:
        if change.path not in reverted:
            yield change
        elif (left := reverted[change.path]) != change.new:
            yield replace(change, old=left)
