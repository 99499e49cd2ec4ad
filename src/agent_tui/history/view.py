"""One way to look at a session: ours or another agent's, live, archived, or at some moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agent_tui.core.cost import Price
from agent_tui.core.records import CompactionRecord, Record
from agent_tui.core.summary import (
    ArchiveSummary,
    CheckpointSummary,
    CompactionView,
    RevertPreview,
)
from agent_tui.history.records import checkpoints
from agent_tui.history.records.contents import LogContents
from agent_tui.history.sources.source import SessionSource

if TYPE_CHECKING:
    from agent_tui.core.tree import Comparison, TreeRow
    from agent_tui.history.costs import SessionCosts
    from agent_tui.history.scrub import Scrub
    from agent_tui.history.tree.session_tree import SessionTree
    from agent_tui.history.undo import WayBack


class SessionView:
    """A log of a session, and from it everything that belongs to the session; changes nothing.

    An archive, and a log as it was at a moment, are views too: they lead to the same archives,
    compactions and tree, because these belong to the session.

    Attributes:
        archive: the archive that is looked at; 0 for the live log or a moment.
        is_whole: whether this is the session itself rather than a part of it.
        children: the sessions of its subagents, where its file tells of them; none for a part.
    """

    def __init__(
        self,
        source: SessionSource,
        contents: LogContents | None = None,
        *,
        title: str = "",
        archive: int = 0,
    ) -> None:
        self._source = source
        self._contents = contents or source.contents
        self._title = title
        self.archive = archive
        self.is_whole = contents is None
        self.children = source.children if self.is_whole else ()

    @property
    def session_id(self) -> str:
        return self._source.session_id

    @property
    def title(self) -> str:
        """What is looked at, for people."""
        return self._title or self._source.title

    @property
    def read_only(self) -> str:
        """Why the session cannot be changed, in words; empty when it can."""
        return self._source.read_only

    @property
    def resume_command(self) -> str:
        """The command that resumes it in the agent that wrote it; empty for a session of ours."""
        return self._source.resume_command

    @property
    def records(self) -> Sequence[Record]:
        """Every record on the active path, in log order."""
        return self._contents.records

    @property
    def shown_records(self) -> Sequence[Record]:
        """The records for a timeline: with a row in the place of lines that cannot be read."""
        return self._contents.shown_records

    @property
    def damaged(self) -> int:
        """How many lines of the log cannot be read; they are kept where they are."""
        return self._contents.damaged

    @property
    def message_count(self) -> int:
        """How many messages the log holds on its active path."""
        return self._contents.message_count

    @property
    def token_count(self) -> int:
        """The tokens that a request from here would send; 0 where nobody counted."""
        return self._contents.token_count

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been said yet."""
        return not self.message_count

    @property
    def has_archives(self) -> bool:
        """Whether the session may have archives."""
        return self._source.has_archives

    @property
    def has_compactions(self) -> bool:
        """Whether the session may have been compacted."""
        return self._source.has_compactions

    @property
    def tree_refusal(self) -> str:
        """Why the tree and the moments cannot be shown, in a sentence; empty when they can."""
        return self._source.tree_refusal

    def checkpoints(self) -> list[CheckpointSummary]:
        """Every place to return to, oldest first."""
        return checkpoints.list_checkpoints(self.records)

    def find_undo(self) -> WayBack:
        """How the last operation is undone; raises NothingToUndo."""
        from agent_tui.history.undo import find_undo

        return find_undo(self.records, self._contents.all_records)

    def find_redo(self) -> WayBack:
        """How the last undo is redone; raises NothingToUndo."""
        from agent_tui.history.undo import find_redo

        return find_redo(self.records)

    async def preview_revert(self, checkpoint: int) -> RevertPreview:
        """What a revert would remove from the context; raises UnknownCheckpoint."""
        count = self._source.count
        return await asyncio.to_thread(checkpoints.preview_revert, self.records, checkpoint, count)

    async def archives(self) -> list[ArchiveSummary]:
        """Every archive of the session, newest first."""
        return await asyncio.to_thread(self._source.list_archives)

    async def open_archive(self, number: int) -> SessionView:
        """An archive of the session; raises UnknownArchive."""
        contents = await asyncio.to_thread(self._source.read_archive, number)
        title = f"archive {number} · {self._source.title}"
        return SessionView(self._source, contents, title=title, archive=number)

    async def compare_archive(self, number: int) -> Comparison:
        """An archive beside the live log; raises UnknownArchive."""
        return await asyncio.to_thread(self._compare_archive, number)

    def _compare_archive(self, number: int) -> Comparison:
        from agent_tui.history.records.compare import compare_branches

        archive = self._source.read_archive(number)
        live = self._source.contents
        sides = (f"archive {number}", archive.records), ("now", live.records)
        return compare_branches(*sides, self._source.count)

    async def costs(self, price_of: Callable[[str], Price | None]) -> SessionCosts:
        """What the session used and cost, archives included; ``price_of`` knows models' prices."""
        return await asyncio.to_thread(self._costs, price_of)

    def _costs(self, price_of: Callable[[str], Price | None]) -> SessionCosts:
        from agent_tui.history.costs import costs_of

        archives = self._source.list_archives()
        numbers = [archive.number for archive in archives if not archive.trouble]
        archived = (self._source.read_archive(number).records for number in numbers)
        return costs_of(self._source.contents.records, archived, price_of)

    async def compactions(self) -> list[tuple[int, CompactionRecord]]:
        """Every compaction, undone ones too: its archive and its record, newest first."""
        return await asyncio.to_thread(self._source.list_compactions)

    async def view_compaction(self, archive: int) -> CompactionView:
        """Both sides of the compaction that made an archive.

        Raises:
            SessionError: no compaction made it; UnknownArchive: it no longer exists.
        """
        return await asyncio.to_thread(self._view_compaction, archive)

    def _view_compaction(self, archive: int) -> CompactionView:
        from agent_tui.context.compaction.compaction import view_past

        before, after = self._source.read_compaction(archive)
        return view_past(before, after, self._source.count, archive)

    async def tree(self, *, related: bool = True) -> SessionTree:
        """The tree of the session; with ``related`` that of its forks and its origin too.

        Raises:
            SessionError, StorageError: it cannot be read; the sentence says why.
        """
        return await asyncio.to_thread(lambda: self._source.build_tree(related=related))

    async def scrub(self, tree: SessionTree | None = None) -> Scrub:
        """The session step by step: every moment of its life; raises as ``tree`` does.

        ``tree``: the session's tree, where it has been read already.
        """
        from agent_tui.history.scrub import Scrub

        build = self._source.build_tree
        return await asyncio.to_thread(lambda: Scrub(tree or build(related=False)))

    async def at_row(self, tree: SessionTree, row: TreeRow, title: str) -> SessionView:
        """The log as it was at the end of a row of the session's tree."""
        contents = await asyncio.to_thread(tree.contents_at, row)
        return SessionView(self._source, contents, title=title)
