"""Every operation on the tree of a session: branch, switch, label, summarise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

from agent_tui.agent.settle import settle
from agent_tui.core.errors import SessionError
from agent_tui.core.records import (
    BranchSummary,
    HeadRecord,
    Message,
    UserMessage,
)
from agent_tui.core.summary import OperationReport
from agent_tui.core.summary_format import write_branch_summary
from agent_tui.core.tree import TreePlace
from agent_tui.history.undo import MoveLeaf
from agent_tui.runtime.building.parts import CurrentParts
from agent_tui.sessions.store import Durability


class Branches:
    """Operations on the tree of one open session; memory equals disk after each."""

    def __init__(self, parts: CurrentParts) -> None:
        self._parts = parts
        self._log = parts.log

    async def go_to(self, place: TreePlace, reason: Literal["branch", "switch"]) -> OperationReport:
        """Have the next message follow an entry, in the log or in the archive that holds it."""
        if place.is_present:
            raise SessionError("Already on this branch. Send a message to continue.")
        if place.session_id != self._log.folder.name:
            raise SessionError(f"This belongs to the fork {place.session_id}: open it first.")
        uuid = await asyncio.to_thread(self._find, place)
        archive = 0
        if not uuid:
            archive = await settle(self._restore_and_move(place))
        else:
            await settle(self.move(uuid))
        return OperationReport(reason, archive, prompt=place.prompt)

    def _find(self, place: TreePlace) -> str:
        """The id of an entry that the live log holds; empty where only an archive does.

        A compaction repeats what it kept: the same id then stands for two contexts.
        """
        uuid = place.uuid
        if uuid is None:
            return ""
        if place.in_context:
            return uuid
        for entry in list(self._log.state.all_entries):
            if entry.record.stamp.uuid == uuid:
                path = self._log.state.path_to(entry)
                return uuid if tuple(e.record.stamp.uuid for e in path) == place.path else ""
        return ""

    async def _restore_and_move(self, place: TreePlace) -> int:
        number = place.ends or place.archive
        if not number:
            raise SessionError("The log changed since the tree was read; open the tree again.")
        if place.uuid is None and not place.ends:
            raise SessionError("This entry has no id: a branch can only begin where its log ends.")
        archive = await self._log.restore(number, "restore")
        if place.uuid is not None and not place.ends:
            await self.move(place.uuid, "restore")
        return archive

    async def move(self, uuid: str, reason: str = "") -> None:
        """Move the leaf inside the log; the branch that is left stays where it is."""
        entries = self._log.state.entries
        source = entries[-1].record.stamp.uuid if entries else None
        await self._log.append(HeadRecord(uuid, reason, source), durability=Durability.D1)

    async def go_back(self, way: MoveLeaf, reason: Literal["undo", "redo"]) -> OperationReport:
        """Undo or redo a branch or a switch that stayed inside the log."""
        await settle(self.move(way.to, reason))
        return OperationReport(reason, 0)

    async def summarise(
        self, leaf: str, messages: Sequence[Message], on_text: Callable[[str], None]
    ) -> str:
        """Have the model summarise a branch that was left, and add that to the present one.

        Raises:
            SessionError: nothing was said there.
            ProviderError: the model could not be asked; nothing was written.
        """
        if not messages:
            raise SessionError("Nothing new to summarise on this branch.")
        text = await self._parts.now.compactor.summarise_branch(messages, on_text)
        told = UserMessage(
            write_branch_summary(text),
            origin="branch",
            turn=self._log.state.last_turn or None,
        )
        await settle(self._write_summary(BranchSummary(leaf, text), told))
        return text

    async def _write_summary(self, summary: BranchSummary, told: UserMessage) -> None:
        await self._log.append(summary, told, durability=Durability.D1)
