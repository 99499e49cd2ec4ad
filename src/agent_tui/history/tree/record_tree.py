"""A tree over logs that are in memory already: another agent's session with what it rotated out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_tui.core.records import Record
from agent_tui.history.tree.logs import Source
from agent_tui.history.tree.record_links import Joints, Tree, add_log, link_of
from agent_tui.sessions.replay import Entry, Item


@dataclass
class RecordTree(Tree):
    """A tree that holds its records; an offset is an index into the log's records."""

    logs: tuple[Sequence[Record], ...] = field(default=())

    def record(self, place: int) -> Record:
        """The record at a place."""
        return self.logs[self._logs[place]][self._offsets[place]]

    def read(self, places: Iterable[int]) -> list[Item]:
        return [Entry(self.record(place), self._offsets[place], 1) for place in places]


def build_record_tree(logs: Sequence[tuple[Source, Sequence[Record]]]) -> RecordTree:
    """Join logs where they agree; the live one comes last."""
    tree = RecordTree(
        tuple(source for source, _ in logs), logs=tuple(records for _, records in logs)
    )
    joints = Joints()
    for number, (_, records) in enumerate(logs):
        tree.leaves_of.append(add_log(tree, joints, number, _links(records)))
    return tree


def _links(records: Sequence[Record]) -> Iterator[tuple[int, int, Any, int]]:
    for index, record in enumerate(records):
        link = link_of(record)
        yield index, 1, link, 0 if link.uuid else hash(repr(record))
