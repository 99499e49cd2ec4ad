"""Which act an undo takes back, and how: every act on the context, whether it rotated or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agent_tui.core.errors import SessionError
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    HeadRecord,
    Record,
    RevertRecord,
    ToolMessage,
    UserMessage,
)


@dataclass(frozen=True, slots=True)
class RestoreArchive:
    """Make an archive the live log again; ``turns_since`` prompts came after the act."""

    archive: int
    turns_since: int = 0


@dataclass(frozen=True, slots=True)
class MoveLeaf:
    """Let the next record hang off ``to`` again; ``turns_since`` prompts came after the act."""

    to: str
    turns_since: int = 0


WayBack: TypeAlias = RestoreArchive | MoveLeaf


def find_undo(path: Sequence[Record], log: Sequence[Record]) -> WayBack:
    """How the last act on the active path is taken back.

    Undo and redo themselves are passed over, so that undoing again goes one act further back.

    Args:
        path: the records on the active path.
        log: every record of the log, those on other branches included.

    Raises:
        SessionError: nothing was done yet that could be undone.
    """
    turns = 0
    for record in reversed(path):
        turns += isinstance(record, UserMessage) and record.origin == "human"
        match record:
            case RevertRecord(reason="undo" | "redo") | HeadRecord(reason="undo" | "redo"):
                continue
            case RevertRecord(archive=archive) | CompactionRecord(archive=archive):
                return RestoreArchive(archive, turns)
            case HeadRecord(reason="restore"):
                return RestoreArchive(_archive_before(record, log), turns)
            case HeadRecord():
                if back := record.source or record.stamp.parent_uuid:
                    return MoveLeaf(back, turns)
            case _:
                pass
    raise SessionError(
        "There is nothing to undo: no revert, compaction, clear or branch led to this context."
    )


def find_redo(path: Sequence[Record]) -> WayBack:
    """How the last undo is taken back.

    Raises:
        SessionError: the last act was not an undo.
    """
    for record in reversed(path):
        match record:
            case RevertRecord(reason="redo") | HeadRecord(reason="redo"):
                continue
            case RevertRecord(reason="undo", archive=archive):
                return RestoreArchive(archive)
            case HeadRecord(reason="undo", source=str(source)):
                return MoveLeaf(source)
            case RevertRecord() | HeadRecord() | CompactionRecord():
                break
            case UserMessage() | AssistantMessage() | ToolMessage():
                break
            case _:
                pass
    raise SessionError("There is nothing to redo: the last act was not an undo.")


def _archive_before(head: HeadRecord, log: Sequence[Record]) -> int:
    """The archive that the restore made of which this head is the second half."""
    place = next((i for i, each in enumerate(log) if each.stamp.uuid == head.stamp.uuid), 0)
    for record in reversed(log[:place]):
        if isinstance(record, RevertRecord):
            return record.archive
    raise SessionError("The restore that this branch began with is not in the log any more.")
