"""Where a run works, in words for people: the folder, the home folder as ``~``, and the branch."""

from __future__ import annotations

from pathlib import Path

from agent_tui.core.dataclass import dataclass


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
    """The branch checked out in a folder, read from .git/HEAD; None where there is none."""
    for place in (folder, *folder.parents):
        try:
            head = (place / ".git" / "HEAD").read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            continue
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else head[:12]
    return None
