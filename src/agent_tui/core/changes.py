"""What changed in the files of a session, as it is shown: by capture, path by path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from agent_tui.core.file_changes import ChangeCause, FileChange, FileState

WHO: dict[ChangeCause, str] = {
    "tool_call": "agent",
    "shell": "your command",
    "human": "you or another program",
    "outside": "while not watched",
    "revert": "revert",
    "undo": "undo of a revert",
    "redo": "redo of a revert",
}
"""Who changed files, in words."""

ChangeKind = Literal["created", "changed", "deleted", "mode", "type"]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One changed path.

    ``diff`` is a unified diff; empty where the content is not text or was not kept: ``note`` then
    says so. ``secret`` marks local configuration. ``told`` are the lines that left and came where
    their place in the file is not known.
    """

    path: str
    kind: ChangeKind
    added: int
    removed: int
    diff: str = ""
    note: str = ""
    secret: bool = False
    told: str = ""


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """What one capture found.

    Attributes:
        id: of the capture. ``call``: the tool call that made the change, or a command.
        tool: the name of that tool, where it is known.
        why: why nothing is known of these files, where that is so.
        by_log: whether only the log says so; nobody looked at the disk.
    """

    id: str
    cause: ChangeCause
    files: tuple[FileDiff, ...]
    checkpoint: int | None = None
    turn: int | None = None
    step: int | None = None
    call: str = ""
    tool: str = ""
    at: str = ""
    why: str = ""
    by_log: bool = False

    @property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed in all files together."""
        return sum(f.added for f in self.files), sum(f.removed for f in self.files)


def kind_of(old: FileState | None, new: FileState | None) -> ChangeKind:
    """What happened to a path, in a word."""
    if old is None:
        return "created"
    if new is None:
        return "deleted"
    if old.kind != new.kind:
        return "type"
    return "mode" if old.hash and old.hash == new.hash else "changed"


def net_changes(changes: Iterable[FileChange]) -> tuple[FileDiff, ...]:
    """Every path that is not what it was, with its first state and its last; the newest first.

    What was changed and changed back is not among them. Lines count each time they were changed.
    """
    paths: dict[str, list[FileChange]] = {}
    for change in changes:
        before = paths.pop(change.path, [])
        paths[change.path] = [*before, change]
    return tuple(
        FileDiff(
            path,
            kind_of(steps[0].old, steps[-1].new),
            sum(step.added for step in steps),
            sum(step.removed for step in steps),
        )
        for path, steps in reversed(paths.items())
        if not _is_back(steps[0].old, steps[-1].new)
    )


def _is_back(old: FileState | None, new: FileState | None) -> bool:
    return new is None if old is None else old.same_as(new)
