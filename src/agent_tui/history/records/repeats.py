"""Undos and redos of one operation that follow each other: for people only the last state counts.

A redo goes back to the log behind the operation and adds a record, so that each redo of the same
operation leaves one more behind it; an undo of what was done again leaves one more, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

from agent_tui.core.records import (
    ApprovalRecord,
    CompactionRecord,
    HeadRecord,
    LabelRecord,
    ModelRecord,
    Record,
    RevertRecord,
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    UsageRecord,
    WorkspaceRecord,
)

_Move: TypeAlias = RevertRecord | HeadRecord
_SILENT = (
    SessionHeader,
    SystemPrompt,
    UsageRecord,
    WorkspaceRecord,
    TitleRecord,
    ModelRecord,
    ApprovalRecord,
)
_FAR = 16
"""Silent records that may stand between two operations: more of them are not looked through."""
_MOST_REPEATS = 200


def repeats_earlier(records: Sequence[Record], index: int) -> bool:
    """Whether a record undoes or redoes once more what the record shown before it tells of."""
    record = records[index]
    if not _is_move(record) or record.reason not in ("undo", "redo"):
        return False
    before = _next_told(records, index, -1)
    return before is not None and _repeats(record, records[before])


def count_repeats(records: Sequence[Record], index: int) -> int:
    """How many records behind an undo, a redo or an operation only repeat it."""
    count, last = 0, index
    while count < _MOST_REPEATS:
        following = _next_told(records, last, 1)
        if following is None:
            break
        record = records[following]
        if not _is_move(record) or not _repeats(record, records[last]):
            break
        count, last = count + 1, following
    return count


def _repeats(record: _Move, before: Record) -> bool:
    if not _is_move(before):
        # A compaction that keeps nothing behind its record is redone right there.
        return record.reason == "redo" and isinstance(before, CompactionRecord)
    if record.reason == "redo":
        return before.reason != "undo"
    return record.reason == before.reason == "undo" and _what(record) == _what(before)


def _what(record: _Move) -> str:
    return record.of if isinstance(record, RevertRecord) else "branch"


def _next_told(records: Sequence[Record], index: int, step: int) -> int | None:
    """The next record in a direction that says something to people."""
    for place in range(index + step, index + step * _FAR, step):
        if not 0 <= place < len(records):
            return None
        record = records[place]
        is_repeated_label = isinstance(record, LabelRecord) and record.before is None
        if not is_repeated_label and not isinstance(record, _SILENT):
            return place
    return None


def _is_move(record: Record) -> TypeGuard[_Move]:
    return isinstance(record, RevertRecord | HeadRecord)
