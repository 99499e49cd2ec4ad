"""What a scanner is: it says which paths may have changed, and how they looked before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import Protocol

from agent_tui.core.dataclass import dataclass
from agent_tui.core.file_changes import FileState, FolderIdentity, LeftOut
from agent_tui.workspace.reading import Reading

STAGING_PREFIX = ".agent-tui-restore-"
"""How the folder is called in which a revert prepares files; it is never captured."""

UNKNOWN = FileState("other", 0, "", 0)
"""The earlier state of a path that was there, or may have been, and that was not kept."""

LOST = "it was an empty folder; it is not restored"
"""Why a folder that is gone and held nothing is left out."""


@dataclass(slots=True)
class Sight:
    """What a scanner saw.

    Attributes:
        candidates: paths that may differ from what was settled last; each is read and compared.
        ignored: those of them that git ignores.
        nested: folders that are repositories of their own.
        left_out: what is not captured, and why.
        files: how many files are captured.
        new_folders: folders that were not there the last time, as far as that is known, and which
            these are.
        fresh: nothing was settled before: the candidates are what to begin with, not changes.
    """

    candidates: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)
    nested: set[str] = field(default_factory=set)
    left_out: list[LeftOut] = field(default_factory=list)
    files: int = 0
    new_folders: Mapping[str, FolderIdentity] = field(default_factory=dict)
    fresh: bool = False


class Scanner(Protocol):
    """Finds changes below one folder; two of them give the same records."""

    def look(self) -> Sight:
        """Look at every file; reads no contents.

        Raises:
            NotCovered: the answer would not be sure.
        """
        ...

    def old_states(self, paths: Iterable[str]) -> Mapping[str, FileState | None]:
        """How paths looked when they were settled last, their contents kept in the store."""
        ...

    def settle(self, readings: Mapping[str, Reading]) -> None:
        """From now on, changes are changes against these readings."""
        ...


def new_folders_around(path: str, new: Collection[str]) -> list[str]:
    """The folders around a path that are new, from the innermost outwards."""
    found = []
    # Not above the root, which may be new itself.
    while (path := path.rpartition("/")[0]) and path in new:
        found.append(path)
    return found


def is_below(path: str, folders: Collection[str]) -> bool:
    """Whether a path is one of the folders (each without a final slash), or lies in one."""
    if not folders:
        return False
    while path and path not in folders:
        path = path.rpartition("/")[0]
    return bool(path)
