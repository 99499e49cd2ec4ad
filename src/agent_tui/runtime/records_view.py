"""A session's records as a sequence that costs nothing to make, whatever the session's length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from agent_tui.core.records import Record
from agent_tui.sessions.replay import Entry


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
