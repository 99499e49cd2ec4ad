"""Undos and redos of one operation that follow each other: for people only the last state counts.

A redo goes back to the log behind the operation and adds a record, so that each redo of the same
operation leaves one more behind it; an undo of what was done again leaves one more, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

from agent_tui.core.record_writing import role_of
from agent_tui.core.records import (
    CompactionRecord,
    HeadRecord,
    LabelRecord,
    Record,
    RevertRecord,
)

_Move: TypeAlias = RevertRecord | HeadRecord
SILENT = frozenset(
    (
        "_session",
        "_system_prompt",
        "_usage",
        "_workspace",
        "_title",
        "_model",
        "_approval",
        "_label",
    )
)
"""Roles of records that may stand between an operation and what repeats it."""
FAR = 16
"""How many of them may stand there: more are not looked through."""
_MOST_REPEATS = 200


def act_of(role: str, reason: str | None) -> str:
    """What a record that opens a branch did: ``compaction``, or the reason of its revert or head.

    A head that neither undoes nor redoes another is a ``head``.
    """
    if role == "_revert":
        return reason or "user"
    return reason if reason in ("undo", "redo") else role[1:]


def says_again(act: str, before: str) -> bool:
    """Whether an undo or a redo says nothing new behind what was done before it, if anything was.

    An undo says again what an undo says, and a redo what any other operation says.
    """
    if act == "undo":
        return before == "undo"
    return act == "redo" and before not in ("", "undo")


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
    if not says_again(record.reason, _act_of_record(before)):
        return False
    # Two undos may be of two operations.
    return record.reason == "redo" or _what(record) == _what(before)


def _act_of_record(record: Record) -> str:
    if _is_move(record):
        return act_of(role_of(record), record.reason)
    # A compaction that keeps nothing behind its record is redone right there.
    return "compaction" if isinstance(record, CompactionRecord) else ""


def _what(record: Record) -> str:
    return record.of if isinstance(record, RevertRecord) else "branch"


def _next_told(records: Sequence[Record], index: int, step: int) -> int | None:
    """The next record in a direction that says something to people."""
    for place in range(index + step, index + step * FAR, step):
        if not 0 <= place < len(records):
            return None
        record = records[place]
        is_new_label = isinstance(record, LabelRecord) and record.before is not None
        if is_new_label or role_of(record) not in SILENT:
            return place
    return None


def _is_move(record: Record) -> TypeGuard[_Move]:
    return isinstance(record, RevertRecord | HeadRecord)
