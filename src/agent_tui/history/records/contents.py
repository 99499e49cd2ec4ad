"""What one log holds, and the one definition of how many messages and tokens that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from agent_tui.core.dataclass import dataclass
from agent_tui.core.records import (
    DAMAGED_LINES,
    AssistantMessage,
    Message,
    Record,
    ToolMessage,
    UnknownRecord,
    UsageRecord,
    damage_row,
    is_message,
)
from agent_tui.history.records.indexed_records import IndexedRecords
from agent_tui.history.records.lazy_sequence import RecordsOnDisk
from agent_tui.history.records.records_view import RecordsView, ShownRecords
from agent_tui.sessions.replay import SessionState
from agent_tui.sessions.sent_messages import repaired_messages

CountMessage = Callable[[Message], int]
"""Gives the tokens of one message."""


class LogContents(Protocol):
    """One log as it is read: live, archived, or as it was at some point.

    Attributes:
        records: the active path, in log order.
        all_records: those on other branches of the same log too.
        shown_records: those with a row in the place of lines that cannot be read.
        damaged: how many lines cannot be read; they are kept where they are.
        message_count: the messages on the active path: what people, the model and tools said.
        token_count: the tokens that a request from here would send; 0 where nobody counted.
    """

    @property
    def records(self) -> Sequence[Record]: ...
    @property
    def all_records(self) -> Sequence[Record]: ...
    @property
    def shown_records(self) -> Sequence[Record]: ...
    @property
    def damaged(self) -> int: ...
    @property
    def message_count(self) -> int: ...
    @property
    def token_count(self) -> int: ...


@dataclass(frozen=True, slots=True)
class ReadLog:
    """A log that was read once and does not change here."""

    records: Sequence[Record]
    message_count: int
    token_count: int
    shown_records: Sequence[Record]
    all_records: Sequence[Record]
    damaged: int = 0

    @classmethod
    def of_state(cls, state: SessionState, count: CountMessage) -> ReadLog:
        """A replayed log of ours."""
        records = RecordsView(state.entries)
        shown = ShownRecords(state.entries, state.damaged) if state.damaged else records
        tokens = count_tokens(records, count)
        every = RecordsView(state.all_entries)
        return cls(records, len(state.messages), tokens, shown, every, len(state.damaged))

    @classmethod
    def of_records(
        cls,
        records: Sequence[Record],
        count: CountMessage,
        damaged: int = 0,
        shown: Sequence[Record] = (),
    ) -> ReadLog:
        """Records that were imported, or lead to a place of a tree.

        Damaged lines of which ``shown`` does not tell where they stand are told at the end.
        """
        tokens = count_tokens(records, count)
        shown = shown or records
        if damaged and (elsewhere := damaged - _count_damaged(shown)) > 0:
            shown = (*shown, damage_row(elsewhere))
        return cls(records, count_messages(records), tokens, shown, records, damaged)

    @classmethod
    def of_index(cls, path: Path) -> ReadLog:
        """A log too big to be held, of which only the lines are known."""
        records = IndexedRecords(path)
        return cls(records, records.message_count, 0, records, records)


def count_messages(records: Sequence[Record]) -> int:
    """How many of the records are messages; records on disk are told by their roles."""
    if isinstance(records, RecordsOnDisk):
        return records.message_count
    return sum(map(is_message, records))


def _count_damaged(shown: Sequence[Record]) -> int:
    """How many damaged lines have a row."""
    rows = (r for r in shown if isinstance(r, UnknownRecord) and r.role == DAMAGED_LINES)
    return sum(lines for row in rows if isinstance(lines := row.fields.get("lines"), int))


def count_tokens(records: Sequence[Record], count: CountMessage) -> int:
    """The tokens that a request at the end of some records sends, as the gauge counts them.

    The last usage counts for all before it, and what came since by itself. Where there is no usage,
    all messages are counted. Records that stay on disk are not counted: 0 unless a usage is last.
    """
    since: list[Message] = []
    for index in range(len(records) - 1, -1, -1):
        record = records[index]
        if isinstance(record, UsageRecord):
            return record.token_count + _count_since(records, index, since[::-1], count)
        if is_message(record):
            if isinstance(records, RecordsOnDisk):
                return 0
            since.append(record)
    return sum(map(count, repaired_messages(since[::-1])))


def _count_since(
    records: Sequence[Record], usage: int, since: list[Message], count: CountMessage
) -> int:
    """What is sent behind a usage, its answer included: results may belong to its calls."""
    known: list[Message] = []
    for index in range(usage - 1, -1, -1):
        record = records[index]
        if isinstance(record, AssistantMessage | ToolMessage):
            known.insert(0, record)
        if is_message(record) and not isinstance(record, ToolMessage):
            break
    sent = sum(map(count, repaired_messages([*known, *since])))
    return max(0, sent - sum(map(count, known)))
