"""A session opened by its path: another agent's, or a log of ours; nothing of it can be changed."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.errors import SessionError, UnknownArchive
from agent_tui.core.format import format_too_big
from agent_tui.core.memory import gc_paused
from agent_tui.core.records import CompactionRecord, Message
from agent_tui.core.summary import OURS, ArchiveSummary
from agent_tui.history.records.checkpoints import list_checkpoints
from agent_tui.history.records.contents import LogContents, ReadLog, count_messages
from agent_tui.history.records.indexed_records import BIG_BYTES, IndexedRecords
from agent_tui.history.sources.source import CompactionSides
from agent_tui.history.tree.logs import Source
from agent_tui.history.tree.session_tree import WHOLE_BYTES, SessionTree
from agent_tui.importers import kimi
from agent_tui.importers.imported import (
    ImportedArchive,
    ImportedChild,
    ImportedSession,
    ImportedTail,
)
from agent_tui.importers.registry import (
    import_session,
    locate,
    read_tail,
    recognise,
    resume_command,
)
from agent_tui.sessions.archive import LIVE
from agent_tui.sessions.disk import translate_os_errors

_READ_ONLY = "it was opened read-only"
_TAIL_BYTES = 512 << 10
"""Up to this size a file is read whole before anything of it is shown."""
_TAIL_RECORDS = 400
_NOT_YET = "The session is still being read; try again in a moment."


class ImportedSource:
    """A session that was imported whole: its archives and compactions are in memory."""

    read_only = _READ_ONLY
    tree_refusal = ""

    def __init__(self, found: ImportedSession) -> None:
        self._found = found
        self._counter = TokenCounter()
        self.session_id = found.session_id
        self.title = f"{found.title or found.path.name} · {found.source}"
        self.resume_command = resume_command(found)
        self.has_archives = bool(found.archives)
        self.has_compactions = bool(found.compactions)
        self.children = found.children

    @cached_property
    def contents(self) -> LogContents:
        found = self._found
        return ReadLog.of_records(found.records, self.count, found.damaged, found.shown)

    def count(self, message: Message) -> int:
        return self._counter.count_message(message)

    def list_archives(self) -> list[ArchiveSummary]:
        return [
            ArchiveSummary(
                number=archive.number,
                path=archive.path,
                reason=archive.reason,
                at="",
                size_bytes=archive.size_bytes,
                messages=count_messages(archive.records),
                checkpoints=len(list_checkpoints(archive.records)),
            )
            for archive in reversed(self._found.archives)
        ]

    def read_archive(self, number: int) -> LogContents:
        archive = self._archive(number)
        return ReadLog.of_records(archive.records, self.count, archive.damaged, archive.shown)

    def _archive(self, number: int) -> ImportedArchive:
        for archive in self._found.archives:
            if archive.number == number:
                return archive
        known = ", ".join(str(archive.number) for archive in self._found.archives) or "none"
        raise UnknownArchive(f"There is no archive {number} here; there are: {known}.")

    def list_compactions(self) -> list[tuple[int, CompactionRecord]]:
        found = []
        for compaction in reversed(self._found.compactions):
            records = (r for r in compaction.after if isinstance(r, CompactionRecord))
            blank = CompactionRecord("", "", compaction.tokens_before, 0, compaction.archive)
            found.append((compaction.archive, next(records, blank)))
        return found

    def read_compaction(self, archive: int) -> CompactionSides:
        for compaction in self._found.compactions:
            if compaction.archive == archive:
                return compaction.before, compaction.after
        raise SessionError(f"No compaction made archive {archive}.")

    def build_tree(self, *, related: bool) -> SessionTree:
        del related  # its forks are sessions of another agent
        found = self._found
        if found.source == OURS:
            return SessionTree.of_files(_logs_beside(found.path))
        name = found.session_id
        logs = [(Source(name, found.path, each.number), each.records) for each in found.archives]
        live = (Source(name, found.path), found.records)
        compactions = {each.archive: each for each in found.compactions}
        return SessionTree.of_records([*logs, live], compactions, self.count)


class _LoneLog:
    """A log of which neither archives nor compactions can be shown; a sentence says why."""

    read_only = _READ_ONLY
    has_archives = False
    has_compactions = False
    session_id = ""
    resume_command = ""
    children: tuple[ImportedChild, ...] = ()
    _why: str

    def __init__(self, title: str) -> None:
        self.title = title
        self._counter = TokenCounter()

    def count(self, message: Message) -> int:
        return self._counter.count_message(message)

    def list_archives(self) -> list[ArchiveSummary]:
        return []

    def read_archive(self, number: int) -> LogContents:
        raise UnknownArchive(self._why)

    def list_compactions(self) -> list[tuple[int, CompactionRecord]]:
        return []

    def read_compaction(self, archive: int) -> CompactionSides:
        raise SessionError(self._why)


class TailSource(_LoneLog):
    """The end of a session that is still being read."""

    tree_refusal = _why = _NOT_YET

    def __init__(self, name: str, tail: ImportedTail) -> None:
        super().__init__(name)
        self.contents: LogContents = ReadLog.of_records(tail.records, self.count)

    def build_tree(self, *, related: bool) -> SessionTree:
        raise SessionError(_NOT_YET)


class ChildSource(_LoneLog):
    """The session of a subagent that stands in the file of the session that started it."""

    tree_refusal = ""
    _why = "Nothing of a subagent's session is archived; see the session that started it."

    def __init__(self, child: ImportedChild, path: Path) -> None:
        super().__init__(child.title or child.session_id)
        self.session_id = child.session_id
        self.contents: LogContents = ReadLog.of_records(child.records, self.count)
        self._log = Source(child.session_id, path), child.records

    def build_tree(self, *, related: bool) -> SessionTree:
        return SessionTree.of_records([self._log], {}, self.count)


class BigLogSource(_LoneLog):
    """A log too big to be read whole: its lines are indexed, and parsed when they are shown."""

    _why = "This log is too big to list its archives. Open an archive by its own path."

    def __init__(self, path: Path) -> None:
        super().__init__(path.name)
        self._path = path
        log = ReadLog.of_index(path)
        self.contents: LogContents = log
        assert isinstance(log.records, IndexedRecords)
        self._size, self._is_ours = log.records.size, log.records.is_ours

    @property
    def tree_refusal(self) -> str:
        if self._is_ours or self._size <= WHOLE_BYTES:
            return ""
        return format_too_big("This log", "show as a tree", self._size, WHOLE_BYTES)

    def build_tree(self, *, related: bool) -> SessionTree:
        if self.tree_refusal:
            raise SessionError(self.tree_refusal)
        if self._is_ours:
            return SessionTree.of_files(_logs_beside(self._path))
        with gc_paused(self._size):
            whole = ImportedSource(import_session(self._path))  # who spoke is told by all of it
        return whole.build_tree(related=related)


def open_tail(path: Path) -> TailSource | None:
    """The end of a log or session file, in no time; None where it is read whole as fast. Blocks.

    Raises:
        SessionError, StorageError: it cannot be read; the sentence says why.
    """
    ref = locate(path)
    if ref.stamp[0] < _TAIL_BYTES:
        return None
    tail = read_tail(ref, _TAIL_RECORDS)
    return None if tail.is_whole else TailSource(ref.path.name, tail)


def open_source(path: Path) -> ImportedSource | BigLogSource:
    """A log or session file of any known kind; a big log is only indexed. Blocks.

    Raises:
        SessionError, StorageError: it cannot be read; the sentence says why.
    """
    if (path / LIVE).is_file():
        path = path / LIVE
    is_big = path.is_file() and path.stat().st_size >= BIG_BYTES
    importer = recognise(path) if is_big else None
    if importer is not None and importer.source in (OURS, kimi.KIMI):
        return BigLogSource(path)
    with gc_paused(path.stat().st_size if path.is_file() else 0):
        return ImportedSource(import_session(path))


def _logs_beside(path: Path) -> tuple[Source, ...]:
    """A log of ours with the archives beside it that came before it, oldest first."""
    with translate_os_errors("list the archives of", path):
        archives = sorted(kimi.rotations_of(path).items())
    name = path.parent.name
    older = (Source(name, archive, number) for number, archive in archives)
    return (*older, Source(name, path))
