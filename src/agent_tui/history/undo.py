"""Which operation an undo undoes, and how: every change of the context, every choice of a person.

An operation on the context leads to another path, and undoing it leads to the path before it. A
choice (a name, a label, a model) stays on the path, and so does the record that undoes it: they
are counted against each other, as brackets are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agent_tui.core.errors import NothingToUndo, SessionError
from agent_tui.core.records import (
    AssistantMessage,
    Choice,
    CompactionRecord,
    HeadRecord,
    LabelRecord,
    ModelRecord,
    Record,
    RevertRecord,
    TitleRecord,
    ToolMessage,
    UserMessage,
)
from agent_tui.core.words import operation_words

UNNAMED = "operation"
"""What an operation is called of which no more is known."""


@dataclass(frozen=True, slots=True)
class RestoreArchive:
    """Make an archive the live log again.

    ``name`` says in a word or two what the operation was, where that is known.
    """

    archive: int
    name: str = UNNAMED


@dataclass(frozen=True, slots=True)
class MoveLeaf:
    """Let the next record hang off ``to`` again: the operation was a branch or a switch."""

    to: str
    name: str = "branch"


@dataclass(frozen=True, slots=True)
class PutBack:
    """Choose again what was in force before a choice."""

    choice: Choice


WayBack: TypeAlias = RestoreArchive | MoveLeaf | PutBack


def find_undo(path: Sequence[Record], log: Sequence[Record]) -> WayBack:
    """How the last operation on the active path is undone.

    Undo and redo themselves are passed over, so that undoing again goes one act further back.

    Args:
        path: the records on the active path.
        log: every record of the log, those on other branches included.

    Raises:
        NothingToUndo: nothing was done yet that could be undone.
    """
    undone = 0
    for record in reversed(path):
        match record:
            case RevertRecord(reason="undo" | "redo") | HeadRecord(reason="undo" | "redo"):
                continue
            case RevertRecord(archive=archive) | CompactionRecord(archive=archive):
                return RestoreArchive(archive, name_act(record))
            case HeadRecord(reason="restore"):
                return RestoreArchive(_archive_before(record, log), name="branch")
            case HeadRecord():
                if back := record.source or record.stamp.parent_uuid:
                    return MoveLeaf(back)
            case TitleRecord(before=str()) | LabelRecord(before=str()) | ModelRecord(before=str()):
                if record.reason == "undo":
                    undone += 1
                elif record.reason == "redo" or undone > 0:
                    undone -= 1
                else:
                    return PutBack(record)
            case _:
                pass
    raise NothingToUndo("There is nothing to undo.")


def find_redo(path: Sequence[Record]) -> WayBack:
    """How the last undo is redone.

    Raises:
        NothingToUndo: the last operation was not an undo.
    """
    redone = 0
    for record in reversed(path):
        match record:
            case RevertRecord(reason="redo") | HeadRecord(reason="redo"):
                continue
            case RevertRecord(reason="undo", archive=archive, of=of):
                return RestoreArchive(archive, of or UNNAMED)
            case HeadRecord(reason="undo", source=str(source)):
                return MoveLeaf(source)
            case TitleRecord(before=str()) | LabelRecord(before=str()) | ModelRecord(before=str()):
                if record.reason == "redo":
                    redone += 1
                elif record.reason == "undo" and redone:
                    redone -= 1
                elif record.reason == "undo":
                    return PutBack(record)
                else:
                    break
            case RevertRecord() | HeadRecord() | CompactionRecord():
                break
            case UserMessage() | AssistantMessage() | ToolMessage():
                break
            case _:
                pass
    raise NothingToUndo("There is nothing to redo.")


def made_by(path: Sequence[Record], archive: int) -> RestoreArchive:
    """How to undo the operation on the active path that made an archive."""
    for record in reversed(path):
        if isinstance(record, RevertRecord | CompactionRecord) and record.archive == archive:
            return RestoreArchive(archive, name_act(record))
    return RestoreArchive(archive)


def name_act(record: RevertRecord | CompactionRecord) -> str:
    """What an operation that made an archive is called."""
    if isinstance(record, CompactionRecord):
        return "compaction"
    return operation_words(record.reason).name


def _archive_before(head: HeadRecord, log: Sequence[Record]) -> int:
    """The archive that the restore made of which this head is the second half."""
    place = next((i for i, each in enumerate(log) if each.stamp.uuid == head.stamp.uuid), 0)
    for record in reversed(log[:place]):
        if isinstance(record, RevertRecord):
            return record.archive
    raise SessionError("Cannot undo: the restore that started this branch is no longer in the log.")
