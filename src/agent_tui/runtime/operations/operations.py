"""Everything that changes a session and can be undone: one operation at a time, each told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Literal

from agent_tui.agent.settle import settle
from agent_tui.context.filters import ContextFilter
from agent_tui.core.errors import SessionError
from agent_tui.core.events import Reverted
from agent_tui.core.records import Message, Record, RevertReason, WorkspaceRecord
from agent_tui.core.revert_plan import Choice, RevertPlan
from agent_tui.core.summary import CompactionReport, CompactionRequest, OperationReport
from agent_tui.core.text import reveal
from agent_tui.core.tree import TreePlace
from agent_tui.core.words import operation_words
from agent_tui.history.records import checkpoints
from agent_tui.history.undo import (
    UNNAMED,
    MoveLeaf,
    PutBack,
    RestoreArchive,
    made_by,
)
from agent_tui.history.view import SessionView
from agent_tui.runtime.building.parts import CurrentParts
from agent_tui.runtime.files.session_files import FilesReverted, SessionFiles
from agent_tui.runtime.files.together import ConversationMove
from agent_tui.runtime.operations.branches import Branches
from agent_tui.runtime.operations.choices import Choices
from agent_tui.runtime.operations.gate import Gate
from agent_tui.runtime.operations.trimming import trim_context
from agent_tui.runtime.stored.headers import fork_header
from agent_tui.runtime.stored.naming import name_copy


class Operations:
    """The operations on one open session; memory equals disk after each.

    All raise SessionReadOnly when the session cannot be written, and SessionError while a turn
    is running. What has started is completed, even if its task is cancelled.
    """

    def __init__(
        self, view: SessionView, parts: CurrentParts, gate: Gate, files: SessionFiles
    ) -> None:
        self._view = view
        self._parts = parts
        self._log = parts.log
        self._gate = gate
        self._files = files
        self._branches = Branches(parts)
        self._choices = Choices(parts.log, parts.put_back_model)

    async def revert(self, checkpoint: int, reason: RevertReason = "user") -> OperationReport:
        """Go back to just before a checkpoint; the old log becomes an archive.

        Raises:
            UnknownCheckpoint: the session has no such checkpoint.
        """

        async def act() -> OperationReport:
            records = self._view.records
            place = checkpoints.find_checkpoint(records, checkpoint)
            prompt = checkpoints.prompt_after(records, place)
            archive = await self._log.revert(checkpoint, reason)
            return OperationReport(reason, archive, checkpoint, prompt=prompt)

        return await self._carry_out(act)

    async def clear(self) -> OperationReport:
        """Start the conversation afresh; the old log becomes an archive."""

        async def act() -> OperationReport:
            return OperationReport("clear", await self._log.clear())

        return await self._carry_out(act)

    async def restore(self, number: int, reason: RevertReason = "restore") -> OperationReport:
        """Make an archive the live log again; the replaced log becomes an archive.

        Raises:
            UnknownArchive: the session has no such archive.
        """
        return await self._carry_out(lambda: self._restore(number, reason))

    async def branch(self, place: TreePlace) -> OperationReport:
        """Have the next message follow an entry; the prompt after it is returned for editing."""
        return await self._carry_out(lambda: self._branches.go_to(place, "branch"))

    async def switch_branch(self, end: TreePlace) -> OperationReport:
        """Continue at the end of another branch; restores its archive if need be."""
        return await self._carry_out(lambda: self._branches.go_to(end, "switch"))

    async def undo(self) -> OperationReport:
        """Undo the last operation; raises NothingToUndo where there is none."""
        return await self._carry_out(self._undo_last)

    def find_can_undo(self) -> bool:
        """Whether an undo would find something to undo; looks through the log, which blocks."""
        try:
            return self._files.undoable is not None or bool(self._view.find_undo())
        except SessionError:
            return False

    async def undo_compaction(self, archive: int) -> OperationReport:
        """Make the log before a compaction the live one again.

        Where the conversation continued after it, that continues in a fork: both futures exist.
        """
        return await self._carry_out(lambda: self._undo(made_by(self._view.records, archive)))

    async def redo(self) -> OperationReport:
        """Redo what was undone last; raises NothingToUndo where nothing was."""
        return await self._carry_out(self._redo)

    async def revert_files(self, plan: RevertPlan, choice: Choice) -> FilesReverted:
        """Carry out what was chosen from a plan of files; raises AgentTuiError, nothing changed."""
        async with self._gate.alone():
            return await self._files.revert(plan, choice)

    async def revert_both(
        self, plan: RevertPlan, choice: Choice, checkpoint: int
    ) -> tuple[FilesReverted, OperationReport]:
        """Revert files and the conversation in one operation: both, or neither.

        Raises:
            UnknownCheckpoint: the session has no such checkpoint.
        """
        done: list[FilesReverted] = []

        async def act() -> OperationReport:
            place = checkpoints.find_checkpoint(self._view.records, checkpoint)
            prompt = checkpoints.prompt_after(self._view.records, place)
            move = ConversationMove("user", checkpoint)
            done.append(await self._files.revert(plan, choice, move=move))
            return OperationReport("user", done[0].archive, checkpoint, prompt=prompt)

        report = await self._carry_out(act)
        return done[0], report

    async def compact(self, focus: str = "", strategy: str = "") -> CompactionReport:
        """Compact now, without a preview."""
        async with self._gate.alone():
            compactor = self._parts.now.compactor
            return await compactor.compact(CompactionRequest("manual", strategy, focus))

    async def trim(self, part: ContextFilter) -> None:
        """Keep only a part of the context; all of it stays in an archive. Raises SessionError."""
        async with self._gate.alone():
            await settle(trim_context(self._parts.now.context, part))
        self._parts.tell_status()

    async def summarise_branch(
        self, leaf: str, messages: Sequence[Message], on_text: Callable[[str], None]
    ) -> str:
        """Tell the model in a summary what was done on a branch that was left; returns it.

        Args:
            leaf: the name of the entry where the branch ends.
            messages: what was said on it.
            on_text: hears the summary as it is written.
        """
        async with self._gate.alone():
            summary = await self._branches.summarise(leaf, messages, on_text)
        self._parts.tell_status()
        return summary

    async def label(self, entry: str | None, label: str, archived: str = "") -> None:
        """Name an entry by its id; an empty label takes its name away.

        ``archived`` is its name as the tree knows it: it counts where the live log says nothing.
        """
        self._gate.require_writable()
        if entry is None:
            raise SessionError("This entry has no id and cannot be labelled.")
        await self._choices.label(entry, label, archived)

    async def rename(self, title: str) -> None:
        """Name the session."""
        self._gate.require_writable()
        await self._choices.rename(title)

    async def use_model(self, name: str, provider: str = "") -> str:
        """Ask another model from here on; returns its name.

        ``PROVIDER/MODEL`` names both, unless the provider is given, too.
        """
        async with self._gate.alone():
            return await self._parts.use_model(name, provider)

    async def fork(self) -> str:
        """Copy what this session holds now into a session of its own; returns its id.

        A session that is read-only here can be forked too.
        """
        return await settle(self._fork(f"{self._view.title} (fork)"))

    async def prune_archives(self, keep: int) -> list[int]:
        """Delete all but the newest ``keep`` archives, for good; returns the numbers that went."""
        return await settle(self._log.prune(keep))

    async def _carry_out(self, act: Callable[[], Awaitable[OperationReport]]) -> OperationReport:
        """Carry out an operation, count what it moved, and emit the event."""

        async def carry_out() -> OperationReport:
            before = self._messages()
            report = await act()
            after = self._messages()
            left, back = checkpoints.count_moved(before, after)
            again = checkpoints.prompt_removed(after, before)
            report = replace(report, messages_left=left, messages_back=back, prompt_back=again)
            if report.moved:
                self._parts.tell_status()
            self._parts.wire.emit(Reverted(report))
            return report

        async with self._gate.alone():
            return await settle(carry_out())

    async def _restore(
        self, number: int, reason: RevertReason, of: str = "", *, forking: bool = False
    ) -> OperationReport:
        """Restore an archive; with ``forking`` the present conversation continues in a fork."""
        fork = await self._fork(f"{self._view.title} (before undo)") if forking else ""
        archive = await self._log.restore(number, reason, of=of if of != UNNAMED else "")
        return OperationReport(reason, archive, fork=fork)

    async def _undo_last(self) -> OperationReport:
        if record := self._files.undoable:
            return await self._undo_files(record, "undo")
        match self._view.find_undo():
            case RestoreArchive() as way:
                return await self._undo(way)
            case MoveLeaf() as way:
                report = await self._branches.go_back(way, "undo")
                return replace(report, told=f"Undid the {way.name}")
            case PutBack() as way:
                return await self._put_back(way, "undo")

    async def _undo_files(
        self, record: WorkspaceRecord, reason: Literal["undo", "redo"]
    ) -> OperationReport:
        """Undo or redo a revert of files; the conversation goes along where it did then."""
        archive, fork, move = self._files.moved_by(record), "", None
        if archive:
            await asyncio.to_thread(self._log.read_archive, archive)  # before anything is done
            if checkpoints.went_on_after(self._view.records, archive):
                fork = await self._fork(f"{self._view.title} (before {reason})")
            move = ConversationMove(reason, archive=archive)
        before = self._messages()
        done = await self._files.undo(record, reason, move)
        what = "the revert of files" + (" and conversation" if archive else "")
        told = f"{'Undid' if reason == 'undo' else 'Redid'} {what}"
        if done.left:
            told += f". Changed since and left as they are: {', '.join(map(reveal, done.left))}"
        report = OperationReport(reason, done.archive, fork=fork, told=told, moved=bool(archive))
        return self._with_prompt(report, before) if reason == "redo" else report

    async def _undo(self, way: RestoreArchive) -> OperationReport:
        went_on = checkpoints.went_on_after(self._view.records, way.archive)
        if went_on:
            # It must be there before the fork is made.
            await asyncio.to_thread(self._log.read_archive, way.archive)
        report = await self._restore(way.archive, "undo", way.name, forking=went_on)
        return replace(report, told=f"Undid the {way.name}")

    async def _redo(self) -> OperationReport:
        if record := self._files.redoable:
            return await self._undo_files(record, "redo")
        before = self._messages()
        match self._view.find_redo():
            case RestoreArchive(archive, of):
                report = await self._restore(archive, "redo", of)
                if of == operation_words("user").name:
                    report = self._with_prompt(report, before)
            case MoveLeaf() as way:
                report = self._with_prompt(await self._branches.go_back(way, "redo"), before)
            case PutBack() as way:
                return await self._put_back(way, "redo")
        return replace(report, told=f"Redid the {self._last_operation()}")

    def _messages(self) -> list[Record]:
        return [entry.record for entry in self._log.state.messages]

    def _with_prompt(self, report: OperationReport, before: Sequence[Record]) -> OperationReport:
        """The report of a redo, with the prompt that it removed, to be edited."""
        return replace(report, prompt=checkpoints.prompt_removed(before, self._messages()))

    def _last_operation(self) -> str:
        """What an undo would undo now, where that changed the context."""
        way = self._view.find_undo()
        return UNNAMED if isinstance(way, PutBack) else way.name

    async def _put_back(self, way: PutBack, reason: Literal["undo", "redo"]) -> OperationReport:
        told = await self._choices.put_back(way.choice, reason)
        return OperationReport(reason, 0, told=told, moved=False)

    async def _fork(self, title: str) -> str:
        workspace = self._parts.equipment.workspace
        header = await asyncio.to_thread(fork_header, self._log.state.header, workspace)
        await name_copy(await self._log.fork(header), title)
        return header.session_id
