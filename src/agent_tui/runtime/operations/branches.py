"""Every act on the tree of a session: begin a branch, go to another one, label, sum one up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

from agent_tui.agent.settle import settle
from agent_tui.core.errors import SessionError
from agent_tui.core.messages import TextPart
from agent_tui.core.records import (
    BranchSummary,
    HeadRecord,
    Message,
    UserMessage,
)
from agent_tui.core.summary import OperationReport
from agent_tui.core.tree import TreeRow
from agent_tui.history.session_tree import SessionTree
from agent_tui.history.undo import MoveLeaf
from agent_tui.runtime.building.parts import CurrentParts
from agent_tui.sessions.store import Durability

_PREFACE = (
    "<system>Another branch of this conversation was left. This is what was done there; the "
    "files are as that branch left them.</system>\n\n"
)


class Branches:
    """Operations on the tree of one open session; memory equals disk after each."""

    def __init__(self, parts: CurrentParts) -> None:
        self._parts = parts
        self._log = parts.log

    async def begin(self, tree: SessionTree, row: TreeRow) -> OperationReport:
        """Let the next message hang off an entry; a prompt comes back to be edited."""
        prompt = await tree.prompt_at(row)
        return await self._go_to(tree, tree.branch_point(row), "branch", prompt)

    async def switch(self, tree: SessionTree, row: TreeRow) -> OperationReport:
        """Go on at the end of another branch: in the log, or in the archive that holds it."""
        return await self._go_to(tree, tree.leaf_of(row), "switch", "")

    async def _go_to(
        self, tree: SessionTree, place: int, reason: str, prompt: str
    ) -> OperationReport:
        if place == tree.shape.leaf and place in tree.shape.context:
            raise SessionError("Already on this branch. Send a message to continue.")
        source = tree.tree.source_of(place)
        if source.session_id != tree.session_id:
            raise SessionError(f"This belongs to the fork {source.session_id}: open it first.")
        uuid = await asyncio.to_thread(self._find, tree, place)
        archive = 0
        if not uuid:
            archive = await settle(self._restore_and_move(tree, place))
        else:
            await settle(self.move(uuid))
        return OperationReport(reason, archive, prompt=prompt)

    def _find(self, tree: SessionTree, place: int) -> str:
        """The id of an entry that the live log holds; empty where only an archive does.

        A compaction repeats what it kept: the same id then stands for two contexts.
        """
        uuid = tree.tree.uuids[place]
        if uuid is None:
            return ""
        if place in tree.shape.context:
            return uuid
        wanted = [tree.tree.uuid(step) for step in tree.tree.path_to(place)]
        for entry in list(self._log.state.all_entries):
            if entry.record.stamp.uuid == uuid:
                path = self._log.state.path_to(entry)
                return uuid if [e.record.stamp.uuid for e in path] == wanted else ""
        return ""

    async def _restore_and_move(self, tree: SessionTree, place: int) -> int:
        number, is_end = _archive_of(tree, place)
        uuid = tree.tree.uuids[place]
        if uuid is None and not is_end:
            raise SessionError("This entry has no id: a branch can only begin where its log ends.")
        archive = await self._log.restore(number, "restore")
        if uuid is not None and not is_end:
            await self.move(uuid, "restore")
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

    async def sum_up(self, tree: SessionTree, row: TreeRow, on_text: Callable[[str], None]) -> str:
        """Have the model sum up a branch that was left, and tell it in the present one.

        Raises:
            SessionError: the row is not on another branch, or nothing was said there.
            ProviderError: the model could not be asked; nothing was written.
        """
        records = await tree.messages_left(row)
        messages: Sequence[Message] = [r for r in records if isinstance(r, Message)]
        if not messages:
            raise SessionError("Nothing new to summarize on this branch.")
        text = await self._parts.now.compactor.summarise_branch(messages, on_text)
        leaf = tree.tree.uuid(tree.leaf_of(row))
        told = UserMessage(
            (TextPart(_PREFACE), TextPart(text)),
            origin="branch",
            turn=self._log.state.last_turn or None,
        )
        await settle(self._write_summary(BranchSummary(leaf, text), told))
        return text

    async def _write_summary(self, summary: BranchSummary, told: UserMessage) -> None:
        await self._log.append(summary, told, durability=Durability.D1)


def _archive_of(tree: SessionTree, place: int) -> tuple[int, bool]:
    """The archive that ends at a place, else the first one that holds it; and whether it ends."""
    for source, leaf in zip(tree.tree.sources, tree.tree.leaves_of, strict=True):
        if leaf == place and source.archive and source.session_id == tree.session_id:
            return source.archive, True
    number = tree.tree.source_of(place).archive
    if not number:
        raise SessionError("The log changed since the tree was read; open the tree again.")
    return number, False
