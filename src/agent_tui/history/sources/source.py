"""Where a session is read: what a view needs of it, whoever wrote it and wherever it lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from agent_tui.core.records import CompactionRecord, Message, Record
from agent_tui.core.summary import ArchiveSummary
from agent_tui.history.records.contents import LogContents

if TYPE_CHECKING:
    from agent_tui.history.tree.session_tree import SessionTree
    from agent_tui.importers.imported import ImportedChild

CompactionSides: TypeAlias = tuple[Sequence[Record], Sequence[Record]]
"""The log before a compaction, and the log after it."""


class SessionSource(Protocol):
    """A session with everything that belongs to it. Methods block: call them in a thread.

    Attributes:
        session_id: the session's id.
        title: its name for people.
        contents: its live log.
        read_only: why it cannot be changed, in words; empty when it can.
        has_archives: whether it may have archives.
        has_compactions: whether it may have been compacted.
        resume_command: resumes it in the agent that wrote it; empty for a session of ours.
        tree_refusal: why its tree and its moments cannot be shown; empty when they can.
        children: the sessions of its subagents, where its file tells of them.
    """

    @property
    def session_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def contents(self) -> LogContents: ...
    @property
    def read_only(self) -> str: ...
    @property
    def has_archives(self) -> bool: ...
    @property
    def has_compactions(self) -> bool: ...
    @property
    def tree_refusal(self) -> str: ...
    @property
    def resume_command(self) -> str: ...
    @property
    def children(self) -> Sequence[ImportedChild]: ...

    def count(self, message: Message) -> int:
        """The tokens of a message."""
        ...

    def list_archives(self) -> list[ArchiveSummary]:
        """Every archive, newest first."""
        ...

    def read_archive(self, number: int) -> LogContents:
        """One of them; raises UnknownArchive."""
        ...

    def list_compactions(self) -> list[tuple[int, CompactionRecord]]:
        """Every compaction, undone ones too: its archive and its record, newest first."""
        ...

    def read_compaction(self, archive: int) -> CompactionSides:
        """Both sides of the compaction that made an archive; raises SessionError."""
        ...

    def build_tree(self, *, related: bool) -> SessionTree:
        """The session's tree; with ``related`` that of its forks and its origin too."""
        ...
