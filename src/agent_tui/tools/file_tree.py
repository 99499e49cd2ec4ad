"""Walking the files below a folder by descriptor, and matching them against glob patterns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache

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


def matches(path: str, pattern: str) -> bool:
    """Whether a path fits a glob; a pattern without ``/`` is matched against the name alone.

    ``*`` and ``?`` stay within a folder, ``**/`` is any folders, ``[a-z]`` and ``{a,b}`` choose.
    """
    if "/" not in pattern:
        path = path.rpartition("/")[2]
    return _compile(pattern.removeprefix("./").removeprefix("/")).fullmatch(path) is not None


@lru_cache(64)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(_translate(pattern)), re.DOTALL)


_TOKEN = re.compile(r"\*\*/|/\*\*$|\*+|\?|\[[!^]?\]?[^\]]*\]|\{[^{}]*\}|.", re.DOTALL)


def _translate(pattern: str) -> Iterator[str]:
    for token in _TOKEN.findall(pattern):
        if token == "**/":
            yield "(?:[^/]+/)*"
        elif token == "/**":
            yield "/.+"
        elif token.startswith("*"):
            yield ".*" if pattern == "**" else "[^/]*"
        elif token == "?":
            yield "[^/]"
        elif token.startswith("[") and len(token) > 2:
            body = token[1:-1].replace("\\", r"\\").replace("[", r"\[")
            yield f"[^/{body[1:]}]" if body[0] in "!^" else f"[{body}]"
        elif token.startswith("{") and len(token) > 1:
            choices = ("".join(_translate(choice)) for choice in token[1:-1].split(","))
            yield f"(?:{'|'.join(choices)})"
        else:
            yield re.escape(token)
