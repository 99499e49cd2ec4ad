"""One open session: its state in memory, and every operation on its log."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import (
    AgentTuiError,
    SessionNotFound,
    SessionReadOnly,
    UnknownArchive,
    UnknownCheckpoint,
    UsageError,
)
from agent_tui.core.records import (
    Record,
    RevertReason,
    RevertRecord,
    SessionHeader,
    SystemPrompt,
    TitleRecord,
)
from agent_tui.core.summary import ArchiveSummary
from agent_tui.sessions.archive import (
    LIVE,
    archive_path,
    finished_archives,
    removable_archives,
)
from agent_tui.sessions.lineage import holder_of, inherited_archives
from agent_tui.sessions.lock import Ownership, is_owned, name_window
from agent_tui.sessions.log import Durability, LogFile
from agent_tui.sessions.log_writer import BuildLog, Change, LogMark, LogWriter
from agent_tui.sessions.replay import Entry, SessionState, follow_log, load_log, read_log
from agent_tui.sessions.session_summary import list_archive_summaries, read_session_summary
from agent_tui.sessions.writer import Outcome, Writer, free_later


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """Where a fork ends: a log as it was read, and the last entry that is kept.

    Attributes:
        state: what was read; ``load_log`` gives it, and the inode.
        inode: which file that was.
        entry: the end of the path; the leaf if None.
    """

    state: SessionState
    inode: int
    entry: Entry | None = None


StartFork: TypeAlias = Callable[[Path, ForkPoint, SessionHeader], Awaitable["SessionLog"]]
"""How the store makes a new session from part of a log: ``SessionStore.fork``."""


class SessionLog:
    """One open session. Every change is acknowledged before memory shows it.

    Attributes:
        folder: where the session is.
        path: its live log.
        state: what its records add up to; replaced as a whole by revert, compaction and the like.
        read_only: empty, or why this window cannot write the session.
        notices: what was found and put right on opening, for the user to know.
        on_disk: whether anything of it is written at all.
    """

    on_disk = True

    def __init__(
        self,
        folder: Path,
        state: SessionState,
        inode: int,
        writer: Writer,
        ownership: Ownership | None,
        read_only: str,
        start_fork: StartFork,
        find: Callable[[str], Path],
        above: Sequence[Path] = (),
    ) -> None:
        self.folder = folder
        self.path = folder / LIVE
        self.state = state
        self.read_only = read_only
        self.notices: list[str] = []
        self._inode = inode
        self._writer = writer
        self._start_fork = start_fork
        self._find = find
        self._has_written = False
        self._ownership = ownership
        self._file = LogFile(folder, above=above)
        self._tail = LogWriter(self._file, state, inode)

    async def append(self, *records: Record, durability: Durability) -> list[Record]:
        """Append records; returns them as written, stamped.

        Raises:
            SessionReadOnly, SessionBusy, StorageError: nothing was written.
        """
        self._require_writable()
        change = await self._writer.append(self._tail, records, durability, self._settle)
        return change.records

    async def revert(
        self, checkpoint_id: int, reason: RevertReason = "user", operation: str = ""
    ) -> int:
        """Go back to before a checkpoint; returns the archive that holds what was left.

        ``operation`` names the revert of files that this one belongs to.

        Raises:
            UnknownCheckpoint: the log has no such checkpoint.
            LogChanged: another operation or program was faster; nothing was changed.
        """
        await self._begin_change()
        state, inode = self.state, self._inode
        target = state.checkpoints.get(checkpoint_id)
        if target is None:
            raise UnknownCheckpoint.among(checkpoint_id, state.checkpoints)
        act = RevertRecord(0, reason, checkpoint_id, operation)
        return await self._rotate_log(lambda: self._tail.revert(inode, state, target.offset, act))

    async def clear(self) -> int:
        """Keep only header and system prompt; returns the archive that holds the rest."""
        await self._begin_change()
        inode, kept = self._inode, self.kept_by_clear()
        return await self._rotate_log(lambda: self._tail.clear(inode, kept))

    def kept_by_clear(self) -> list[Entry]:
        """The header and the system prompt in force."""
        firsts: dict[type, Entry] = {}
        for entry in self.state.entries:
            if type(entry.record) is SessionHeader:
                firsts.setdefault(SessionHeader, entry)
            elif type(entry.record) is SystemPrompt:
                firsts[SystemPrompt] = entry
        return sorted(firsts.values(), key=lambda entry: entry.offset)

    async def restore(
        self, number: int, reason: RevertReason = "restore", operation: str = "", of: str = ""
    ) -> int:
        """Make a copy of an archive the live log; returns the archive of the log it replaced.

        ``of`` says what an undo or a redo is of.

        Raises:
            UnknownArchive: no archive is meant by that number here, or it no longer exists.
            LogChanged: another operation or program was faster; nothing was changed.
        """
        await self._begin_change()
        path = await asyncio.to_thread(self.archive_file, number)
        inode, act = self._inode, RevertRecord(0, reason, operation=operation, of=of)
        header = None if path.parent == self.folder else self._header
        return await self._rotate_log(lambda: self._tail.restore(inode, path, act, header))

    async def mark(self) -> LogMark:
        """The fingerprint of the log as it is now: what a compaction is later checked against."""
        marks: list[LogMark] = []

        def run() -> Change:
            marks.append(self._tail.mark())
            return Change()

        await self._writer.call(self._tail, run, self._settle)
        return marks[0]

    async def compact(self, mark: LogMark, build: BuildLog) -> int:
        """Replace what was marked by what ``build(archive number)`` gives; returns that number.

        Entries that ``build`` gives are copied byte for byte, records become new lines, and what
        was appended after the mark is kept behind them. ``build`` runs in the writer thread.

        Raises:
            LogChanged: the log no longer begins with the marked bytes; nothing was changed.
        """
        await self._begin_change()
        return await self._rotate_log(lambda: self._tail.compact(mark, build))

    def archives(self) -> list[ArchiveSummary]:
        """Every archive, oldest first, with why and when it was rotated out. Reads the disk."""
        return list_archive_summaries(self.folder)

    def archive_file(self, number: int) -> Path:
        """The archive that a number in this log refers to. Reads the disk.

        What was done before a fork is in an archive of the session in which it was done.

        Raises:
            UnknownArchive: no archive is meant by that number here, or it no longer exists.
        """
        holder = holder_of(self.state.header, number)
        if not holder:
            self._require_archive(number)
            return archive_path(self.folder, number)
        with suppress(SessionNotFound):
            folder = self._find(holder)
            if number in finished_archives(folder):
                return archive_path(folder, number)
        raise UnknownArchive(
            f"This session was forked from {holder}, whose archive {number} no longer exists."
        )

    def archive_files(self) -> dict[int, Path]:
        """Every existing archive that a number here can refer to. Reads the disk.

        Those of sessions that this one was forked from are among them.
        """
        files = {
            number: archive_path(self.folder, number) for number in finished_archives(self.folder)
        }
        for session_id in inherited_archives(self.state.header):
            with suppress(SessionNotFound):
                folder = self._find(session_id)
                for number in finished_archives(folder):
                    if holder_of(self.state.header, number) == session_id:
                        files[number] = archive_path(folder, number)
        return files

    def read_archive(self, number: int) -> SessionState:
        """What the archive of a number holds. Reads the disk.

        Raises:
            UnknownArchive: no archive is meant by that number here, or it no longer exists.
        """
        return read_log(self.archive_file(number))

    async def prune(self, keep: int) -> list[int]:
        """Delete all but the newest ``keep`` archives; returns the numbers that went.

        Raises:
            UsageError: the newest archive is never deleted, so ``keep`` is at least 1.
        """
        self._require_keep(keep)
        pruned: list[int] = []

        def run() -> Change:
            pruned.extend(removable_archives(self.folder)[:-keep])
            self._file.remove_archives(pruned)
            return Change()

        await self._writer.call(self._tail, run, self._settle)
        return pruned

    async def reload(self) -> bool:
        """Catch up with a log that another process writes; whether there was anything new."""
        if self._ownership is not None:
            change = await self._writer.call(self._tail, self._tail.catch_up, self._settle)
            if os.access(self.path, os.W_OK):
                self.read_only = ""
            return change.state is not None
        state, size = self.state, self.state.size
        followed = await asyncio.to_thread(follow_log, self.path, self._inode, size)
        if self.state is not state or state.size != size:
            return True  # another reload was faster, and brought this already
        if followed is None:
            self.state, self._inode = await asyncio.to_thread(load_log, self.path)
            return True
        items, end = followed
        state.fold(items)
        state.size = end
        return end > size

    async def fork(self, header: SessionHeader) -> SessionLog:
        """Start a new session from this one's whole path, as the store does from a part of it.

        What is kept is copied byte for byte. A window that cannot write may fork all the same.

        Raises:
            LogChanged: another process has replaced this log; reload, then fork again.
        """
        if self._ownership is not None:
            await self._settle_pending()
        return await self._start_fork(self.path, ForkPoint(self.state, self._inode), header)

    async def is_free(self) -> bool:
        """Whether the window that kept this one from writing has closed the session."""
        return not await asyncio.to_thread(is_owned, self.folder)

    async def close(self) -> None:
        """Finish what is being written and let other windows write."""
        if self._ownership is not None:
            try:
                await self._repeat_title()
                await self._settle_pending()
            finally:  # the store may be closed, and then nothing is pending
                self._ownership.give_up()
                self._ownership = None
                self.read_only = "this session was closed"
        self._file.close()

    async def _repeat_title(self) -> None:
        """Leave the name where the session list looks: it reads only the ends of a log."""
        title = self.state.title
        if not self._has_written or self.read_only or not title:
            return
        with suppress(AgentTuiError):
            summary = await asyncio.to_thread(read_session_summary, self.folder)
            if summary.title != title:
                await self.append(TitleRecord(title), durability=Durability.D0)

    @property
    def _header(self) -> Entry | None:
        header = self.state.header
        return next((e for e in self.state.all_entries if e.record is header), None)

    async def _begin_change(self) -> None:
        self._require_writable()
        await self._settle_pending()

    async def _settle_pending(self) -> None:
        await self._writer.call(self._tail, Change, self._settle)

    async def _rotate_log(self, run: Callable[[], Change]) -> int:
        change = await self._writer.call(self._tail, run, self._settle)
        return change.archive

    def _settle(self, outcome: Outcome) -> None:
        """Update memory to match the disk; runs on the loop, in the order of the writes."""
        change = outcome.change
        self._has_written = self._has_written or bool(change.entries)
        if change.state is not None:
            free_later(self.state)
            self.state = change.state
            self._inode = change.inode
        elif change.entries:
            self.state.fold(change.entries)
        if isinstance(outcome.error, SessionReadOnly):
            self.read_only = str(outcome.error)

    def _require_writable(self) -> None:
        if self.read_only:
            why = name_window(self.read_only, self.folder)
            raise SessionReadOnly(f"This session cannot be written: {why.rstrip('.')}.")

    def _require_keep(self, keep: int) -> None:
        self._require_writable()
        if keep < 1:
            raise UsageError(f"The newest archive is always kept: expected 1 or more, got {keep}.")

    def _require_archive(self, number: int) -> None:
        known = finished_archives(self.folder)
        if number not in known:
            names = ", ".join(map(str, known)) or "none"
            raise UnknownArchive(f"There is no archive {number}; this session has: {names}.")
