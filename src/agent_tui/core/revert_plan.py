"""A revert of files as it is shown and chosen from: paths, hunks, and what cannot be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.file_changes import FileState, FolderIdentity, LeftOut
from agent_tui.core.text import format_count

PlanStatus: TypeAlias = Literal[
    "same", "clean", "merged", "conflict", "binary", "type", "deleted", "not_covered"
]
STATUS_WORDS: dict[str, str] = {
    "same": "as it was",
    "clean": "",
    "merged": "also changed since; those changes stay",
    "conflict": "changed since in the same lines",
    "binary": "changed since; not text",
    "type": "changed since; another kind of file now",
    "deleted": "deleted since",
    "not_covered": "not captured",
}
"""What a status means to a person."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that are replaced: ``old[start:stop]`` becomes ``lines``.

    Attributes:
        id: its number in the file, from 1.
        removed: the lines that go. ``added``: those that come.
        conflict: somebody else changed the same lines since.
    """

    id: int
    start: int
    stop: int
    removed: tuple[bytes, ...]
    added: tuple[bytes, ...]
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class Version:
    """A path at one moment: its state, and its content where that is at hand."""

    state: FileState | None
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class PathPlan:
    """What would happen to one path.

    Attributes:
        own: only the agent's changes are taken out; else everything since, a person's too.
        status: how sure that is; a ``conflict`` and all behind it need a person's word.
        now: how the path is at the moment. ``then``: how it would be with every hunk made.
        hunks: the pieces of the change, where both are text; empty where it is all or nothing.
        why: what a reader should know, in a few words.
        folders: those around it that came with it, from the innermost outwards.
    """

    path: str
    own: bool
    status: PlanStatus
    now: Version
    then: Version
    hunks: tuple[Hunk, ...] = ()
    why: str = ""
    folders: tuple[FolderIdentity, ...] = ()

    @property
    def key(self) -> tuple[str, bool]:
        return self.path, self.own

    @property
    def possible(self) -> bool:
        """Whether it can be done at all."""
        return self.status not in ("same", "not_covered")

    @property
    def default(self) -> frozenset[int] | None:
        """The hunks that are ticked at first; None where nothing is. 0 stands for the whole."""
        if not self.own or self.status not in ("clean", "merged", "conflict"):
            return None
        if not self.hunks:
            return frozenset({0}) if self.status != "conflict" else None
        sound = frozenset(hunk.id for hunk in self.hunks if not hunk.conflict)
        return sound or None

    @property
    def is_whole(self) -> bool:
        """Whether what is ticked at first is all that there is to revert."""
        ticked = self.default or frozenset()
        return 0 in ticked or bool(self.hunks and ticked >= {hunk.id for hunk in self.hunks})

    @property
    def counts(self) -> tuple[int, int]:
        """Lines that would be added and removed."""
        return (
            sum(len(hunk.added) for hunk in self.hunks),
            sum(len(hunk.removed) for hunk in self.hunks),
        )


@dataclass(frozen=True, slots=True)
class RevertPlan:
    """A revert of files, to be looked at and chosen from.

    Attributes:
        paths: what can be done, the agent's own first.
        uncovered: what cannot, and why.
        notices: what a person should know before: another branch, a gap in what was captured.
        conversation_only: whether that is the better choice here.
        of: the captures that it reverts.
    """

    paths: tuple[PathPlan, ...]
    uncovered: tuple[LeftOut, ...] = ()
    notices: tuple[str, ...] = ()
    conversation_only: bool = False
    of: tuple[str, ...] = ()

    @property
    def default(self) -> dict[tuple[str, bool], frozenset[int]]:
        """What is ticked at first: the agent's own changes, where nothing of others is lost."""
        return {each.key: each.default for each in self.paths if each.default is not None}


Choice: TypeAlias = Mapping[tuple[str, bool], frozenset[int]]
"""By path and owner: the hunks that are wanted; 0 stands for the whole path."""


def describe_choice(plan: RevertPlan, choice: Choice) -> str:
    """How much is chosen: ``3 files``, ``1 part of 1 file``, or both; empty where nothing is."""
    parts: dict[str, int] = {}
    for each in plan.paths:  # of a path's two entries the wider one comes last, and counts
        if chosen := choice.get(each.key):
            is_whole = 0 in chosen or len(chosen) >= len(each.hunks)
            parts[each.path] = 0 if is_whole else len(chosen)
    cut = [count for count in parts.values() if count]
    whole = len(parts) - len(cut)
    told = [format_count(whole, "file")] if whole else []
    if cut:
        told.append(f"{format_count(sum(cut), 'part')} of {format_count(len(cut), 'file')}")
    return " and ".join(told)
