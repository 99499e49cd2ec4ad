"""The records of a log of ours that count where its leaf was moved: the path to the leaf."""

from __future__ import annotations

from collections.abc import Sequence

from agent_tui.core.records import HeadRecord, Record


def follow_heads(records: Sequence[Record]) -> Sequence[Record]:
    """The records on the active path; all of them where no ``_head`` ever moved the leaf."""
    if not any(isinstance(record, HeadRecord) for record in records):
        return records
    places: dict[str, int] = {}
    parents: list[int] = []
    for index, record in enumerate(records):
        before = index - 1
        parents.append(places.get(record.to, before) if isinstance(record, HeadRecord) else before)
        if record.stamp.uuid is not None:
            places[record.stamp.uuid] = index
    path: list[Record] = []
    index = len(records) - 1
    while index >= 0:
        path.append(records[index])
        index = parents[index]
    return path[::-1]
