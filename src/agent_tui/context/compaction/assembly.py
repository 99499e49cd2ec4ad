"""The log that a compaction writes: which entries of the old one stay, and in what order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent_tui.core.records import (
    Checkpoint,
    CompactionRecord,
    EnvironmentRecord,
    LabelRecord,
    ModelRecord,
    Record,
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    UsageRecord,
    UserMessage,
    WorkspaceRecord,
    is_message,
)
from agent_tui.sessions.replay import Entry, SessionState


@dataclass(frozen=True, slots=True)
class LogParts:
    """What was read of a log: the records still in force, its messages, and its whole path."""

    in_force: tuple[Entry, ...]
    messages: tuple[Entry, ...]
    path: tuple[Entry, ...] = ()


def read_parts(state: SessionState, size: int) -> LogParts:
    """The parts of the first ``size`` bytes of a log."""
    header: list[Entry] = []
    latest: dict[type[Record], Entry] = {}
    labels: dict[str, Entry] = {}
    for entry in list(state.all_entries):
        record = entry.record
        if entry.offset >= size:
            break
        if isinstance(record, SessionHeader):
            header = header or [entry]
        elif isinstance(record, TitleRecord | ModelRecord | EnvironmentRecord):
            latest[type(record)] = entry
        elif isinstance(record, LabelRecord):
            labels.pop(record.target, None)
            if record.label:
                labels[record.target] = entry
    path = [entry for entry in list(state.entries) if entry.offset < size]
    prompts = [entry for entry in path if isinstance(entry.record, SystemPrompt)]
    return LogParts(
        in_force=(*header, *prompts[-1:], *latest.values(), *labels.values()),
        messages=tuple(entry for entry in path if is_message(entry.record)),
        path=tuple(path),
    )


def with_captures(
    parts: LogParts, kept: Iterable[tuple[Entry, Record | Entry]]
) -> Iterator[Record | Entry]:
    """What is kept of each message, followed by what that call or command changed in files.

    Without it the log would no longer tell this of a message that it still holds.
    """
    captures = _captures_by_message(parts.path)
    for entry, staying in kept:
        yield staying
        yield from captures.get(entry.offset, ())


def _captures_by_message(path: Iterable[Entry]) -> dict[int, list[Entry]]:
    """The captures of calls by the offset of the call's result, of commands by that of theirs."""
    found: dict[int, list[Entry]] = {}
    results: dict[str, int] = {}
    last = -1
    for entry in path:
        record = entry.record
        if is_message(record):
            last = entry.offset
            if isinstance(record, ToolMessage):
                results[record.tool_call_id] = last
        # A capture of no known checkpoint counts as of the one before it in the log: not moved.
        elif isinstance(record, WorkspaceRecord) and record.call and record.checkpoint_uuid:
            found.setdefault(results.get(record.call, last), []).append(entry)
    return found


def assemble_log(
    parts: LogParts,
    record: CompactionRecord,
    summary: UserMessage,
    kept: Sequence[Record | Entry],
    usage: UsageRecord,
) -> list[Record | Entry]:
    """The new log in order: entries are copied byte for byte, records are written."""
    return [*parts.in_force, record, Checkpoint(0), summary, *kept, usage]


_IN_FORCE = (
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    ModelRecord,
    EnvironmentRecord,
    LabelRecord,
)


def assemble_masked_log(
    parts: LogParts,
    record: CompactionRecord,
    masks: Mapping[int, Record],
    usage: UsageRecord,
) -> list[Record | Entry]:
    """The log as it was, checkpoints and all, with other records at some offsets."""
    path = [
        masks.get(entry.offset, entry)
        for entry in parts.path
        if not isinstance(entry.record, _IN_FORCE)
    ]
    return [*parts.in_force, *path, record, usage]
