"""Which revert of files an undo or a redo applies to: the newest that is not undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_tui.core.file_changes import CAUSES, FileChange, FolderIdentity
from agent_tui.core.records import (
    CompactionRecord,
    HeadRecord,
    LabelRecord,
    ModelRecord,
    RevertRecord,
    TitleRecord,
    WorkspaceRecord,
)
from agent_tui.sessions.replay import Entry


def find_undo(entries: Sequence[Entry]) -> WorkspaceRecord | None:
    """The revert of files that an undo would undo; None if something else was done after it.

    What undid something is counted against it, as brackets are, so that undoing again goes one
    operation further back.
    """
    undone = choices = 0
    for entry in reversed(entries):
        match entry.record:
            case WorkspaceRecord(cause="undo"):
                undone += 1
            case WorkspaceRecord(cause="revert" | "redo") as record:
                if not undone:
                    return record
                undone -= 1
            case RevertRecord(reason="undo" | "redo") | HeadRecord(reason="undo" | "redo"):
                pass
            case RevertRecord(operation=str(operation)) if operation:
                pass
            case RevertRecord() | CompactionRecord() | HeadRecord():
                return None
            case TitleRecord(before=str()) | LabelRecord(before=str()) | ModelRecord(before=str()):
                if entry.record.reason == "undo":
                    choices += 1
                elif entry.record.reason == "redo" or choices:
                    choices -= 1
                else:
                    return None
            case _:
                pass
    return None


def find_redo(entries: Sequence[Entry]) -> WorkspaceRecord | None:
    """The undo of a revert of files that a redo would redo; None if something else is newer."""
    redone = 0
    for entry in reversed(entries):
        match entry.record:
            case WorkspaceRecord(cause="redo"):
                redone += 1
            case WorkspaceRecord(cause="undo") as record:
                if not redone:
                    return record
                redone -= 1
            case WorkspaceRecord(cause="revert"):
                return None
            case RevertRecord(reason="redo") | HeadRecord(reason="redo"):
                pass
            case RevertRecord(operation=str(operation)) if operation:
                pass
            case RevertRecord() | CompactionRecord() | HeadRecord():
                return None
            case TitleRecord(before=str()) | LabelRecord(before=str()) | ModelRecord(before=str()):
                return None
            case _:
                pass
    return None


def record_of(
    changes: tuple[FileChange, ...],
    about: Mapping[str, object],
    folders: Mapping[str, FolderIdentity],
) -> WorkspaceRecord:
    """The record of a revert of files, from what was noted of it before it was made.

    ``folders`` are those that it made.
    """
    cause = str(about.get("cause"))
    number = about.get("checkpoint")
    of = about.get("of")
    return WorkspaceRecord(
        cause=cause if cause in CAUSES else "revert",  # type: ignore[arg-type]  # checked here
        delta=changes,
        checkpoint=number if isinstance(number, int) else None,
        checkpoint_uuid=str(about.get("checkpoint_uuid") or "") or None,
        operation=str(about.get("operation", "")),
        of=tuple(map(str, of)) if isinstance(of, list) else (),
        folders=folders,
    )
