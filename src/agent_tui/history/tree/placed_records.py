"""The records on a path of a tree, read from disk when they are looked at."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from agent_tui.core.records import (
    MESSAGE_ROLES,
    AssistantMessage,
    Message,
    Record,
    UnknownRecord,
    is_message,
)
from agent_tui.history.records.indexed_records import shown_record
from agent_tui.history.records.lazy_sequence import LazySequence, RecordsOnDisk
from agent_tui.history.tree.record_links import Tree
from agent_tui.sessions.sent_messages import repaired_messages

ReadPlace: TypeAlias = Callable[[int], Record]
"""Gives the record at a place of a tree, and remembers some."""

_CHUNK = 1_000


def read_records(tree: Tree, places: Sequence[int]) -> Iterator[Record]:
    """The records at some places, all read at once; one that no longer exists is shown so."""
    for place, item in zip(places, tree.read(places), strict=True):
        record = shown_record(item)
        if record.stamp.uuid == tree.uuids[place]:
            yield record
        else:
            yield UnknownRecord("changed line", {"was here": tree.uuid(place)})


class PlacedRecords(RecordsOnDisk):
    """One record for each place of a path; what cannot be read is shown as such."""

    def __init__(self, tree: Tree, places: Sequence[int], read: ReadPlace) -> None:
        self._tree = tree
        self._places = places
        self._read = read
        roles = tree.roles
        spoken = (index for index, place in enumerate(places) if roles[place] in MESSAGE_ROLES)
        self._texts = array("Q", spoken)

    def __len__(self) -> int:
        return len(self._places)

    def at(self, place: int) -> Record:
        return self._read(self._places[place])

    def some(self, places: range) -> list[Record]:
        return list(self._read_all([self._places[each] for each in places]))

    def __iter__(self) -> Iterator[Record]:
        return self._read_all(self._places)

    def _read_all(self, places: Sequence[int]) -> Iterator[Record]:
        """Records read in bulk; none of them is remembered."""
        for first in range(0, len(places), _CHUNK):
            yield from read_records(self._tree, places[first : first + _CHUNK])

    @property
    def size(self) -> int:
        """Bytes of all records on disk."""
        return sum(map(self._tree.length, self._places))

    def common_with(self, other: PlacedRecords) -> int:
        """How many records at the beginning are the same ones."""
        pairs = enumerate(zip(self._places, other._places, strict=False))
        shorter = min(len(self), len(other))
        return next((index for index, (one, two) in pairs if one != two), shorter)

    @property
    def message_count(self) -> int:
        return len(self._texts)

    def messages_before(self, count: int) -> int:
        """How many of the first ``count`` records are messages."""
        return bisect_left(self._texts, count)

    def sent(self, count: int) -> Sequence[Message]:
        """What is sent when the first ``count`` records have been written.

        The last answer is repaired as it was when it was sent. Those before it come as they stand
        in the log: to know whether they lack a result, all of them would have to be read.
        """
        end = self.messages_before(count)
        last = self._last_answer(end)
        tail = [record for record in map(self._message, range(last, end)) if record is not None]
        return _SentMessages(self, last, repaired_messages(tail))

    def _last_answer(self, end: int) -> int:
        """The number of the last answer before a message, as far as one would look for it."""
        for number in range(end - 1, max(-1, end - _CHUNK), -1):
            if self._tree.role(self._places[self._texts[number]]) == "assistant":
                return number
        return end

    def message(self, number: int) -> Message:
        """The message of a number; where it cannot be read, an empty one."""
        return self._message(number) or AssistantMessage("")

    def _message(self, number: int) -> Message | None:
        record = self[self._texts[number]]
        return record if is_message(record) else None


class _SentMessages(LazySequence[Message]):
    """The first messages of a path, then some that are at hand."""

    def __init__(self, records: PlacedRecords, before: int, tail: Sequence[Message]) -> None:
        self._records = records
        self._before = before
        self._tail = tail

    def __len__(self) -> int:
        return self._before + len(self._tail)

    def at(self, place: int) -> Message:
        if place < self._before:
            return self._records.message(place)
        return self._tail[place - self._before]
