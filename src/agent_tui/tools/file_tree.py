"""Walking the files below a folder by descriptor."""

from __future__ import annotations

import os
from collections.abc import Iterator

# fmt: off
SKIPPED = frozenset(
    {
        ".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__",
        ".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox", ".cache", ".idea", ".next",
        ".gradle", ".terraform",
    }
)
# fmt: on
"""Folders that hold what others made; they are walked only when asked for by name."""

_DEEPEST = 60
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def walk_files(folder: int, *, prefix: str = "", depth: int = 0) -> Iterator[str]:
    """The paths of all files below an open folder, sorted within each folder.

    Links are named but never followed; folders that cannot be read are passed over.
    """
    for name, is_folder in _entries(folder):
        if not is_folder:
            yield prefix + name
        elif name not in SKIPPED and depth < _DEEPEST:
            try:
                child = os.open(name, _FOLDER, dir_fd=folder)
            except OSError:
                continue
            try:
                yield from walk_files(child, prefix=f"{prefix}{name}/", depth=depth + 1)
            finally:
                os.close(child)


def _entries(folder: int) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except OSError:
        return []
