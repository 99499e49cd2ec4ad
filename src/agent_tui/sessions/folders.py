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
    for project in subfolders(projects):
        try:
            folders = subfolders(project)
        except AgentTuiError as error:
            if unlisted is not None:
                unlisted[project] = error
            continue
        yield from filter(_may_hold_log, folders)


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder, by name; none where it is not there.

    Raises:
        SessionReadOnly, StorageError: it cannot be listed.
    """
    try:
        with translate_os_errors("Listing", folder), os.scandir(folder) as entries:
            # As texts: paths are slow to compare, and there may be tens of thousands.
            names = sorted(e.path for e in entries if e.is_dir(follow_symlinks=False))
            return [Path(name) for name in names]
    except SessionNotFound:
        return []


def _may_hold_log(folder: Path) -> bool:
    """Whether a folder is a session's; one that cannot be looked into may be, and is reported."""
    try:
        os.lstat(f"{folder}/{LIVE}")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
