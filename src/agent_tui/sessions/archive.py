"""The rotated logs of a session: ``context.jsonl.1``, ``.2`` and so on; numbers only grow."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from agent_tui.sessions.disk import translate_os_errors

LIVE = "context.jsonl"
_NAME = re.compile(r"context\.jsonl\.([1-9][0-9]{0,17})")
_MARKED = re.compile(r"context\.jsonl\.([1-9][0-9]{0,17})\.tmp")


def archive_path(folder: Path, number: int) -> Path:
    """The path of archive ``number`` of a session, existing or not."""
    return folder / f"{LIVE}.{number}"


def part_path(folder: Path, number: int) -> Path:
    """Where archive ``number`` is while it is being copied, without hard links."""
    return folder / f"{LIVE}.{number}.part"


def marked_path(folder: Path, number: int) -> Path:
    """Where the next live log waits while archive ``number`` is a copy of the present one."""
    return folder / f"{LIVE}.{number}.tmp"


def archive_numbers(folder: Path) -> list[int]:
    """The numbers in a folder, ascending, as the names tell."""
    return _numbers(folder, _NAME)


def marked_numbers(folder: Path) -> list[int]:
    """The archives that were made for a replacement that has not reached its commit."""
    return _numbers(folder, _MARKED)


def _numbers(folder: Path, form: re.Pattern[str]) -> list[int]:
    found = (form.fullmatch(name) for name in os.listdir(folder))
    return sorted(int(match.group(1)) for match in found if match)


def finished_archives(folder: Path) -> list[int]:
    """The archives of a session: a name or a copy that a crash left before its commit is not one.

    Raises:
        SessionNotFound, SessionReadOnly, StorageError: the folder cannot be listed.
    """
    with translate_os_errors("list the archives of", folder):
        marked = marked_numbers(folder)
        numbers = [number for number in archive_numbers(folder) if number not in marked]
        try:
            live = os.lstat(folder / LIVE)
        except FileNotFoundError:
            return numbers
        if live.st_nlink == 1:
            return numbers
        return [n for n in numbers if os.lstat(archive_path(folder, n)).st_ino != live.st_ino]


def removable_archives(folder: Path) -> list[int]:
    """The archives that are files: nothing else is deleted, nor kept in place of one.

    Raises:
        SessionNotFound, SessionReadOnly, StorageError: the folder cannot be listed.
    """
    numbers = finished_archives(folder)
    with translate_os_errors("list the archives of", folder):
        return [n for n in numbers if stat.S_ISREG(os.lstat(archive_path(folder, n)).st_mode)]
