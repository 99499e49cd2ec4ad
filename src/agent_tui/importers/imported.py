"""What an importer gives: another agent's session in our own records, ready for every screen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    ToolMessage,
    UsageRecord,
    UserMessage,
)

Records = tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class ImportedArchive:
    """A log that was rotated out, or a branch that was left; ``path`` is empty for a branch."""

    number: int
    reason: str
    records: Records
    damaged: int = 0
    path: str = ""
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ImportedCompaction:
    """Both sides of a compaction.

    Attributes:
        archive: the number by which its CompactionRecord names it.
        before: the context that was compacted; empty where it was not kept.
        after: the context that took its place, beginning of later talk included.
        summary: the text that replaced what was summarised.
        tokens_before: the size of the old context as its agent knew it; 0 where unknown.
    """

    archive: int
    before: Records
    after: Records
    summary: str
    tokens_before: int


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """A session read from files of any known kind; nothing of it can be written.

    Attributes:
        source: the agent that wrote it.
        records: the conversation on its active path, with records for what happened to it.
        context: what the model would be sent; differs from ``records`` for agents that keep
            compacted messages in the same file.
        damaged: how many lines of the live log are not records.
        archives: rotated logs and left branches, by number.
        compactions: oldest first.
    """

    source: str
    session_id: str
    cwd: str
    title: str
    path: Path
    records: Records
    context: Records
    damaged: int
    archives: tuple[ImportedArchive, ...] = ()
    compactions: tuple[ImportedCompaction, ...] = ()


def count_messages(records: Records) -> int:
    """How many of the records are messages."""
    kinds = (UserMessage, AssistantMessage, ToolMessage)
    return sum(isinstance(record, kinds) for record in records)


def count_findings(session: ImportedSession) -> dict[str, int]:
    """What was found, in numbers, as ``agent-tui open PATH --json`` prints it.

    ``messages`` are all user, assistant and tool messages of the live log: those that an agent
    wrote to itself (``<system>CHECKPOINT 1</system>``, D-Mails, summaries) fill the context too.
    ``checkpoints`` are distinct ids; ``token_count`` is what the last usage line says.
    """
    records = session.records
    usage = [record.token_count for record in records if isinstance(record, UsageRecord)]
    return {
        "messages": count_messages(records),
        "checkpoints": len({record.id for record in records if isinstance(record, Checkpoint)}),
        "token_count": usage[-1] if usage else 0,
        "compactions": len(session.compactions),
        "damaged": session.damaged,
        "archives": len(session.archives),
    }
