"""A log folded into what it says: a pure function of its lines, one small step for each record."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import BadRecord, LogChanged
from agent_tui.core.jsonl import (
    BOM,
    MAX_LINE_BYTES,
    Decode,
    LineReader,
    bulk_decoder,
    decode_line,
)
from agent_tui.core.memory import gc_paused
from agent_tui.core.record_parsing import parse_record, sharing_values
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    EnvironmentRecord,
    HeadRecord,
    LabelRecord,
    Message,
    ModelRecord,
    Record,
    RevertRecord,
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.sessions.disk import reading

_BIG_LOG = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A record and the bytes that hold it; ``length`` includes the newline, where there is one."""

    record: Record
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that are not a record, left where they are, with the reason in words."""

    offset: int
    length: int
    reason: str


Item: TypeAlias = Entry | Damage


class SessionState:
    """The state that the records of a log add up to; only ``apply`` changes it.

    Every record hangs off the record before it, unless a ``_head`` moved the leaf in between: the
    active path leads from the first record to the leaf. Header, title, model, labels, compactions
    and reverts are facts of the whole file; everything else is read along the active path.

    Attributes:
        entries: the records on the active path, in file order.
        messages: those of them that are messages.
        labels: names of entries, by the entry's id.
        unlabelled: ids of entries whose label was taken away.
        checkpoints: by id, on the active path; of equal ids the last one counts.
        next_checkpoint_id: one more than the highest id anywhere in the file.
        token_count: what the last ``_usage`` on the path says; 0 without one.
        messages_since_usage: messages that came after it.
        last_turn: the highest turn number on the path; 0 without one.
        damaged: bytes that are not records, in file order.
        size: bytes folded so far.
    """

    def __init__(self) -> None:
        self.header: SessionHeader | None = None
        self.title = ""
        self.model = ""
        self.provider = ""
        self.environment: EnvironmentRecord | None = None
        self.labels: dict[str, str] = {}
        self.unlabelled: set[str] = set()
        self.compactions: list[CompactionRecord] = []
        self.reverts: list[RevertRecord] = []
        self.next_checkpoint_id = 0
        self.damaged: list[Damage] = []
        self.size = 0
        self._all: list[Entry] = []
        self._jumps: dict[int, int] = {}  # places whose parent is not the place before
        self._places: dict[str, int] = {}
        self._placed = 0
        self._leaf_uuid: str | None = None
        self._branched = False
        self._forget_path()

    def _forget_path(self) -> None:
        self.system_prompt = ""
        self.entries: list[Entry] = []
        self.messages: list[Entry] = []
        self.checkpoints: dict[int, Entry] = {}
        self.token_count = 0
        self.token_estimated = False
        self.messages_since_usage = 0
        self.last_turn = 0

    @property
    def leaf_uuid(self) -> str | None:
        """The record that the next one hangs off."""
        return self._leaf_uuid

    @property
    def all_entries(self) -> Sequence[Entry]:
        """Every record of the file, those on other branches included, in file order."""
        return self._all

    def entry_at(self, offset: int, uuid: str | None) -> Entry:
        """The record that begins at an offset and has that id; raises LogChanged."""
        index = bisect_left(self._all, offset, key=lambda entry: entry.offset)
        if index < len(self._all):
            entry = self._all[index]
            if (entry.offset, entry.record.stamp.uuid) == (offset, uuid):
                return entry
        raise LogChanged("The log changed since its tree was read; open the tree again.")

    def prefix(self, offset: int) -> SessionState:
        """The state of the log as it was when it ended at an offset, where a line begins."""
        end = bisect_left(self._all, offset, key=lambda entry: entry.offset)
        state = SessionState()
        state.damaged = [damage for damage in self.damaged if damage.offset < offset]
        state.size = offset
        state._all = self._all[:end]
        state._jumps = {place: to for place, to in dict(self._jumps).items() if place < end}
        branched = bool(state._jumps)
        # One walk: in a long log, fetching the records from memory is what takes the time.
        for entry in state._all:
            record = entry.record
            kind = type(record)
            if note := _NOTES.get(kind):
                note(state, record)
            if not branched and (step := _STEPS.get(kind)):
                step(state, entry, record)
        state._leaf_uuid = state._find_leaf()
        if branched:
            state._rebuild_path()
        else:
            state.entries = list(state._all)
        return state

    def path_to(self, entry: Entry) -> list[Entry]:
        """The records from the first one to an entry, which may be on any branch."""
        place = bisect_left(self._all, entry.offset, key=lambda other: other.offset)
        return [self._all[step] for step in self._walk_back(place)][::-1]

    def _walk_back(self, place: int) -> Iterator[int]:
        jumps = self._jumps
        while place >= 0:
            yield place
            place = jumps.get(place, place - 1)

    def apply(self, item: Item) -> None:
        """Fold one more item, which comes after all that were folded before."""
        self.fold((item,))

    def fold(self, items: Iterable[Item]) -> None:
        """Fold items in file order; a branch costs one walk of its path, however many there are."""
        item: Item | None = None
        for item in items:
            if isinstance(item, Entry):
                self._take(item)
            else:
                self.damaged.append(item)
        if item is not None:
            self.size = item.offset + item.length
        if self._branched:
            self._rebuild_path()

    def _take(self, entry: Entry) -> None:
        record = entry.record
        stamp = record.stamp
        self._leaf_uuid = stamp.uuid
        kind = type(record)
        if isinstance(record, HeadRecord):
            self._move_leaf(record)
        self._all.append(entry)
        note = _NOTES.get(kind)
        if note is not None:
            note(self, record)
        if not self._branched:
            self.entries.append(entry)
            step = _STEPS.get(kind)
            if step is not None:
                step(self, entry, record)

    def _move_leaf(self, head: HeadRecord) -> None:
        """Hang a head off its target, and let the next record hang off the target too."""
        target = self._place_of(head.to)
        if target is None:
            return
        self._leaf_uuid = head.to
        place = len(self._all)
        if target != place - 1:
            self._jumps[place] = target
            self._branched = True

    def _place_of(self, uuid: str) -> int | None:
        """The place of the last record with that id; needed only where a log branches."""
        for place in range(self._placed, len(self._all)):
            known = self._all[place].record.stamp.uuid
            if known is not None:
                self._places[known] = place
        self._placed = len(self._all)
        return self._places.get(uuid)

    def _find_leaf(self) -> str | None:
        if not self._all:
            return None
        last = self._all[-1].record
        if isinstance(last, HeadRecord) and self._place_of(last.to) is not None:
            return last.to
        return last.stamp.uuid

    def _rebuild_path(self) -> None:
        self._forget_path()
        if self._jumps:
            places = list(self._walk_back(len(self._all) - 1))
            self.entries = [self._all[place] for place in reversed(places)]
        else:
            self.entries = list(self._all)
        for entry in self.entries:
            step = _STEPS.get(type(entry.record))
            if step is not None:
                step(self, entry, entry.record)
        self._branched = False


def _note_header(state: SessionState, record: SessionHeader) -> None:
    if state.header is None:
        state.header = record


def _note_title(state: SessionState, record: TitleRecord) -> None:
    state.title = record.title


def _note_model(state: SessionState, record: ModelRecord) -> None:
    state.model, state.provider = record.model, record.provider


def _note_environment(state: SessionState, record: EnvironmentRecord) -> None:
    state.environment = record


def _note_label(state: SessionState, record: LabelRecord) -> None:
    if record.label:
        state.labels[record.target] = record.label
        state.unlabelled.discard(record.target)
    else:
        state.labels.pop(record.target, None)
        state.unlabelled.add(record.target)


def _note_checkpoint(state: SessionState, record: Checkpoint) -> None:
    state.next_checkpoint_id = max(state.next_checkpoint_id, record.id + 1)


def _note_compaction(state: SessionState, record: CompactionRecord) -> None:
    state.compactions.append(record)


def _note_revert(state: SessionState, record: RevertRecord) -> None:
    state.reverts.append(record)


def _step_prompt(state: SessionState, entry: Entry, record: SystemPrompt) -> None:
    state.system_prompt = record.content


def _step_checkpoint(state: SessionState, entry: Entry, record: Checkpoint) -> None:
    state.checkpoints[record.id] = entry
    if record.turn is not None and record.turn > state.last_turn:
        state.last_turn = record.turn


def _step_message(state: SessionState, entry: Entry, record: Message) -> None:
    state.messages.append(entry)
    state.messages_since_usage += 1
    if record.turn is not None and record.turn > state.last_turn:
        state.last_turn = record.turn


def _step_usage(state: SessionState, entry: Entry, record: UsageRecord) -> None:
    state.token_count = record.token_count
    state.token_estimated = record.estimated
    state.messages_since_usage = 0


_NOTES: dict[type, Callable[..., None]] = {
    SessionHeader: _note_header,
    TitleRecord: _note_title,
    ModelRecord: _note_model,
    LabelRecord: _note_label,
    EnvironmentRecord: _note_environment,
    Checkpoint: _note_checkpoint,
    CompactionRecord: _note_compaction,
    RevertRecord: _note_revert,
}
_STEPS: dict[type, Callable[..., None]] = {
    SystemPrompt: _step_prompt,
    Checkpoint: _step_checkpoint,
    UserMessage: _step_message,
    AssistantMessage: _step_message,
    ToolMessage: _step_message,
    UsageRecord: _step_usage,
}


def replay(items: Iterable[Item]) -> SessionState:
    """Fold the items of a log, in file order."""
    state = SessionState()
    state.fold(items)
    return state


def read_log(path: Path) -> SessionState:
    """Fold the log at a path; never raises on what it holds, never writes, never waits.

    Raises:
        SessionNotFound: there is no such file.
        SessionReadOnly, StorageError: it cannot be read now, which is not "an empty session".
    """
    return load_log(path)[0]


def load_log(path: Path) -> tuple[SessionState, int]:
    """Like read_log, with the inode of the file that was read."""
    with reading(path) as (descriptor, status):
        reader = LineReader(descriptor)
        decode = sharing_values(bulk_decoder()) if status.st_size > _BIG_LOG else decode_line
        with gc_paused(status.st_size):
            state = replay(read_items(reader, decode))
    state.size = reader.offset
    return state, status.st_ino


def follow_log(path: Path, inode: int, size: int) -> tuple[list[Item], int] | None:
    """What was added behind ``size`` bytes of a log, and its size now.

    None when the log must be read again: it is another file, it is shorter, or the bytes that were
    seen end inside a line.
    """
    with reading(path) as (descriptor, status):
        if status.st_ino != inode or status.st_size < size:
            return None
        if size and status.st_size > size and os.pread(descriptor, 1, size - 1) != b"\n":
            return None
        reader = LineReader(descriptor, size)
        items = list(read_items(reader))
    return items, reader.offset


def read_items(reader: LineReader, decode: Decode = decode_line) -> Iterator[Item]:
    """The records and the damage from where a reader stands to the end of its file."""
    for offset, length, line in reader.lines():
        item = parse_item(line, offset, length, decode)
        if item is not None:
            yield item


def parse_item(
    line: bytes | None, offset: int, length: int, decode: Decode = decode_line
) -> Item | None:
    """Parse one line, given without its newline: a record, damage, or nothing if it is blank.

    None stands for a line that is too long to be held; ``length`` counts the newline if there is
    one, so that a line as long as its bytes is one that was never finished.
    """
    if line is None:
        reason = f"a line of {length:,} bytes; more than {MAX_LINE_BYTES:,} are not read"
        return Damage(offset, length, reason)
    try:
        body = line[len(BOM) :] if offset == 0 and line.startswith(BOM) else line
        return Entry(parse_record(decode(body)), offset, length)
    except BadRecord as error:
        if not line.strip():
            return None
        if length == len(line):
            return Damage(offset, length, f"torn: the line was never finished ({error})")
        return Damage(offset, length, str(error))
