"""The records on the way to a place of a tree: read whole with their log, or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from agent_tui.core.records import Record
from agent_tui.history.tree.placed_records import PlacedRecords, read_records
from agent_tui.history.tree.record_links import Tree
from agent_tui.history.tree.record_tree import RecordTree
from agent_tui.history.tree.shape import TreeShape
from agent_tui.sessions.replay import SessionState, read_log

_KEPT_LOGS = 3
_KEPT_RECORDS = 512


class Paths(Protocol):
    """Gives the records from the first one to a place, as many as the tree's path has places."""

    def records_to(self, place: int) -> Sequence[Record]:
        """The records up to a place, itself included. Blocks: call it in a thread."""
        ...


class LogPaths:
    """Paths through logs on disk; the latest few are kept, the live one is in memory anyway."""

    def __init__(self, shape: TreeShape, live: SessionState) -> None:
        self._shape = shape
        self._live = live
        self._states: dict[int, SessionState] = {}

    def records_to(self, place: int) -> Sequence[Record]:
        if place in self._shape.context:
            count = self._shape.context.count_to(place)
            return [entry.record for entry in self._live.entries[:count]]
        state = self._state(self._shape.tree.source_number(place))
        tree = self._shape.tree
        entry = state.entry_at(tree.offset(place), tree.uuids[place])
        return [entry.record for entry in state.path_to(entry)]

    def _state(self, number: int) -> SessionState:
        if number == self._shape.live:
            return self._live
        state = self._states.pop(number, None)
        if state is None:
            state = read_log(self._shape.tree.sources[number].path)
        self._states[number] = state
        while len(self._states) > _KEPT_LOGS:
            del self._states[next(iter(self._states))]
        return state


class PlacedPaths:
    """Paths through logs that are too big to be held: records are read when they are looked at."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._read = lru_cache(_KEPT_RECORDS)(self._read_one)

    def records_to(self, place: int) -> PlacedRecords:
        return PlacedRecords(self._tree, self._tree.path_to(place), self._read)

    def _read_one(self, place: int) -> Record:
        return next(read_records(self._tree, (place,)))


class RecordPaths:
    """Paths through records that are in memory."""

    def __init__(self, tree: RecordTree) -> None:
        self._tree = tree

    def records_to(self, place: int) -> Sequence[Record]:
        return [self._tree.record(step) for step in self._tree.path_to(place)]
