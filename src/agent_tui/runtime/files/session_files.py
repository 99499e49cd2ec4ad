"""The files of an open session: what changed, what a revert would do, and doing it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agent_tui.agent.settle import settle
from agent_tui.agent.workspace_watch import Moment, WorkspaceWatch
from agent_tui.core.changes import ChangeGroup, FileDiff
from agent_tui.core.errors import (
    AgentTuiError,
    StorageError,
    UnknownArchive,
    UnknownCheckpoint,
)
from agent_tui.core.file_changes import CAUSES, ChangeCause, FileChange
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    WorkspaceRecord,
)
from agent_tui.core.revert_plan import Choice, RevertPlan, describe_choice
from agent_tui.runtime.files.change_groups import calls_told, count_net_changes, describe_changes
from agent_tui.runtime.files.last_reverts import find_redo, find_undo, record_of
from agent_tui.runtime.files.together import ConversationMove, archive_of, parse_move
from agent_tui.runtime.files.watching import content_store, read_timeline
from agent_tui.sessions.replay import SessionState
from agent_tui.sessions.store import SessionLog
from agent_tui.workspace.git import find_repository
from agent_tui.workspace.patches import patch_of
from agent_tui.workspace.places import reason_refused
from agent_tui.workspace.plan import choose, make_plan
from agent_tui.workspace.restore import Recovery, Restore
from agent_tui.workspace.timeline import FileTimeline
from agent_tui.workspace.trimming import read_trimming


@dataclass(frozen=True, slots=True)
class FilesReverted:
    """A revert of files was made: its name, what it changed, and a sentence about it.

    ``archive`` is that of the conversation, where that was reverted together with them. ``left``:
    paths that an undo or redo had to leave as they are.
    """

    operation: str
    changes: tuple[FileChange, ...]
    told: str
    archive: int = 0
    left: tuple[str, ...] = ()


class SessionFiles:
    """Queries and operations on the files of one session; the caller runs one at a time."""

    def __init__(self, log: SessionLog, watch: WorkspaceWatch, workspace: Path) -> None:
        self._log = log
        self._watch = watch
        self._root = str(workspace)
        self._store = content_store(log)

    async def timeline(self) -> FileTimeline:
        """Every capture, oldest first."""
        await self._watch.idle()
        return await asyncio.to_thread(read_timeline, self._log)

    async def trimmed(self) -> str:
        """What of this session was deleted to make room, in a sentence; empty for nothing."""
        return await asyncio.to_thread(self._trimmed)

    def _trimmed(self) -> str:
        found = read_trimming(self._store.folder, self._store.session_id)
        return found.told if found else ""

    async def net_changes(self) -> tuple[FileDiff, ...]:
        """The files that differ from their first state, as captured; the disk is not read."""
        timeline = await self.timeline()
        return await asyncio.to_thread(count_net_changes, self._store, timeline)

    async def changes(self, checkpoint: int | str | None = None) -> list[ChangeGroup]:
        """Everything that changed since a checkpoint (None: since the first capture).

        Raises:
            UnknownCheckpoint: there is no such checkpoint.
        """
        timeline = await self._fresh_timeline()
        return await asyncio.to_thread(self._changes, timeline, checkpoint)

    def _changes(self, timeline: FileTimeline, checkpoint: int | str | None) -> list[ChangeGroup]:
        since = self._since(timeline, checkpoint)
        calls = self._calls(calls_told(timeline, since))
        return describe_changes(self._store, timeline, since, calls)

    async def patch(self, checkpoint: int | str | None = None) -> bytes:
        """What changed since a checkpoint, as ``git apply`` takes it.

        Raises:
            UnknownCheckpoint: there is no such checkpoint.
        """
        timeline = await self._fresh_timeline()
        changes = [c for each in self._since(timeline, checkpoint) for c in each.delta]
        return await asyncio.to_thread(self._patch, changes)

    def _patch(self, changes: Sequence[FileChange]) -> bytes:
        repository = find_repository(self._root)
        algorithm = repository.object_format() if repository else "sha1"
        return patch_of(self._store, changes, algorithm)

    def _calls(self, wanted: Collection[str]) -> dict[str, ToolCall]:
        """Calls by their ids; archives are read for those that are not in the log now."""
        calls = _calls_in(self._log.state)
        missing = set(wanted) - calls.keys()
        for archive in reversed(self._log.archives() if missing else []):
            if not missing:
                break
            with suppress(AgentTuiError):
                calls = _calls_in(self._log.read_archive(archive.number)) | calls
            missing -= calls.keys()
        return calls

    def _since(
        self, timeline: FileTimeline, checkpoint: int | str | None
    ) -> tuple[WorkspaceRecord, ...]:
        try:
            return timeline.since(checkpoint)
        except KeyError:
            raise UnknownCheckpoint.among(checkpoint or 0, timeline.ids) from None

    async def plan_captures(self, ids: Collection[str]) -> RevertPlan:
        """What reverting the captures with these ids would do."""
        timeline = await self._fresh_timeline()
        return await self.plan_of([c for c in timeline.captures if c.stamp.uuid in ids])

    async def plan_since(self, checkpoint: int | str | None) -> RevertPlan:
        """What reverting the files to a checkpoint would do.

        Raises:
            UnknownCheckpoint: there is no such checkpoint.
        """
        timeline = await self._fresh_timeline()
        return await asyncio.to_thread(self._plan_since, timeline, checkpoint)

    def _plan_since(self, timeline: FileTimeline, checkpoint: int | str | None) -> RevertPlan:
        captures = self._since(timeline, checkpoint)
        notices, lone = self._notices(timeline, captures)
        notices += self._notices_of_store()
        return make_plan(self._root, self._store, captures, notices=notices, conversation_only=lone)

    async def plan_of(self, captures: Sequence[WorkspaceRecord]) -> RevertPlan:
        """What reverting some captures would do: one tool call, one turn, one revert."""
        await self._fresh_timeline()
        causes = frozenset(CAUSES)
        return await asyncio.to_thread(
            make_plan,
            self._root,
            self._store,
            captures,
            own_causes=causes,
            notices=self._notices_of_store(),
        )

    def _notices_of_store(self) -> tuple[str, ...]:
        return (told,) if (told := self._trimmed()) else ()

    async def _fresh_timeline(self) -> FileTimeline:
        """The timeline with what others changed until this moment."""
        if not self._log.read_only:
            self._watch.place(self._moment())
            await self._watch.snapshot()
        return await self.timeline()

    def _moment(self) -> Moment:
        checkpoints = self._log.state.checkpoints
        if not checkpoints:
            return Moment()
        number = max(checkpoints)
        record = checkpoints[number].record
        turn = record.turn if isinstance(record, Checkpoint) else None
        return Moment(number, record.stamp.uuid, turn, None)

    def _notices(
        self, timeline: FileTimeline, captures: Sequence[WorkspaceRecord]
    ) -> tuple[tuple[str, ...], bool]:
        """Warnings before a revert, and whether reverting files is unwise here."""
        if refused := reason_refused(self._root):
            return (f"Files are not captured here: {refused}.",), True
        if not timeline.captures:
            return ("No files were captured in this session.",), True
        repository = find_repository(self._root)
        if repository is None:
            return (), False
        notices = []
        if operation := repository.operation():
            notices.append(
                f"Git is in the middle of {operation}. Its refs and index are not changed."
            )
        before = len(timeline.captures) - len(captures)
        was = timeline.captures[max(before - 1, 0)].head
        now = repository.head()
        if was and now and was != now:
            notices.append(f"Git HEAD moved since, from {was} to {now}. It is not moved back.")
        return tuple(notices), bool(notices)

    async def revert(
        self,
        plan: RevertPlan,
        choice: Choice,
        cause: ChangeCause = "revert",
        move: ConversationMove | None = None,
    ) -> FilesReverted:
        """Carry out what was chosen from a plan, wholly or not at all.

        With ``move`` the conversation goes along: a crash at any moment leaves both halves or
        none, once the session is opened again.

        Raises:
            AgentTuiError: nothing was changed, and why.
        """
        return await settle(self._revert(plan, choice, cause, move))

    async def _revert(
        self, plan: RevertPlan, choice: Choice, cause: ChangeCause, move: ConversationMove | None
    ) -> FilesReverted:
        actions = choose(plan, choice)
        if not actions and cause == "revert":
            archive = await move.make(self._log, "") if move else 0
            told = "Conversation reverted. " if archive else ""
            told += "No files were chosen, so none were changed."
            return FilesReverted("", (), told, archive)
        await self._watch.snapshot()
        restore = Restore(self._root, self._store)
        about = self._about(plan, cause, move)
        operation = str(about["operation"])
        changes = await asyncio.to_thread(restore.run, actions, operation, about)
        archive = await self._move(restore, move, operation)
        record = await self._write(
            restore, record_of(changes, about, restore.folders), moved=bool(archive)
        )
        await asyncio.to_thread(restore.finish)
        await self._watch.take_up(record)
        what = ("Conversation" if archive else "", describe_choice(plan, choice))
        told = f"{' and '.join(filter(None, what)) or 'No file was'} reverted."
        return FilesReverted(operation, changes, told, archive)

    def _about(
        self, plan: RevertPlan, cause: ChangeCause, move: ConversationMove | None
    ) -> dict[str, object]:
        """What the journal of a revert says besides its changes."""
        moment = self._moment()
        return {
            "operation": uuid.uuid4().hex[:12],
            "cause": cause,
            "of": list(plan.of),
            "checkpoint": moment.checkpoint,
            "checkpoint_uuid": moment.uuid,
            "conversation": move.fields if move else None,
        }

    async def _move(self, restore: Restore, move: ConversationMove | None, operation: str) -> int:
        """Move the conversation too; where that fails, the files go back to where they were."""
        if move is None:
            return 0
        try:
            return await move.make(self._log, operation)
        except AgentTuiError:
            if not archive_of(self._log, operation):
                await asyncio.to_thread(restore.undo)
            raise

    async def _write(
        self, restore: Restore, record: WorkspaceRecord, *, moved: bool
    ) -> WorkspaceRecord:
        """Write the record of a revert; without it, nothing of the revert is kept."""
        try:
            return await self._watch.write(record)
        except AgentTuiError as error:
            if moved:  # it is made, and the journal holds what the record would say
                raise StorageError(
                    f"The revert was made, but could not be recorded: {error} It will be"
                    " recorded when the session is opened again."
                ) from error
            await asyncio.to_thread(restore.undo)
            raise

    @property
    def undoable(self) -> WorkspaceRecord | None:
        """The revert of files that an undo would undo; None if something else was done after it."""
        return find_undo(self._log.state.entries)

    @property
    def redoable(self) -> WorkspaceRecord | None:
        """The undo of a revert of files that a redo would redo; None if something else is newer."""
        return find_redo(self._log.state.entries)

    def moved_by(self, record: WorkspaceRecord) -> int:
        """The archive of the conversation that was moved together with files; 0 for none."""
        return archive_of(self._log, record.operation)

    async def undo(
        self, record: WorkspaceRecord, cause: ChangeCause, move: ConversationMove | None
    ) -> FilesReverted:
        """Undo or redo a revert of files, and what became of the conversation in it."""
        await self.timeline()
        plan = await self.plan_of([record])
        done = await self.revert(plan, plan.default, cause, move)
        left = {each.path for each in plan.paths if each.own and not each.is_whole}
        left |= {each.name for each in plan.uncovered}
        return replace(done, left=tuple(sorted(left)))

    async def recover(self) -> str:
        """Finish or roll back a revert that a crash cut off; a sentence says which."""
        if self._log.read_only or not self._log.on_disk:
            return ""
        return await settle(self._recover())

    async def _recover(self) -> str:
        restore = Restore(self._root, self._store)
        try:
            found = await asyncio.to_thread(restore.recover)
        except AgentTuiError as error:
            return f"A revert of files was interrupted and cannot be finished now: {error}"
        if found is None:
            return ""
        left = f" Changed meanwhile and left alone: {', '.join(found.left)}." if found.left else ""
        if found.outcome == "rolled back":
            return f"A revert of files was interrupted and rolled back.{left}"
        timeline = await asyncio.to_thread(read_timeline, self._log)
        if timeline.of_operation(str(found.about.get("operation", ""))) and not left:
            await asyncio.to_thread(restore.finish)
            return ""
        try:
            left += await self._finish(found, timeline)
        except AgentTuiError as error:
            return f"A revert was interrupted and cannot be finished now: {error}"
        await asyncio.to_thread(restore.finish)
        return f"A revert of files was interrupted; it is finished now.{left}"

    async def _finish(self, found: Recovery, timeline: FileTimeline) -> str:
        """The conversation's half and the record, where they are missing; what could not be."""
        operation, told = str(found.about.get("operation", "")), ""
        if timeline.of_operation(operation):
            return told
        if move := parse_move(found.about):
            try:
                await move.make(self._log, operation)
            except (UnknownCheckpoint, UnknownArchive) as error:
                told = f" The conversation stays as it is: {error}"
        await self._watch.write(record_of(found.changes, found.about, found.folders))
        return told


def _calls_in(state: SessionState) -> dict[str, ToolCall]:
    return {
        call.id: call
        for entry in state.all_entries
        if isinstance(entry.record, AssistantMessage)
        for call in entry.record.tool_calls
    }
