"""One open session: what every screen reads of it, and every act on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from agent_tui.agent.approval import Approvals
from agent_tui.agent.compactor import Review
from agent_tui.agent.settle import settle
from agent_tui.agent.unanswered import CUT_OFF, can_retry, was_cut_off
from agent_tui.agent.wire import Wire
from agent_tui.context.compaction.attribution import attribute_context
from agent_tui.context.compaction.compaction import CompactionDraft, revise_draft
from agent_tui.context.compaction.filling import Filling
from agent_tui.context.compaction.strategies.registry import describe_strategies
from agent_tui.core.drafts import Drafts
from agent_tui.core.errors import SessionError, SessionReadOnly
from agent_tui.core.events import (
    ApprovalAnswer,
    Event,
    Reverted,
    StatusChanged,
    TurnEnd,
)
from agent_tui.core.records import (
    ModelRecord,
    RevertReason,
    TitleRecord,
    TurnEndRecord,
)
from agent_tui.core.revert_plan import Choice, RevertPlan
from agent_tui.core.summary import (
    CompactionReport,
    CompactionRequest,
    CompactionView,
    OperationReport,
    StrategySummary,
)
from agent_tui.core.text import first_line
from agent_tui.core.tree import TreeRow
from agent_tui.core.usage import Gauge, Share
from agent_tui.history.checkpoints import count_moved
from agent_tui.history.live_source import LiveSource
from agent_tui.history.session_tree import SessionTree
from agent_tui.history.view import SessionView
from agent_tui.library.exports.table import About
from agent_tui.runtime.branches import Branches
from agent_tui.runtime.choices import Choices
from agent_tui.runtime.exporting import (
    Exported,
    export_records,
    write_numbered,
)
from agent_tui.runtime.operations import Operations
from agent_tui.runtime.session_files import FilesReverted, SessionFiles
from agent_tui.runtime.session_parts import BuildParts
from agent_tui.runtime.shell import Shell
from agent_tui.sessions.drafts import DraftFile
from agent_tui.sessions.store import Durability, SessionLog

_LAST_CAPTURE_SECONDS = 2.0
"""How long closing waits for files that are still captured; the next opening finds the rest."""


class OpenSession:
    """A session that a front-end holds open; acts are exclusive and leave memory equal to disk."""

    def __init__(
        self,
        log: SessionLog,
        assemble: BuildParts,
        related: Callable[[], Sequence[Path]] = tuple,
    ) -> None:
        self._log = log
        self._wire = Wire()
        self._assemble = assemble
        self._parts = assemble(log, self._wire)
        self._choices = Choices(log, self._use)
        self.files = SessionFiles(log, self._parts.watch, self._parts.workspace)
        self._drafts = DraftFile(log.folder)
        self._filling: Filling | None = None
        self._busy = False
        self._reviewing = False
        self._gate = asyncio.Lock()
        self.view = SessionView(
            LiveSource(
                log,
                count=lambda message: self._parts.context.count_message(message),
                tokens=lambda: self.gauge.tokens,
                related=related,
            )
        )
        self.instructions = ""
        """Which of the project's instruction files were taken on opening; for a new session."""

    async def recover_files(self) -> None:
        """Finish or roll back a revert of files that a crash cut off; a notice says which."""
        if told := await self.files.recover():
            self._log.notices.append(told)

    @property
    def session_id(self) -> str:
        return self._log.folder.name

    @property
    def read_only(self) -> str:
        """Why the session cannot be written now; empty when it can."""
        return self._log.read_only

    @property
    def model(self) -> str:
        return self._parts.model

    @property
    def recorded_model(self) -> str:
        """The model that the session last asked, whatever this run would ask."""
        return self._log.state.model or self.model

    @property
    def gauge(self) -> Gauge:
        """How full the context is now."""
        return self._parts.compactor.gauge()

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        return self._busy

    @property
    def notices(self) -> list[str]:
        """What was found and put right on opening, for the user to know."""
        return self._log.notices

    @property
    def cut_off(self) -> str:
        """That the program ended in the middle of the last turn, if it did; else empty."""
        # What the disk refused is held, and says how the turn really ended.
        works_on_it = self.busy or bool(self.read_only) or self._parts.agent.has_unsaved
        return "" if works_on_it or not was_cut_off(self.view.records) else CUT_OFF

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Hear every event of this session; call the result to stop."""
        return self._wire.subscribe(listener)

    async def run_turn(self, prompt: str) -> TurnEnd:
        """Work on a prompt until the answer is complete; cancel the task to interrupt.

        Raises:
            SessionReadOnly: the session cannot be written now.
            SessionError: a turn is already running.
        """
        async with self._alone():
            cut_off = self.cut_off
            self._busy = True
        try:
            if cut_off:  # said here for good: from now on its turn is not the last
                end = TurnEndRecord("killed", cut_off, self._parts.context.last_turn)
                await settle(self._log.append(end, durability=Durability.D0))
            if self.view.is_empty and not self._log.state.title:
                # Said once, so that a compaction of the first prompt does not change the name.
                title = TitleRecord(first_line(prompt))
                await settle(self._log.append(title, durability=Durability.D0))
            return await self._parts.agent.run_turn(prompt)
        finally:
            self._busy = False

    async def retry_turn(self) -> TurnEnd:
        """Go on with the last turn where it ended without its answer; there is no new prompt.

        Raises:
            SessionError: the last turn was answered, or there is none.
        """
        async with self._alone():
            if not can_retry(self.view.records):
                raise SessionError("Nothing to retry: the last prompt was answered.")
            self._busy = True
        try:
            return await self._parts.agent.retry_turn()
        finally:
            self._busy = False

    async def run_shell(self, command: str) -> None:
        """Run a command that the user typed, and let the agent see what it printed."""
        async with self._alone():
            self._busy = True
        try:
            parts = self._parts
            await Shell(parts.toolset, parts.context, self._wire).run(command)
        finally:
            self._busy = False
            self._wire.emit(StatusChanged(self.gauge, None, self.model))

    def steer(self, prompt: str) -> None:
        """Let a message join the running turn at its next step."""
        self._parts.agent.steer(prompt)

    def withdraw_steer(self, prompt: str) -> bool:
        """Send a message that waits no more; False where it has been taken up already."""
        return self._parts.agent.withdraw_steer(prompt)

    def read_drafts(self) -> Drafts:
        """What was typed and not sent, or waited for the agent, when the program last ended."""
        return self._drafts.read()

    async def keep_drafts(self, drafts: Drafts) -> None:
        """Keep what is typed and what waits, so that a kill does not lose it."""
        await asyncio.to_thread(self._drafts.write, drafts)

    def take_steers(self) -> list[str]:
        """What was sent to a turn that ended before it could join: for the prompt."""
        return self._parts.agent.take_steers()

    @property
    def approvals(self) -> Approvals:
        """What is allowed without asking, and in which mode."""
        return self._parts.approvals

    def answer(self, request_id: str, answer: ApprovalAnswer) -> None:
        """Decide about an action that waits."""
        self._parts.approvals.answer(request_id, answer)

    async def revert(self, checkpoint: int, reason: RevertReason = "user") -> OperationReport:
        """Go back to just before a checkpoint; the old log becomes an archive."""
        return await self._rotate(lambda acts: acts.revert(checkpoint, reason))

    async def clear(self) -> OperationReport:
        """Start the conversation afresh; the old log becomes an archive."""
        return await self._rotate(lambda acts: acts.clear())

    async def restore(self, number: int, reason: RevertReason = "restore") -> OperationReport:
        """Make an archive the live log again; the replaced log becomes an archive."""
        return await self._rotate(lambda acts: acts.restore(number, reason))

    async def undo(self) -> OperationReport:
        """Take the last act back: one that changed the context, or the name, a label, the model."""
        return await self._rotate(lambda acts: acts.undo())

    async def undo_compaction(self, archive: int) -> OperationReport:
        """Make the log before an act the live one again.

        Where the conversation went on after the act, that goes on in a fork: both futures exist.
        """
        return await self._rotate(lambda acts: acts.undo_rotation(archive))

    async def redo(self) -> OperationReport:
        """Take the last undo back."""
        return await self._rotate(lambda acts: acts.redo())

    async def fork(self) -> str:
        """Copy what this session holds now into a session of its own; returns its id.

        A session that is read-only here can be forked too.
        """
        return await settle(self._rotations.fork(f"{self.view.title} (fork)"))

    @property
    def _branches(self) -> Branches:
        return Branches(self._log, self._parts.context, self._parts.compactor)

    @property
    def _rotations(self) -> Operations:
        parts = self._parts
        return Operations(
            self._log,
            parts.context,
            self._branches,
            self._choices,
            parts.workspace,
            self.view.title,
        )

    async def branch(self, tree: SessionTree, row: TreeRow) -> OperationReport:
        """Let the next message hang off an entry of the tree; a prompt comes back for editing."""
        return await self._rotate(lambda acts: acts.branches.begin(tree, row))

    async def switch_branch(self, tree: SessionTree, row: TreeRow) -> OperationReport:
        """Go on where the newest branch through an entry ends; restores its archive if need be."""
        return await self._rotate(lambda acts: acts.branches.switch(tree, row))

    async def label(self, tree: SessionTree, row: TreeRow, label: str) -> None:
        """Name an entry; an empty label takes its name away."""
        self._require_writable()
        uuid = tree.tree.uuids[row.place]
        if uuid is None:
            raise SessionError("This entry has no id that a label could be tied to.")
        await self._choices.label(uuid, label, archived=tree.tree.label(row.place))

    async def sum_up_branch(
        self, tree: SessionTree, row: TreeRow, on_text: Callable[[str], None]
    ) -> str:
        """Tell the model in a summary what was done on a branch that was left; returns it."""
        async with self._alone():
            summary = await self._branches.sum_up(tree, row, on_text)
        self._wire.emit(StatusChanged(self.gauge, None, self.model))
        return summary

    async def revert_files(self, plan: RevertPlan, choice: Choice) -> FilesReverted:
        """Do what was chosen from a plan of ``files``; raises AgentTuiError, nothing changed."""
        async with self._alone():
            return await self.files.revert(plan, choice)

    async def undo_files(self) -> FilesReverted:
        """Take the last revert of files back; raises SessionError where there is none."""
        async with self._alone():
            return await self.files.undo()

    async def redo_files(self) -> FilesReverted:
        """Take the last undo of a revert of files back."""
        async with self._alone():
            return await self.files.redo()

    async def _rotate(
        self, act: Callable[[Operations], Coroutine[Any, Any, OperationReport]]
    ) -> OperationReport:
        """Carry an act out and tell of it, whatever is cancelled once it has begun."""

        async def carry_out() -> OperationReport:
            before = [entry.record for entry in self._log.state.messages]
            report = await act(self._rotations)
            after = [entry.record for entry in self._log.state.messages]
            left, back = count_moved(before, after)
            report = replace(report, messages_left=left, messages_back=back)
            if report.moved:
                self._wire.emit(StatusChanged(self.gauge, None, self.model))
            self._wire.emit(Reverted(report))
            return report

        async with self._alone():
            return await settle(carry_out())

    @property
    def strategies(self) -> tuple[StrategySummary, ...]:
        """The ways to choose what a compaction keeps, with what each keeps in this window."""
        policy = self._parts.compactor.policy
        return describe_strategies(policy.window, policy.amounts)

    async def preview_compaction(
        self,
        request: CompactionRequest,
        *,
        on_plan: Callable[[CompactionView], None] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> CompactionDraft:
        """Work out a compaction; nothing changes until it is applied."""
        self._require_pause()
        trigger = "auto" if self._reviewing else "manual"
        return await self._parts.compactor.draft(
            replace(request, trigger=trigger), on_plan=on_plan, on_text=on_text
        )

    async def revise_compaction(
        self,
        draft: CompactionDraft,
        *,
        summary: str | None = None,
        pins: frozenset[str] | None = None,
    ) -> CompactionDraft:
        """The draft with an edited summary or other pins; no model is asked."""
        return await revise_draft(draft, summary=summary, pins=pins)

    def review_compactions(self, show: Review) -> None:
        """Let a person see every automatic compaction before it is applied; its turn waits."""

        async def review() -> CompactionReport | None:
            self._reviewing = True
            try:
                return await show()
            finally:
                self._reviewing = False

        self._parts.compactor.review = review

    async def apply_compaction(
        self, draft: CompactionDraft, summary: str | None = None
    ) -> CompactionReport:
        """Commit a draft, with its summary as edited by hand."""
        self._require_pause()
        async with self._gate:
            return await settle(self._parts.compactor.apply(draft, summary))

    async def compact(self, focus: str = "", strategy: str = "") -> CompactionReport:
        """Compact now, without a preview."""
        async with self._alone():
            request = CompactionRequest("manual", strategy, focus)
            return await self._parts.compactor.compact(request)

    async def attribution(self, checkpoint: int | None = None) -> tuple[Share, ...]:
        """What fills the context now; what a compaction and a revert to a checkpoint would free."""
        policy = self._parts.compactor.policy
        return await asyncio.to_thread(
            attribute_context,
            self._parts.context,
            self._parts.toolset.schemas,
            checkpoint,
            strategy=policy.strategy,
            window=policy.window,
            total=self._parts.context.token_count,
        )

    async def filling(self) -> tuple[Share, ...]:
        """What kinds of things fill the context now; after a turn it costs what the turn added."""
        context = self._parts.context
        if self._filling is None or self._filling.context is not context:
            self._filling = Filling(context)
        return await asyncio.to_thread(self._filling.shares, context.token_count)

    async def rename(self, title: str) -> None:
        """Name the session."""
        self._require_writable()
        await self._choices.rename(title)

    async def use_model(self, model: str) -> None:
        """Ask another model from here on."""
        async with self._alone():
            before = self.model if model != self.model else None
            await self._use(ModelRecord(self._parts.provider, model, before))

    async def _use(self, record: ModelRecord) -> None:
        """Write down a choice of model, and ask it where it is one of this run's provider."""
        parts = self._parts
        if record.provider == parts.provider:
            parts = self._assemble(self._log, self._wire, record.model, parts)
            parts.compactor.review = self._parts.compactor.review

        async def change() -> None:
            await self._log.append(record, durability=Durability.D1)
            if parts is not self._parts:
                self._parts = parts
            self._wire.emit(StatusChanged(self.gauge, None, parts.model))

        await settle(change())
        if parts is self._parts:
            await self.warm()

    async def export(self, form: str) -> Exported:
        """The session in another format, without secrets; raises UsageError."""
        about = About(self.session_id, self.view.title, self.gauge.tokens)
        return await asyncio.to_thread(export_records, form, self.view.records, about)

    async def export_to(self, form: str, folder: Path) -> tuple[Path, str]:
        """Write the session to a new file in a folder; returns its path and what was redacted."""
        found = await self.export(form)
        path = await asyncio.to_thread(
            write_numbered, folder, self.session_id, found.ending, found.content
        )
        return path, found.redacted

    async def prune_archives(self, keep: int) -> list[int]:
        """Delete all but the newest ``keep`` archives; returns the numbers that went."""
        return await settle(self._log.prune(keep))

    async def warm(self) -> None:
        """Count the history exactly, off the loop; until then a long one is counted roughly."""
        await self._parts.context.warm()
        self._wire.emit(StatusChanged(self.gauge, None, self.model))

    async def follow(self) -> Literal["", "grown", "replaced"]:
        """Take in what another process wrote: nothing, more of the same path, or another log."""
        before = self._log.state.entries
        if not await self._log.reload():
            return ""
        return "grown" if self._log.state.entries is before else "replaced"

    async def is_free(self) -> bool:
        """Whether the window that kept this one from writing has let go: open it anew to write."""
        return await self._log.is_free()

    async def close(self) -> None:
        """Write what the disk had refused, if it takes it now, and release the session's lock."""
        await self._parts.watch.idle(_LAST_CAPTURE_SECONDS)
        await self._parts.agent.flush()
        await self._log.close()

    def _require_writable(self) -> None:
        if self.read_only:
            raise SessionReadOnly(f"This session is read-only here: {self.read_only}.")

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Act while no other act is under way: what it acts on is what the one before left."""
        self._require_idle()
        async with self._gate:
            self._require_idle()
            yield

    def _require_idle(self) -> None:
        self._require_writable()
        if self._busy:
            raise SessionError("A turn is running: send a message to steer it, or press Esc first.")

    def _require_pause(self) -> None:
        """A compaction may also be made while the turn that needs it waits for its review."""
        self._require_writable()
        if not self._reviewing:
            self._require_idle()


def _ignore(_event: Event) -> None:
    """For approvals that nobody has to hear of."""
