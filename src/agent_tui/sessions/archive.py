"""The rotated logs of a session: ``context.jsonl.1``, ``.2`` and so on; numbers only grow."""

from __future__ import annotations

import os
import re
from pathlib import Path

from agent_tui.sessions.disk import spoken_errors

LIVE = "context.jsonl"
_NAME = re.compile(r"context\.jsonl\.([1-9][0-9]{0,17})")
_PART = re.compile(r"context\.jsonl\.[1-9][0-9]{0,17}\.part")


def archive_path(folder: Path, number: int) -> Path:
    """Where archive ``number`` of a session is, or would be."""
    return folder / f"{LIVE}.{number}"


def archive_numbers(folder: Path) -> list[int]:
    """The numbers in a folder, ascending, as the names tell."""
    found = (_NAME.fullmatch(name) for name in os.listdir(folder))
    return sorted(int(match.group(1)) for match in found if match)


def part_paths(folder: Path) -> list[Path]:
    """Copies that are on their way to become archives, on a file system without hard links."""
    return [folder / name for name in os.listdir(folder) if _PART.fullmatch(name)]


def finished_archives(folder: Path) -> list[int]:
    """The archives of a session: a name for the live log itself, left by a crash, is not one.

    Raises:
        SessionNotFound, SessionReadOnly, StorageError: the folder cannot be listed.
    """
    with spoken_errors("Listing the archives of", folder):
        numbers = archive_numbers(folder)
        try:
            live = os.lstat(folder / LIVE)
        except FileNotFoundError:
            return numbers
        if live.st_nlink == 1:
            return numbers
        return [n for n in numbers if os.lstat(archive_path(folder, n)).st_ino != live.st_ino]
