"""A session's records as a sequence that costs nothing to make, whatever the session's length."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import overload

from agent_tui.core.records import Record, damage_row
from agent_tui.history.records.lazy_sequence import LazySequence
from agent_tui.sessions.replay import Damage, Entry


class RecordsView(Sequence[Record]):
    """The records of a list of entries, without copying them."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        if isinstance(index, slice):
            return [entry.record for entry in self._entries[index]]
        return self._entries[index].record


class ShownRecords(LazySequence[Record]):
    """The records of a list of entries, with a row where lines between them cannot be read.

    What is damaged is taken as it is now; entries that are added later are seen.
    """

    def __init__(self, entries: Sequence[Entry], damaged: Sequence[Damage]) -> None:
        self._entries = entries
        before = Counter(
            bisect_left(entries, each.offset, key=lambda entry: entry.offset) for each in damaged
        )
        rows = enumerate(sorted(before.items()))
        self._damage = {place + n: damage_row(m) for n, (place, m) in rows}
        self._places = sorted(self._damage)

    def __len__(self) -> int:
        return len(self._entries) + len(self._places)

    def at(self, place: int) -> Record:
        damage = self._damage.get(place)
        if damage is not None:
            return damage
        return self._entries[place - bisect_left(self._places, place)].record
