"""The acts that put another log in the place of a session's, and the ways back from them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agent_tui.context.context import Context
from agent_tui.core.records import Record, RevertReason
from agent_tui.core.summary import OperationReport
from agent_tui.history import checkpoints
from agent_tui.history.records_view import RecordsView
from agent_tui.history.undo import (
    MoveLeaf,
    PutBack,
    RestoreArchive,
    find_redo,
    find_undo,
    made_by,
)
from agent_tui.runtime.branches import Branches
from agent_tui.runtime.choices import Choices
from agent_tui.runtime.forking import name_copy
from agent_tui.runtime.headers import fork_header
from agent_tui.sessions.store import SessionLog


@dataclass(frozen=True, slots=True)
class Operations:
    """Acts on one open session, each of which can be undone; the caller does one at a time."""

    log: SessionLog
    context: Context
    branches: Branches
    choices: Choices
    workspace: Path
    title: str

    @property
    def _records(self) -> Sequence[Record]:
        return RecordsView(self.log.state.entries)

    async def revert(self, checkpoint: int, reason: RevertReason) -> OperationReport:
        """Go back to just before a checkpoint; raises UnknownCheckpoint."""
        records = self._records
        prompt = checkpoints.prompt_after(records, checkpoints.find_checkpoint(records, checkpoint))
        archive = await self.context.revert_to(checkpoint, reason)
        return OperationReport(reason, archive, checkpoint, prompt=prompt)

    async def clear(self) -> OperationReport:
        """Keep only what a new session begins with."""
        return OperationReport("clear", await self.context.clear())

    async def restore(
        self, number: int, reason: RevertReason, *, forking: bool = False
    ) -> OperationReport:
        """Make an archive the live log again; with ``forking`` the present one goes on as a fork.

        Raises:
            UnknownArchive: the session has no such archive.
        """
        fork = await self.fork(f"{self.title} (before undo)") if forking else ""
        archive = await self.context.restore_archive(number, reason)
        return OperationReport(reason, archive, fork=fork)

    async def undo(self) -> OperationReport:
        """Take the last act back; raises SessionError where there is none."""
        match find_undo(self._records, RecordsView(self.log.state.all_entries)):
            case RestoreArchive() as way:
                return await self._undo(way)
            case MoveLeaf() as way:
                report = await self.branches.go_back(way, "undo")
                return replace(report, told=f"The {way.name} is undone.")
            case PutBack() as way:
                return await self._put_back(way, "undo")

    async def undo_rotation(self, archive: int) -> OperationReport:
        """Take back the act that made an archive; what came after it goes on in a fork."""
        return await self._undo(made_by(self._records, archive))

    async def _undo(self, way: RestoreArchive) -> OperationReport:
        went_on = checkpoints.went_on_after(self._records, way.archive)
        if went_on:
            # It must be there before the fork is made.
            await asyncio.to_thread(self.log.read_archive, way.archive)
        report = await self.restore(way.archive, "undo", forking=went_on)
        return replace(report, told=f"The {way.name} is undone.")

    async def redo(self) -> OperationReport:
        """Take the last undo back; raises SessionError where the last act was none."""
        match find_redo(self._records):
            case RestoreArchive(archive):
                report = await self.restore(archive, "redo")
            case MoveLeaf() as way:
                report = await self.branches.go_back(way, "redo")
            case PutBack() as way:
                return await self._put_back(way, "redo")
        return replace(report, told=f"The {self._last_act()} is made again.")

    def _last_act(self) -> str:
        """What an undo would take back now, where that is an act on the context."""
        way = find_undo(self._records, RecordsView(self.log.state.all_entries))
        return "act" if isinstance(way, PutBack) else way.name

    async def _put_back(self, way: PutBack, reason: Literal["undo", "redo"]) -> OperationReport:
        told = await self.choices.put_back(way.choice, reason)
        return OperationReport(reason, 0, told=told, moved=False)

    async def fork(self, title: str) -> str:
        """Copy the active path into a session of its own; returns its id."""
        header = await asyncio.to_thread(fork_header, self.log.state.header, self.workspace)
        await name_copy(await self.log.fork(header), title)
        return header.session_id
