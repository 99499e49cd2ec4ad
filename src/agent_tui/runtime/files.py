"""The workspace's files for completion after ``@``: listed once, bounded, refreshed when old."""

from __future__ import annotations

import os
import time
from pathlib import Path

_SKIPPED = {".git", ".hg", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache"}
_MOST_FILES = 20_000
_FRESH_SECONDS = 10.0


class FileList:
    """Paths of a workspace, relative, folders with a trailing slash."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._paths: list[str] = []
        self._listed_at = -_FRESH_SECONDS

    def matching(self, typed: str, most: int = 50) -> list[str]:
        """Paths that hold what was typed, those that begin with it first; it blocks."""
        now = time.monotonic()
        if now - self._listed_at > _FRESH_SECONDS:
            self._paths = list_files(self._workspace)
            self._listed_at = now
        wanted = typed.lower()
        found = [path for path in self._paths if wanted in path.lower()]
        found.sort(key=lambda path: (not path.lower().startswith(wanted), path.count("/"), path))
        return found[:most]


def list_files(workspace: Path, most: int = _MOST_FILES) -> list[str]:
    """Every file and folder of a workspace that is not machinery; never follows links."""
    paths: list[str] = []
    for folder, folders, files in os.walk(workspace):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        base = Path(folder).relative_to(workspace)
        paths += [f"{base / name}/" for name in folders]
        paths += [str(base / name) for name in sorted(files)]
        if len(paths) >= most:
            break
    return paths[:most]
