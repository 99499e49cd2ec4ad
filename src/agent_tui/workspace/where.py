"""Where a run works, in words for people: the folder, the home folder as ``~``, and the branch."""

from __future__ import annotations

from pathlib import Path

from agent_tui.core.dataclass import dataclass
from agent_tui.core.text import first_line
from agent_tui.workspace.git import find_repository

_LONGEST_BRANCH = 200


@dataclass(frozen=True, slots=True)
class Where:
    """A workspace for people. ``branch`` is empty outside a repository."""

    path: str
    name: str
    branch: str


def describe_place(workspace: Path) -> Where:
    """Read where a workspace is and which branch is checked out; it blocks for a file or two."""
    path = str(workspace)
    try:
        home = str(Path.home())
    except RuntimeError:
        home = ""
    if home not in ("", "/") and (path == home or path.startswith(f"{home}/")):
        path = f"~{path[len(home) :]}"
    return Where(path, workspace.name or path, git_branch(workspace) or "")


def git_branch(folder: Path) -> str | None:
    """The branch checked out in a folder, or the commit where none is; None outside a repository.

    Read from the repository's own files: no git is needed, and a worktree has a branch of its own.
    """
    repository = find_repository(str(folder))
    if repository is None:
        return None
    return first_line(repository.branch, _LONGEST_BRANCH) or repository.commit()[:12] or None
