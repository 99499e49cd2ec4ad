"""Which revert of files an undo or a redo means: the newest that is not undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_tui.core.file_changes import CAUSES, ChangeCause, FileChange
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


def last_cause(entries: Sequence[Entry]) -> ChangeCause | None:
    """The cause of the newest revert of files, its undo or redo; None where that is not newest."""
    for entry in reversed(entries):
        match entry.record:
            case WorkspaceRecord(cause=("revert" | "undo" | "redo") as cause):
                return cause
            case RevertRecord() | CompactionRecord() | HeadRecord():
                return None
            case TitleRecord(before=str()) | LabelRecord(before=str()):
                return None
            case ModelRecord(before=str()):
                return None
    return None


def last_revert(captures: Sequence[WorkspaceRecord]) -> WorkspaceRecord | None:
    """The newest revert or redo that was not undone."""
    undone = 0
    for capture in reversed(captures):
        if capture.cause == "undo":
            undone += 1
        elif capture.cause in ("revert", "redo"):
            if not undone:
                return capture
            undone -= 1
    return None


def last_undo(captures: Sequence[WorkspaceRecord]) -> WorkspaceRecord | None:
    """The newest undo that was not redone, where no other revert came behind it."""
    redone = 0
    for capture in reversed(captures):
        if capture.cause == "revert":
            return None
        if capture.cause == "redo":
            redone += 1
        elif capture.cause == "undo":
            if not redone:
                return capture
            redone -= 1
    return None


def record_of(changes: tuple[FileChange, ...], about: Mapping[str, object]) -> WorkspaceRecord:
    """The record of a revert of files, from what was noted of it before it was made."""
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
    )
