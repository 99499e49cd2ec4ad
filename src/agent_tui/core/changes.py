"""What changed in a session's files, as front-ends show it: by capture, path by path."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from agent_tui.core.file_changes import (
    REVERT_CAUSES,
    ChangeCause,
    FileChange,
    FileState,
    LeftOut,
)

NOT_PRINTED = "local configuration: its content is not printed"
"""What stands in the place of a secret file's changes where others may read it."""

WHO: dict[ChangeCause, str] = {
    "tool_call": "agent",
    "shell": "your command",
    "human": "you or another program",
    "outside": "unknown origin",
    "revert": "revert",
    "undo": "undo of a revert",
    "redo": "redo of a revert",
}
"""Who changed files, in words."""

WHOSE: dict[ChangeCause, str] = {
    "tool_call": "the agent's changes",
    "shell": "the changes of your command",
    "human": "the changes by you or another program",
    "outside": "the changes of unknown origin",
    "revert": "the changes of a revert",
    "undo": "the changes of an undo",
    "redo": "the changes of a redo",
}
"""What somebody changed in files, as the title of a question calls it."""

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
        after_turn: the newest turn until then; 0 before the first.
        about: which changes a revert undid, or the command of a call.
        repeats: how many reverts, undos and redos right before it this one stands for.
        left_out: what was not captured that had been until then; of the first one, all of it.
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
    after_turn: int = 0
    about: str = ""
    repeats: int = 0
    left_out: tuple[LeftOut, ...] = ()

    @property
    def place(self) -> str:
        """Where in the session it was, in words."""
        if self.turn:
            return place_of(self.turn, self.step)
        return f"after turn {self.after_turn}" if self.after_turn else "before turn 1"

    @property
    def name(self) -> str:
        """What is reverted with it, as the title of a question calls it."""
        if self.tool:
            return f"{self.tool}, {self.place}"
        return f"{WHOSE[self.cause]} {'in ' if self.turn else ''}{self.place}"

    @property
    def what(self) -> str:
        """The tool with its command, the command of a person, or what was reverted."""
        # The id of a call whose tool nobody knows tells a reader nothing.
        name = self.tool or (self.call if self.cause != "tool_call" else "")
        return " ".join(filter(None, (name, self.about)))

    @property
    def who(self) -> str:
        """Who changed files; empty where a look that nobody caused only left out some."""
        is_a_look = self.cause in ("human", "outside") and not self.files and not self.why
        return "" if is_a_look else WHO[self.cause]

    @property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed in all files together."""
        return sum(f.added for f in self.files), sum(f.removed for f in self.files)


def fold_repeats(groups: Iterable[ChangeGroup]) -> list[ChangeGroup]:
    """The same groups, oldest first, with one for a revert that was undone and redone in a row."""
    folded: list[ChangeGroup] = []
    for group in groups:
        if folded and _repeats(group, folded[-1]):
            group = replace(group, repeats=folded.pop().repeats + 1)
        folded.append(group)
    return folded


def _repeats(group: ChangeGroup, before: ChangeGroup) -> bool:
    """Whether a group only takes files back to where they were before the group before it."""
    moves = group.cause in ("undo", "redo") and before.cause in REVERT_CAUSES
    paths = [{file.path for file in each.files} for each in (group, before)]
    return moves and group.cause != before.cause and paths[0] == paths[1]


def place_of(turn: int | None, step: int | None = None) -> str:
    """A turn, and a step in it, in words."""
    return f"turn {turn} · step {step}" if step else f"turn {turn}"


def kind_of(old: FileState | None, new: FileState | None) -> ChangeKind:
    """What happened to a path, in a word."""
    if old is None:
        return "created"
    if new is None:
        return "deleted"
    if old.kind != new.kind:
        return "type"
    return "mode" if old.hash and old.hash == new.hash else "changed"


Count: TypeAlias = Callable[[FileState | None, FileState | None], tuple[int, int] | None]
"""Counts the lines added and removed between two states; None if unknown."""


def net_changes(
    changes: Iterable[FileChange], count: Count = lambda *_: None
) -> tuple[FileDiff, ...]:
    """Every path that is not what it was, with its first state and its last; the newest first.

    What was changed and changed back is not among them. Where ``count`` knows nothing of a path
    that was changed several times, lines count each time.
    """
    paths: dict[str, list[FileChange]] = {}
    for change in changes:
        before = paths.pop(change.path, [])
        paths[change.path] = [*before, change]
    return tuple(
        FileDiff(path, kind_of(steps[0].old, steps[-1].new), *_count_all(steps, count))
        for path, steps in reversed(paths.items())
        if not _is_back(steps[0].old, steps[-1].new)
    )


def _count_all(steps: list[FileChange], count: Count) -> tuple[int, int]:
    counted = count(steps[0].old, steps[-1].new) if len(steps) > 1 else None
    return counted or (sum(step.added for step in steps), sum(step.removed for step in steps))


def _is_back(old: FileState | None, new: FileState | None) -> bool:
    return new is None if old is None else old.same_as(new)
