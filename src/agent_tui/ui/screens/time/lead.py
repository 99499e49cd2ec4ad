"""Where the screens about a session's past lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agent_tui.core.tree import TreeRow
    from agent_tui.history.tree.session_tree import SessionTree


class Lead(Protocol):
    """Shows the next screen over the one that asks, for the session that is looked at.

    The methods that return a bool show a screen and say, when it is left, whether the user is done
    with the past: the session was changed, and every screen about its past is left.
    """

    @property
    def can_restore(self) -> bool:
        """Whether an archive can be made the live log again."""
        ...

    def find_can_undo(self) -> bool:
        """Whether there is an operation to undo. Blocks: it looks through the log."""
        ...

    @property
    def can_continue(self) -> bool:
        """Whether it is a file that can be continued as a session of ours."""
        ...

    @property
    def resume_command(self) -> str:
        """The command that resumes it in the agent that wrote it; empty where there is none."""
        ...

    async def continue_here(self, at: str = "") -> bool:
        """Continue it as a session of ours: from a message by its number or id, or all of it.

        Raises SessionError, StorageError where that cannot be done.
        """
        ...

    def restore(self, archive: int) -> None:
        """Make an archive the live log again."""
        ...

    async def archives(self) -> bool:
        """List the archives of the session."""
        ...

    async def archive(self, number: int) -> bool:
        """Show an archive; raises UnknownArchive."""
        ...

    async def compare_archive(self, number: int) -> None:
        """Show an archive beside the live log."""
        ...

    async def compactions(self) -> bool:
        """Choose a compaction of the session; raises UsageError where there is none."""
        ...

    async def compaction(self, archive: int) -> bool:
        """Show both sides of the compaction that made an archive."""
        ...

    async def tree(self, entry: str = "") -> bool:
        """Show the tree of the session, the cursor on an entry by its id, or on the present."""
        ...

    async def scrub(self, tree: SessionTree | None = None, place: int = -1) -> None:
        """Show the session step by step, from a place of its tree or from now."""
        ...

    async def moment(self, tree: SessionTree, row: TreeRow, title: str) -> bool:
        """Show the log as it was at the end of a row of the tree."""
        ...
