"""A session without a disk: its log and its archives are in memory, and gone with the program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from agent_tui.core.errors import LogChanged, SessionError, UnknownArchive, UnknownCheckpoint
from agent_tui.core.records import (
    CompactionRecord,
    Record,
    RevertReason,
    RevertRecord,
    SessionHeader,
    ToolMessage,
    is_message,
)
from agent_tui.core.summary import ArchiveSummary
from agent_tui.sessions.archive import LIVE
from agent_tui.sessions.chosen import Chosen
from agent_tui.sessions.log import Durability
from agent_tui.sessions.log_writer import BuildLog, LogMark, encode_records, utc_now
from agent_tui.sessions.replay import Entry, SessionState
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.session_summary import (
    count_gone,
    find_repeated,
    ids_of_messages,
    prompts_by_checkpoint,
    told_by,
)

MOST_MESSAGES = 1000
MOST_BESIDE = 4 * MOST_MESSAGES
"""Records other than messages: usage, checkpoints, operations."""
KEPT_SHARE = 0.8
"""When the limit is exceeded, this share of it is kept: the newest."""

MOST_ARCHIVES = 10
NOT_SAVED = (
    "This session is kept in memory only: nothing is written, and it ends when you leave it."
)
_NO_DISK = "A session that is kept in memory only cannot be forked."


class MemoryLog(SessionLog):
    """A log that behaves as one on disk does, as long as the program runs.

    Its folder lies below the null device, where no file can be made.
    """

    on_disk = False

    def __init__(self, header: SessionHeader) -> None:
        self.folder = Path(os.devnull) / header.session_id
        self.path = self.folder / LIVE
        self.state = SessionState()
        self.read_only = ""
        self.notices = [NOT_SAVED]
        self._archives: dict[int, SessionState] = {}
        self._last_archive = 0
        self._generation = 0
        _extend(self.state, [header])

    async def append(self, *records: Record, durability: Durability) -> list[Record]:
        """Add records behind the log; returns them stamped."""
        self._require_writable()
        written = _extend(self.state, records)
        count = len(self.state.messages)
        if count > MOST_MESSAGES or len(self.state.all_entries) - count > MOST_BESIDE:
            self._drop_oldest()
        return written

    def _drop_oldest(self) -> None:
        kept = self.state.entries
        if len(self.state.messages) > MOST_MESSAGES:
            newest = self.state.messages[-int(MOST_MESSAGES * KEPT_SHARE) :]
            # No result without its call: where the newest begin with results, those go as well.
            first = next((e for e in newest if not isinstance(e.record, ToolMessage)), newest[-1])
            kept = [entry for entry in kept if entry.offset >= first.offset]
        always = self.kept_by_clear()
        beside = [entry.offset for entry in kept if not is_message(entry.record)]
        dropped = {*beside[: -int(MOST_BESIDE * KEPT_SHARE)], *(each.offset for each in always)}
        kept = [entry for entry in kept if entry.offset not in dropped]
        state = _copy_of([*always, *kept])
        _extend(state, Chosen.of(self.state).missing_in(state))
        self._become(state)

    async def revert(
        self, checkpoint_id: int, reason: RevertReason = "user", operation: str = ""
    ) -> int:
        """Go back to before a checkpoint; returns the archive that holds what was left."""
        self._require_writable()
        target = self.state.checkpoints.get(checkpoint_id)
        if target is None:
            raise UnknownCheckpoint.among(checkpoint_id, self.state.checkpoints)
        number = self._last_archive + 1
        state = self.state.prefix(target.offset)
        return self._rotate(state, [RevertRecord(number, reason, checkpoint_id, operation)])

    async def clear(self) -> int:
        """Keep only header and system prompt; returns the archive that holds the rest."""
        self._require_writable()
        state = _copy_of(self.kept_by_clear())
        return self._rotate(state, [RevertRecord(self._last_archive + 1, "clear")])

    async def restore(
        self, number: int, reason: RevertReason = "restore", operation: str = "", of: str = ""
    ) -> int:
        """Make a copy of an archive the live log; returns the archive of the log it replaced."""
        self._require_writable()
        archive = self.read_archive(number)
        state = archive.prefix(archive.size)
        act = RevertRecord(self._last_archive + 1, reason, operation=operation, of=of)
        return self._rotate(state, [act])

    async def mark(self) -> LogMark:
        """The fingerprint of the log as it is now."""
        return LogMark(self._generation, self.state.size, 0)

    async def compact(self, mark: LogMark, build: BuildLog) -> int:
        """Replace what was marked by what ``build(archive number)`` gives; returns that number."""
        self._require_writable()
        if mark.inode != self._generation:
            raise LogChanged(
                "The session changed while it was summarised; nothing was changed. Compact again."
            )
        state = SessionState()
        for part in build(self._last_archive + 1):
            if isinstance(part, Entry):
                _keep(state, part)
            else:
                _extend(state, [part])
        _extend(state, Chosen.of(self.state).missing_in(state))
        for entry in self.state.all_entries:
            if entry.offset >= mark.size:
                _keep(state, entry)
        return self._rotate(state, [])

    def _rotate(self, state: SessionState, acts: Sequence[Record]) -> int:
        _extend(state, [*acts, *Chosen.of(self.state).missing_in(state)])
        self._last_archive += 1
        self._archives[self._last_archive] = self.state
        for number in sorted(self._archives)[:-MOST_ARCHIVES]:
            del self._archives[number]
        self._become(state)
        return self._last_archive

    def _become(self, state: SessionState) -> None:
        self.state = state
        self._generation += 1

    def archives(self) -> list[ArchiveSummary]:
        """Every archive that is still in memory, oldest first."""
        acts: dict[int, CompactionRecord | RevertRecord] = {}
        for state in (*self._archives.values(), self.state):
            acts |= {act.archive: act for act in state.compactions}
            acts |= {act.archive: act for act in state.reverts}
        kept = sorted(self._archives.items())
        said = {number: ids_of_messages(state) for number, state in kept}
        told = find_repeated([_summary(n, state, acts.get(n)) for n, state in kept], said)
        return count_gone(told, said, ids_of_messages(self.state))

    def archive_file(self, number: int) -> Path:
        """Never succeeds: archives are in memory here."""
        raise UnknownArchive(f"Archive {number} of this session is kept in memory only.")

    def archive_files(self) -> dict[int, Path]:
        """Always empty: archives are in memory here."""
        return {}

    def read_archive(self, number: int) -> SessionState:
        """What an archive holds; raises UnknownArchive."""
        if number not in self._archives:
            names = ", ".join(map(str, sorted(self._archives))) or "none"
            raise UnknownArchive(f"There is no archive {number}; this session has: {names}.")
        return self._archives[number]

    async def prune(self, keep: int) -> list[int]:
        """Forget all but the newest ``keep`` archives; returns the numbers that went."""
        self._require_keep(keep)
        pruned = sorted(self._archives)[:-keep]
        for number in pruned:
            del self._archives[number]
        return pruned

    async def reload(self) -> bool:
        """Nothing to catch up with: no other process writes it."""
        return False

    async def fork(self, header: SessionHeader) -> SessionLog:
        """Refused: a fork is a session on disk."""
        raise SessionError(_NO_DISK)

    async def is_free(self) -> bool:
        """Always true: no other window has it."""
        return True

    async def close(self) -> None:
        """Nothing to finish: it ends with the program."""


def _extend(state: SessionState, records: Sequence[Record]) -> list[Record]:
    """Put stamped records behind a state; returns them."""
    written, _ = encode_records(records, state.leaf_uuid, utc_now())
    for record, line in written:
        state.apply(Entry(record, state.size, len(line)))
    return [record for record, _ in written]


def _keep(state: SessionState, entry: Entry) -> None:
    state.apply(replace(entry, offset=state.size))


def _copy_of(entries: Iterable[Entry]) -> SessionState:
    state = SessionState()
    for entry in entries:
        _keep(state, entry)
    return state


def _summary(
    number: int, state: SessionState, act: CompactionRecord | RevertRecord | None
) -> ArchiveSummary:
    counts = (state.size, len(state.messages), len(state.checkpoints))
    prompts = prompts_by_checkpoint(entry.record for entry in state.entries)
    return told_by(act, ArchiveSummary(number, "", "", "", *counts), prompts)
