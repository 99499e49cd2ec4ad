"""Which folders hold sessions: found by their names, without reading any log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agent_tui.core.errors import AgentTuiError, SessionNotFound
from agent_tui.sessions.archive import LIVE
from agent_tui.sessions.disk import translate_os_errors

_LONGEST_NAME = 200


def projects_folder(root: Path) -> Path:
    """Where the sessions of all projects are, below the data folder."""
    return root / "projects"


def project_name(cwd: str) -> str:
    """The folder name of a project: its path with ``/`` as ``-``; long ones end in a hash."""
    name = cwd.replace("/", "-").replace("\0", "-").strip(".") or "-"
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    import hashlib  # seldom needed, and not at once loaded

    digest = hashlib.sha256(cwd.encode(errors="surrogateescape")).hexdigest()[:12]
    return f"{name.encode()[: _LONGEST_NAME - 13].decode(errors='ignore')}-{digest}"


def session_folders(
    projects: Path, unlisted: dict[Path, AgentTuiError] | None = None
) -> Iterator[Path]:
    """The folder of every session; ``unlisted`` takes the projects that cannot be listed.

    Raises:
        SessionReadOnly, StorageError: the folder of all projects cannot be listed.
    """
    return map(Path, filter(may_hold_log, folders_of_projects(projects, unlisted)))


def folders_of_projects(
    projects: Path, unlisted: dict[Path, AgentTuiError] | None = None
) -> Iterator[str]:
    """What may be a session's folder, as text: paths are slow, and there may be very many.

    Raises:
        SessionReadOnly, StorageError: the folder of all projects cannot be listed.
    """
    for project in subfolders(projects):
        try:
            yield from _list_folders(project)
        except AgentTuiError as error:
            if unlisted is not None:
                unlisted[project] = error


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder, by name; none where it is not there.

    Raises:
        SessionReadOnly, StorageError: it cannot be listed.
    """
    return list(map(Path, _list_folders(folder)))


def _list_folders(folder: Path) -> list[str]:
    try:
        with translate_os_errors("list", folder), os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except SessionNotFound:
        return []


def may_hold_log(folder: str) -> bool:
    """Whether a folder is a session's; one that cannot be looked into may be, and is reported."""
    try:
        os.lstat(f"{folder}/{LIVE}")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
