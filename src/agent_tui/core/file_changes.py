"""What happened to files: how an entry of the workspace looked before and after, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from agent_tui.core.dataclass import dataclass

FileKind: TypeAlias = Literal["file", "link", "other"]
ChangeCause: TypeAlias = Literal["tool_call", "shell", "human", "outside", "revert", "undo", "redo"]
CAUSES: frozenset[str] = frozenset(get_args(ChangeCause))
AGENT_CAUSES: frozenset[str] = frozenset({"tool_call"})
"""Causes that are the agent's own: only these are reverted unless a person asks for more."""
REVERT_CAUSES: frozenset[str] = frozenset({"revert", "undo", "redo"})
"""Causes that only move files back and forth between states that others made."""


@dataclass(frozen=True, slots=True)
class FileState:
    """How an entry looked; None in its place means: it was not there.

    Attributes:
        kind: a regular file, a symbolic link (its content is its target), or neither.
        mode: the permission bits.
        hash: of the content, by which the workspace store knows it; empty where it was not kept.
        size: of the content in bytes.
        secret: it is ignored by git: local configuration, which never leaves the machine.
    """

    kind: FileKind
    mode: int
    hash: str
    size: int
    secret: bool = False

    def same_as(self, other: FileState | None) -> bool:
        """Whether two states are the same on disk; one that was not kept equals no other."""
        if other is None or not self.hash:
            return False
        mine, theirs = (self.kind, self.hash), (other.kind, other.hash)
        return mine == theirs and (self.kind == "link" or self.mode == other.mode)


FolderIdentity: TypeAlias = tuple[int, int]
"""The inode of a folder, and when it was made, in nanoseconds since 1970; 0 where not known."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path, relative to the workspace, with its state before and after.

    ``added`` and ``removed`` count lines; both are 0 where the content is not text. ``folders``
    says of a revert how many of the folders around it come with it, or go once they are empty.
    """

    path: str
    old: FileState | None
    new: FileState | None
    added: int = 0
    removed: int = 0
    folders: int = 0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A path that is not captured, and why; ``.`` is the workspace itself."""

    path: str
    why: str

    @property
    def name(self) -> str:
        """The path as people are told it."""
        return "some of this folder" if self.path == "." else self.path


def is_safe_path(path: str) -> bool:
    """Whether a path names an entry below the workspace that may be restored at all."""
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        return False
    return not any(part.casefold() == ".git" for part in parts)


def change_fields(change: FileChange) -> dict[str, Any]:
    """The JSON object of a change."""
    fields: dict[str, Any] = {"path": change.path}
    fields["old"] = _state_fields(change.old)
    fields["new"] = _state_fields(change.new)
    return fields | {
        name: count for name in ("added", "removed", "folders") if (count := getattr(change, name))
    }


def parse_change(value: Mapping[str, Any]) -> FileChange:
    """A change from its JSON object.

    Raises:
        ValueError, TypeError, KeyError: it has another shape, or its path leaves the workspace.
    """
    path = value["path"]
    if not isinstance(path, str) or not is_safe_path(path):
        raise ValueError(f"{path!r} is not a path inside the workspace")
    return FileChange(
        path,
        _parse_state(value["old"]),
        _parse_state(value["new"]),
        int(value.get("added", 0)),
        int(value.get("removed", 0)),
        int(value.get("folders", 0)),
    )


def _state_fields(state: FileState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    fields = {"type": state.kind, "mode": state.mode, "hash": state.hash, "size": state.size}
    return fields | ({"secret": True} if state.secret else {})


def _parse_state(value: Mapping[str, Any] | None) -> FileState | None:
    if value is None:
        return None
    kind, mode, digest, size = value["type"], value["mode"], value["hash"], value["size"]
    if kind not in get_args(FileKind) or not isinstance(digest, str):
        raise ValueError("a file state of a wrong shape")
    if digest and (len(digest) != 64 or set(digest) - set("0123456789abcdef")):
        raise ValueError(f"{digest[:80]!r} is not the hash of a content")
    return FileState(kind, int(mode) & 0o7777, digest, int(size), value.get("secret") is True)
