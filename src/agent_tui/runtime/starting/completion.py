"""The workspace's files for completion after ``@``: listed once, bounded, refreshed when old.

In a git repository they are what git would track (ignored files are left out); elsewhere what is
not machinery. Everything here blocks: call it in a thread.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from agent_tui.core.text import find_letters
from agent_tui.tools.child import child_environment

_SKIPPED = {".git", ".hg", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache"}
_MOST_FILES = 200_000
_MOST_OFFERED = 50
_FRESH_SECONDS = 10.0
_GIT_SECONDS = 10.0
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_LIST = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")


class FileList:
    """Paths of a workspace, relative, folders with a trailing slash."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._paths: list[str] = []
        self._lowered: list[str] = []
        self._listed_at = -_FRESH_SECONDS

    def matching(self, typed: str) -> list[str]:
        """Paths that fit what was typed, best first: in the name, in the path, letter by letter."""
        now = time.monotonic()
        if now - self._listed_at > _FRESH_SECONDS:
            self._paths = list_files(self._workspace)
            self._lowered = [path.lower() for path in self._paths]
            self._listed_at = time.monotonic()
        return rank_paths(typed, self._paths, self._lowered, _MOST_OFFERED)


def rank_paths(typed: str, paths: list[str], lowered: list[str], most: int) -> list[str]:
    """The paths that fit best; ``lowered`` holds the same ones in lower case."""
    wanted = typed.lower()
    if not wanted:
        first = (path for path in paths if path.count("/") - path.endswith("/") <= 0)
        return sorted(first, key=lambda path: (not path.endswith("/"), path))[:most]
    whole = [place for place, path in enumerate(lowered) if wanted in path]
    found = whole
    if len(whole) < most:
        known = set(whole)
        near = find_letters((wanted,), lowered)
        found = whole + [place for place, _ in near if place not in known]
    ranked = sorted(found, key=lambda place: _rank(wanted, lowered[place]))
    return [paths[place] for place in ranked[:most]]


def _rank(wanted: str, path: str) -> tuple[int, int, int, str]:
    """Smaller is better: how it fits, how deep it is, how long it is."""
    name = path.rstrip("/").rpartition("/")[2]
    if path.startswith(wanted) or name.startswith(wanted):
        fit = 0
    elif wanted in name:
        fit = 1
    else:
        fit = 2 if wanted in path else 3
    return fit, path.count("/"), len(path), path


def list_files(workspace: Path) -> list[str]:
    """Every file and folder of a workspace that is not ignored; never follows links."""
    files = _git_files(workspace)
    paths = _with_folders(files) if files is not None else _walk(workspace)
    return paths[:_MOST_FILES]


def _git_files(workspace: Path) -> list[str] | None:
    """What git tracks or would track; None outside a repository or where git cannot tell."""
    if not any((place / ".git").exists() for place in (workspace, *workspace.parents)):
        return None
    env = child_environment() | {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        ran = subprocess.run(
            [*_GIT, "-C", str(workspace), *_LIST],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if ran.returncode:
        return None
    names = ran.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [name for name in names if name and not name.startswith("../")]


def _with_folders(files: Iterable[str]) -> list[str]:
    """The files with every folder that holds one, in the order of their names."""
    folders: set[str] = set()
    paths: list[str] = []
    for path in files:
        paths.append(path)
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            paths.append(f"{folder}/")
            folder = folder.rpartition("/")[0]
    return sorted(paths)


def _walk(workspace: Path) -> list[str]:
    paths: list[str] = []
    for folder, folders, files in os.walk(workspace):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        base = Path(folder).relative_to(workspace)
        paths += [f"{base / name}/" for name in folders]
        paths += [str(base / name) for name in sorted(files)]
        if len(paths) >= _MOST_FILES:
            break
    return paths
