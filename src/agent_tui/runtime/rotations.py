"""The acts that put another log in the place of a session's, and the ways back from them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_tui.context.context import Context
from agent_tui.core.records import LabelRecord, Record, RevertReason, TitleRecord
from agent_tui.core.summary import RotationReport
from agent_tui.runtime import history
from agent_tui.runtime.branches import Branches
from agent_tui.runtime.headers import fork_header
from agent_tui.runtime.records_view import RecordsView
from agent_tui.runtime.undoing import (
    MoveLeaf,
    RestoreArchive,
    find_redo,
    find_undo,
)
from agent_tui.sessions.store import Durability, SessionLog


@dataclass(frozen=True, slots=True)
class Rotations:
    """Acts on one open session, each of which can be undone; the caller does one at a time."""

    log: SessionLog
    context: Context
    branches: Branches
    workspace: Path
    title: str

    @property
    def _records(self) -> Sequence[Record]:
        return RecordsView(self.log.state.entries)

    async def revert(self, checkpoint: int, reason: RevertReason) -> RotationReport:
        """Go back to just before a checkpoint; raises UnknownCheckpoint."""
        count = self.context.count_message
        preview = await asyncio.to_thread(history.preview_revert, self._records, checkpoint, count)
        labels = dict(self.log.state.labels)
        archive = await self.context.revert_to(checkpoint, reason)
        await self._carry(labels)
        left = preview.messages_leaving
        return RotationReport(reason, archive, checkpoint, left, preview.prompt)

    async def clear(self) -> RotationReport:
        """Keep only what a new session begins with."""
        left = len(self.log.state.messages)
        return RotationReport("clear", await self.context.clear(), messages_left=left)

    async def restore(
        self, number: int, reason: RevertReason, *, forking: bool = False
    ) -> RotationReport:
        """Make an archive the live log again; with ``forking`` the present one goes on as a fork.

        Raises:
            UnknownArchive: the session has no such archive.
        """
        fork = await self.fork(f"{self.title} (before undo)") if forking else ""
        left = len(self.log.state.messages)
        labels = dict(self.log.state.labels)
        archive = await self.context.restore_archive(number, reason)
        await self._carry(labels)
        return RotationReport(reason, archive, messages_left=left, fork=fork)

    async def _carry(self, labels: dict[str, str]) -> None:
        """Give labels again that the new log has lost, where what they name is still there."""
        state = self.log.state
        there = {entry.record.stamp.uuid for entry in state.all_entries}
        lost = [
            LabelRecord(target, label)
            for target, label in labels.items()
            if target in there and target not in state.labels
        ]
        if lost:
            await self.log.append(*lost, durability=Durability.D1)

    async def undo(self) -> RotationReport:
        """Take the last act back; raises SessionError where there is none."""
        match find_undo(self._records, RecordsView(self.log.state.all_entries)):
            case RestoreArchive() as way:
                return await self._undo(way)
            case MoveLeaf() as way:
                return await self.branches.go_back(way, "undo")

    async def undo_rotation(self, archive: int) -> RotationReport:
        """Take back the act that made an archive; what came after it goes on in a fork."""
        return await self._undo(RestoreArchive(archive))

    async def _undo(self, way: RestoreArchive) -> RotationReport:
        went_on = history.went_on_after(self._records, way.archive)
        if went_on:
            # It must be there before the fork is made.
            await asyncio.to_thread(self.log.read_archive, way.archive)
        return await self.restore(way.archive, "undo", forking=went_on)

    async def redo(self) -> RotationReport:
        """Take the last undo back; raises SessionError where the last act was none."""
        match find_redo(self._records):
            case RestoreArchive(archive):
                return await self.restore(archive, "redo")
            case MoveLeaf() as way:
                return await self.branches.go_back(way, "redo")

    async def fork(self, title: str) -> str:
        """Copy the active path into a session of its own; returns its id."""
        header = await asyncio.to_thread(fork_header, self.log.state.header, self.workspace)
        log = await self.log.fork(header)
        try:
            await log.append(TitleRecord(title), durability=Durability.D1)
        finally:
            await log.close()
        return header.session_id
