"""Rows in the place of damaged lines, so that a timeline shows these where they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_tui.core.records import DAMAGED_LINES, Record, UnknownRecord, damage_row


def is_damage(record: Record) -> bool:
    """Whether a record stands in the place of damaged lines."""
    return isinstance(record, UnknownRecord) and record.role == DAMAGED_LINES


def put_damage(records: Mapping[int, Record], damaged: Sequence[int]) -> list[Record]:
    """Records in the order of their numbers, with a row for damaged lines that are neighbours."""
    if not damaged:
        return list(records.values())
    rows: list[Record] = []
    lines = 0
    for number in sorted({*records, *damaged}):
        record = records.get(number)
        lines = lines + 1 if record is None else 0
        if lines > 1:
            rows.pop()
        rows.append(damage_row(lines) if record is None else record)
    return rows
