"""A log that is only looked at: an archive, another agent's session, or a file by path."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent_tui.context.compaction.compaction import view_past
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.errors import SessionError, UnknownArchive
from agent_tui.core.records import CompactionRecord, Record, UsageRecord
from agent_tui.core.summary import ArchiveSummary, CheckpointSummary, CompactionView
from agent_tui.core.tree import Comparison
from agent_tui.history import checkpoints
from agent_tui.history.compare import compare_branches
from agent_tui.history.indexed_records import BIG_BYTES, IndexedRecords
from agent_tui.history.records_view import RecordsView
from agent_tui.history.tree.placed_records import PlacedRecords
from agent_tui.history.tree.record_links import Source
from agent_tui.importers import kimi
from agent_tui.importers.imported import (
    ImportedArchive,
    ImportedCompaction,
    count_findings,
    count_messages,
)
from agent_tui.importers.registry import import_session, recognise
from agent_tui.sessions.archive import LIVE
from agent_tui.sessions.disk import translate_os_errors
from agent_tui.sessions.replay import SessionState

_OURS = "agent-tui"
WHOLE_BYTES = 256 << 20
"""Up to this size what cannot be read in parts is read whole: it takes a few seconds."""


@dataclass(frozen=True)
class BrowsedSession:
    """Records to look at, and what stands around them.

    Attributes:
        title: a line for people.
        records: the active path, in log order.
        damaged: lines that are not records; they are kept where they are.
        findings: what was found in numbers, as ``open --json`` prints it.
        path: the file it was read from, where it was read from one.
        logs: what its tree is read from where the files are ours: archives, then the live log.
        context: what the model would be sent, where a file also holds what was compacted.
        rotated: logs that were rotated away, and branches that were left.
        compactions: every compaction with both of its sides, oldest first.
    """

    session_id: str
    title: str
    records: Sequence[Record]
    damaged: int
    message_count: int
    token_count: int
    findings: dict[str, Any]
    path: Path = Path()
    logs: tuple[Source, ...] = ()
    context: Sequence[Record] = ()
    rotated: tuple[ImportedArchive, ...] = ()
    compactions: tuple[ImportedCompaction, ...] = ()

    @classmethod
    def of_state(cls, state: SessionState, title: str, session_id: str) -> BrowsedSession:
        """Wrap a replayed log of ours."""
        return cls(
            session_id=session_id,
            title=title,
            records=RecordsView(state.entries),
            damaged=len(state.damaged),
            message_count=len(state.messages),
            token_count=state.token_count,
            findings={},
        )

    @classmethod
    def of_big_log(cls, path: Path, title: str, session_id: str = "") -> BrowsedSession | None:
        """Index a log that is too big to be read whole; None when it is not that big, or no log."""
        is_big = path.is_file() and path.stat().st_size >= BIG_BYTES
        importer = recognise(path) if is_big else None
        if importer is None or importer.source not in (kimi.OURS, kimi.KIMI):
            return None
        records = IndexedRecords(path)
        return cls(
            session_id=session_id,
            title=title,
            records=records,
            damaged=0,
            message_count=records.message_count,
            token_count=0,
            findings={},
        )

    @classmethod
    def of_records(
        cls, records: Sequence[Record], title: str, session_id: str, tokens: int
    ) -> BrowsedSession:
        """Wrap the records of a session as they were at some point."""
        if isinstance(records, PlacedRecords):
            messages = records.message_count
        else:
            messages = count_messages(tuple(records))
        return cls(session_id, title, records, 0, messages, tokens, {})

    @classmethod
    def open_file(cls, path: Path) -> BrowsedSession:
        """Read a log or session file of any known kind to look at it; a big log is only indexed.

        Raises:
            SessionError, StorageError: it cannot be read; the sentence says why.
        """
        if path.is_dir():
            path = path / LIVE
        big = cls.of_big_log(path, path.name)
        if big is None:
            return cls.of_file(path)
        ours = isinstance(big.records, IndexedRecords) and big.records.is_ours
        return replace(big, path=path, logs=_logs_beside(path) if ours else ())

    @classmethod
    def of_file(cls, path: Path) -> BrowsedSession:
        """Read a log or session file of any known kind.

        Raises:
            SessionError, StorageError: it cannot be read; the sentence says why.
        """
        found = import_session(path)
        findings = count_findings(found)
        return cls(
            session_id=found.session_id,
            title=f"{found.title or path.name} · {found.source}",
            records=found.records,
            damaged=found.damaged,
            message_count=findings["messages"],
            token_count=findings["token_count"],
            findings=findings,
            path=found.path,
            logs=_logs_beside(found.path) if found.source == _OURS else (),
            context=found.context,
            rotated=found.archives,
            compactions=found.compactions,
        )

    @property
    def has_tree(self) -> bool:
        """Whether it is a whole session, with a tree of its own, and not a part of one."""
        return self.path != Path()

    @property
    def too_big(self) -> str:
        """Why its tree and its moments cannot be shown, in a sentence; empty when they can."""
        if self.logs or not isinstance(self.records, IndexedRecords):
            return ""
        size, most = self.records.size >> 20, WHOLE_BYTES >> 20
        if self.records.size <= WHOLE_BYTES:
            return ""
        return (
            "Other agents' logs do not say who spoke: that is worked out from the whole log, "
            f"which is done up to {most} MB. This one has {size} MB."
        )

    def checkpoints(self) -> list[CheckpointSummary]:
        """Every checkpoint, oldest first."""
        return checkpoints.list_checkpoints(self.records)

    async def archives(self) -> list[ArchiveSummary]:
        """Every rotated log that belongs to this one, newest first."""
        return [
            ArchiveSummary(
                number=archive.number,
                path=archive.path,
                reason=archive.reason,
                at="",
                size_bytes=archive.size_bytes,
                messages=count_messages(archive.records),
                checkpoints=len(checkpoints.list_checkpoints(archive.records)),
            )
            for archive in reversed(self.rotated)
        ]

    async def open_archive(self, number: int) -> BrowsedSession:
        """One of them; raises UnknownArchive."""
        for archive in self.rotated:
            if archive.number == number:
                usage = [r.token_count for r in archive.records if isinstance(r, UsageRecord)]
                return BrowsedSession(
                    session_id=self.session_id,
                    title=f"{self.title} · archive {number}",
                    records=archive.records,
                    damaged=archive.damaged,
                    message_count=count_messages(archive.records),
                    token_count=usage[-1] if usage else 0,
                    findings={},
                )
        known = ", ".join(str(archive.number) for archive in self.rotated) or "none"
        raise UnknownArchive(f"There is no archive {number} here; there are: {known}.")

    async def compare_archive(self, number: int) -> Comparison:
        """One of them beside the records of now; raises UnknownArchive."""
        archive = await self.open_archive(number)
        sides = (f"archive {number}", archive.records), ("now", self.records)
        count = TokenCounter().count_message
        return await asyncio.to_thread(compare_branches, *sides, count)

    def compaction_records(self) -> list[tuple[int, CompactionRecord]]:
        """Every compaction's archive and record, newest first."""
        found = []
        for compaction in reversed(self.compactions):
            records = (r for r in compaction.after if isinstance(r, CompactionRecord))
            blank = CompactionRecord("", "", compaction.tokens_before, 0, compaction.archive)
            found.append((compaction.archive, next(records, blank)))
        return found

    async def view_compaction(self, archive: int) -> CompactionView:
        """Both sides of the compaction that made an archive, with estimated tokens."""
        for compaction in self.compactions:
            if compaction.archive == archive:
                count = TokenCounter().count_message
                return await asyncio.to_thread(
                    view_past, compaction.before, compaction.after, count
                )
        raise SessionError(f"No compaction here belongs to archive {archive}.")


def _logs_beside(path: Path) -> tuple[Source, ...]:
    """A log of ours with the archives beside it that came before it, oldest first."""
    with translate_os_errors("Listing the archives of", path):
        archives = sorted(kimi.rotations_of(path).items())
    name = path.parent.name
    older = (Source(name, archive, number) for number, archive in archives)
    return (*older, Source(name, path))
