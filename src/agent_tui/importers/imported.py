"""What an importer gives: another agent's session in our own records, ready for every screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_tui.core.records import (
    Checkpoint,
    Record,
    UsageRecord,
    is_message,
)
from agent_tui.importers.accounting import Accounting

Records = tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class ImportedArchive:
    """A log that was rotated out, or a branch that was left; ``path`` is empty for a branch.

    ``shown``: its records with a row where lines are damaged; empty where nobody knows where.
    """

    number: int
    reason: str
    records: Records
    damaged: int = 0
    path: str = ""
    size_bytes: int = 0
    shown: Records = ()


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
class ImportedBranch:
    """The part of an imported session that leads to one of its records.

    Attributes:
        path: the file in which the last record was found.
        session_id: the session, as its agent names it.
        records: what leads to the last record, itself included.
        compactions: those of the whole session.
        ends_in_prompt: whether the last record is a prompt that was chosen, to be edited.
    """

    path: Path
    session_id: str
    records: Records
    compactions: tuple[ImportedCompaction, ...]
    ends_in_prompt: bool


@dataclass(frozen=True, slots=True)
class ImportedChild:
    """A subagent's session: its records, or the file or key under which it is found.

    ``tool_call_id`` is the call that started it, empty where that is not known.
    """

    session_id: str
    title: str
    records: Records = ()
    path: str = ""
    tool_call_id: str = ""


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
        children: the sessions of subagents.
        accounting: what became of every record of the file.
        shown: the records with a row where lines are damaged; empty where nobody knows where.
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
    children: tuple[ImportedChild, ...] = ()
    accounting: Accounting = field(default_factory=Accounting)
    shown: Records = ()


@dataclass(frozen=True, slots=True)
class ImportedTail:
    """The last records of a session, read from the end of its file; ``is_whole``: all of them."""

    records: Records
    is_whole: bool


def count_messages(records: Sequence[Record]) -> int:
    """How many of the records are messages.

    An answer that its agent logged in several lines is one message; each tool result is one.
    """
    return sum(map(is_message, records))


def count_findings(session: ImportedSession) -> dict[str, Any]:
    """What was found, as ``agent-tui open PATH --json`` prints it.

    ``messages`` are all user, assistant and tool messages on the active path: those that an agent
    wrote to itself (``<system>CHECKPOINT 1</system>``, D-Mails, summaries) fill the context too.
    ``checkpoints`` are distinct ids; ``token_count`` is what the last usage line says.
    """
    records = session.records
    usage = [record.token_count for record in records if isinstance(record, UsageRecord)]
    return {
        "source": session.source,
        "session_id": session.session_id,
        "title": session.title,
        "cwd": session.cwd,
        "messages": count_messages(records),
        "checkpoints": len({record.id for record in records if isinstance(record, Checkpoint)}),
        "token_count": usage[-1] if usage else 0,
        "compactions": len(session.compactions),
        "damaged": session.damaged,
        "archives": len(session.archives),
        "children": [child_fields(child) for child in session.children],
        "records": account_fields(session.accounting),
    }


def child_fields(child: ImportedChild) -> dict[str, str | int]:
    """A subagent as JSON; ``path`` is empty where its messages stand in the session's own file."""
    return {
        "session_id": child.session_id,
        "title": child.title,
        "path": child.path,
        "tool_call_id": child.tool_call_id,
        "messages": count_messages(child.records),
    }


def account_fields(accounting: Accounting) -> dict[str, int | Mapping[str, int]]:
    """An accounting as JSON: ``read`` is the sum of all that follow."""
    return {
        "read": accounting.read,
        "shown": accounting.shown,
        "damaged": accounting.damaged,
        "unknown": dict(accounting.unknown),
        "skipped": dict(accounting.skipped),
    }
