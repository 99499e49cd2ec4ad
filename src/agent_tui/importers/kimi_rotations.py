"""Why a kimi log was rotated: told by what the next log has that this one has not."""

from __future__ import annotations

from collections.abc import Sequence

from agent_tui.core.messages import text_of
from agent_tui.core.origins import Origin
from agent_tui.core.records import (
    Checkpoint,
    CompactionRecord,
    Message,
    Record,
    RevertRecord,
    SystemPrompt,
    UsageRecord,
    UserMessage,
    is_message,
)
from agent_tui.importers.imported import Records


def explain_rotation(number: int, before: Records, after: Records) -> tuple[str, Records]:
    """The reason of a rotation, and the later log with the record that tells of it put in.

    ``number`` is 0 and ``before`` empty for the oldest log there is: a summary in it tells of a
    compaction whose old log was not kept.
    """
    known = {_said(record) for record in before if isinstance(record, UserMessage)}
    for position, record in enumerate(after):
        if not isinstance(record, UserMessage) or _said(record) in known:
            continue
        if record.origin == "compaction":
            told: Record = _compaction(number, before, after, position)
            return "compaction", (*after[:position], told, *after[position:])
        if record.origin == "dmail" and number:
            told = RevertRecord(number, "dmail", _last_checkpoint(after[:position]))
            return "dmail", (*after[:position], told, *after[position:])
    if not number:
        return "", after
    messages, later = _messages(before), _messages(after)
    if messages and messages == later[: len(messages)]:
        return "compaction", after  # kimi rewrites a log even where it found nothing to summarise
    start = next((i for i, r in enumerate(after) if not isinstance(r, SystemPrompt)), len(after))
    return "clear", (*after[:start], RevertRecord(number, "clear"), *after[start:])


def _messages(records: Sequence[Record]) -> list[Message]:
    return [record for record in records if is_message(record)]


def _said(record: UserMessage) -> tuple[Origin | None, str]:
    return record.origin, text_of(record.content)


def _last_checkpoint(records: Sequence[Record]) -> int | None:
    for record in reversed(records):
        if isinstance(record, Checkpoint):
            return record.id
    return None


def _compaction(number: int, before: Records, after: Records, position: int) -> CompactionRecord:
    """What the two logs tell of a compaction: who triggered it they do not."""
    messages, later = _messages(before), _messages(after[position + 1 :])
    kept = _overlap(messages, later)
    sizes_before = [record.token_count for record in before if isinstance(record, UsageRecord)]
    sizes_after = (r.token_count for r in after[position:] if isinstance(r, UsageRecord))
    return CompactionRecord(
        trigger="",
        strategy="",
        pre_tokens=sizes_before[-1] if sizes_before else 0,
        post_tokens=next(sizes_after, 0),
        archive=number,
        kept=kept,
        summarised=len(messages) - kept,
    )


def _overlap(messages: Sequence[Message], later: Sequence[Message]) -> int:
    """How many messages at the end of one list begin the other."""
    for count in range(min(len(messages), len(later)), 0, -1):
        if messages[-count] == later[0] and messages[-count:] == later[:count]:
            return count
    return 0
