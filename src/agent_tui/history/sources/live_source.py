"""The session that is open: its log in memory, its archives on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import AgentTuiError, SessionError
from agent_tui.core.records import CompactionRecord, Message, Record
from agent_tui.core.summary import ArchiveSummary
from agent_tui.history.records.checkpoints import first_prompt
from agent_tui.history.records.contents import CountMessage, LogContents, ReadLog
from agent_tui.history.records.records_view import RecordsView, ShownRecords
from agent_tui.sessions.replay import Entry, SessionState, read_log
from agent_tui.sessions.session_log import SessionLog

if TYPE_CHECKING:
    from agent_tui.history.sources.source import CompactionSides
    from agent_tui.history.tree.session_tree import SessionTree


@dataclass(frozen=True, slots=True)
class LiveContents:
    """The live log as it is at every moment; making one costs nothing."""

    log: SessionLog
    tokens: Callable[[], int]

    @property
    def records(self) -> Sequence[Record]:
        return RecordsView(self.log.state.entries)

    @property
    def all_records(self) -> Sequence[Record]:
        return RecordsView(self.log.state.all_entries)

    @property
    def shown_records(self) -> Sequence[Record]:
        state = self.log.state
        return ShownRecords(state.entries, state.damaged) if state.damaged else self.records

    @property
    def damaged(self) -> int:
        return len(self.log.state.damaged)

    @property
    def message_count(self) -> int:
        return len(self.log.state.messages)

    @property
    def token_count(self) -> int:
        return self.tokens()


class LiveSource:
    """Reads a session of ours that is open here.

    Args:
        log: the session's log.
        count: counts the tokens of a message.
        tokens: what the next request sends.
        related: the folders of the sessions that hang together with this one by forks, each behind
            the one it was forked from. Blocks.
    """

    has_archives = True
    has_compactions = True
    tree_refusal = ""
    resume_command = ""
    children = ()

    def __init__(
        self,
        log: SessionLog,
        count: CountMessage,
        tokens: Callable[[], int],
        related: Callable[[], Sequence[Path]] = tuple,
    ) -> None:
        self._log = log
        self._count = count
        self._related = related
        self.contents: LogContents = LiveContents(log, tokens)

    @property
    def session_id(self) -> str:
        return self._log.folder.name

    @property
    def title(self) -> str:
        return self._log.state.title or first_prompt(self.contents.records) or "New session"

    @property
    def read_only(self) -> str:
        return self._log.read_only

    def count(self, message: Message) -> int:
        return self._count(message)

    def list_archives(self) -> list[ArchiveSummary]:
        return self._log.archives()[::-1]

    def read_archive(self, number: int) -> LogContents:
        from agent_tui.history.records.indexed_records import BIG_BYTES

        path = self._log.archive_file(number)
        if path.stat().st_size >= BIG_BYTES:
            return ReadLog.of_index(path)
        return ReadLog.of_state(read_log(path), self._count)

    def list_compactions(self) -> list[tuple[int, CompactionRecord]]:
        found = {record.archive: record for record in self._log.state.compactions}
        for path in self._log.archive_files().values():
            for record in _compactions_in(path):
                found.setdefault(record.archive, record)
        return sorted(found.items(), reverse=True)

    def read_compaction(self, archive: int) -> CompactionSides:
        before = self._log.read_archive(archive)
        after = self._state_after(archive)
        return RecordsView(before.entries), RecordsView(after.entries)

    def _state_after(self, archive: int) -> SessionState:
        """The log that follows the compaction into ``archive``: live, or since archived."""
        if any(record.archive == archive for record in self._log.state.compactions):
            return self._log.state
        for number, path in sorted(self._log.archive_files().items()):
            made = (record.archive for record in _compactions_in(path))
            if number > archive and archive in made:
                return read_log(path)
        raise SessionError(f"No compaction made archive {archive}.")

    def build_tree(self, *, related: bool) -> SessionTree:
        from agent_tui.history.tree.logs import sources_of
        from agent_tui.history.tree.session_tree import SessionTree

        own = self._log.folder
        sources, live = sources_of(own, self._related() if related else [own])
        return SessionTree.of_logs(sources, live, self._log.state, self._count)


class MemorySource(LiveSource):
    """Reads a session that is in memory only: its archives too."""

    tree_refusal = "A session that is kept in memory only has no tree and no replay."

    def read_archive(self, number: int) -> LogContents:
        """One of them; raises UnknownArchive."""
        return ReadLog.of_state(self._log.read_archive(number), self._count)

    def build_tree(self, *, related: bool) -> SessionTree:
        """Refused: a tree is read from the disk."""
        raise SessionError(self.tree_refusal)


def _compactions_in(path: Path) -> Iterator[CompactionRecord]:
    """The compactions of one log, without parsing anything else of it."""
    from agent_tui.sessions.index import LogIndex

    try:
        index = LogIndex(path)
        index.grow()
        for line in index.lines_of("_compaction"):
            for item in index.read(line, line + 1):
                if isinstance(item, Entry) and isinstance(item.record, CompactionRecord):
                    yield item.record
    except AgentTuiError:
        return  # an archive that cannot be read now, or went meanwhile, hides no other
