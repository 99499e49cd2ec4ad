"""Where a run works, in words for people: the folder, the home folder as ``~``, and the branch."""

from __future__ import annotations

from pathlib import Path

from agent_tui.core.dataclass import dataclass
from agent_tui.core.text import first_line
from agent_tui.workspace.git import Repository, find_repository

_LONGEST_BRANCH = 200


@dataclass(frozen=True, slots=True)
class Where:
    """A workspace for people. ``branch`` is empty outside a repository.

    ``changed``: whether the work tree differs from its last commit.
    """

    path: str
    name: str
    branch: str
    changed: bool = False


class Place:
    """A workspace whose branch may change under it; everything blocks for a file or two."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._git_folder: Path | None = None
        self._seen = self._told = (0, 0)

    def describe(self) -> Where:
        """Where it is, which branch is checked out, and whether git sees changes in it."""
        repository = find_repository(str(self._workspace))
        path = _short_path(self._workspace)
        name = self._workspace.name or path
        if repository is None:
            return Where(path, name, "")
        from agent_tui.workspace.git_status import has_changes  # not before there is an answer

        self._git_folder = Path(repository.git_folder)
        self._seen = self._told = self._times()
        return Where(path, name, _branch_of(repository), has_changes(repository))

    def has_moved(self) -> bool:
        """Whether git wrote its HEAD or index since this was described, and is done with that.

        Costs two looks at the times of files; call it every second or so.
        """
        before, self._seen = self._seen, self._times()
        return self._seen == before and self._seen != self._told

    def _times(self) -> tuple[int, int]:
        if self._git_folder is None:
            return (0, 0)
        return _changed_at(self._git_folder / "HEAD"), _changed_at(self._git_folder / "index")


def git_branch(folder: Path) -> str | None:
    """The branch checked out in a folder, or the commit where none is; None outside a repository.

    Read from the repository's own files: no git is needed, and a worktree has a branch of its own.
    """
    repository = find_repository(str(folder))
    return None if repository is None else _branch_of(repository) or None


def _branch_of(repository: Repository) -> str:
    return first_line(repository.branch, _LONGEST_BRANCH) or repository.commit()[:12]


def _short_path(workspace: Path) -> str:
    path = str(workspace)
    try:
        home = str(Path.home())
    except RuntimeError:
        return path
    inside = home not in ("", "/") and (path == home or path.startswith(f"{home}/"))
    return f"~{path[len(home) :]}" if inside else path


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
