"""Which folders the user trusts: nothing that a project ships is used before."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path

from agent_tui.config.reading import read_regular_file
from agent_tui.core.errors import StorageError
from agent_tui.places import data_root

_FILE = "trusted.json"
_LONGEST = 1_000_000
_SHIPPED = ("AGENTS.md", ".agents", ".agent-tui", ".mcp.json")
"""What a project may ship for agents: instructions, skills and commands, settings, servers."""


def project_root(folder: Path) -> Path:
    """The nearest repository of the same owner around a folder; the folder itself without one."""
    here = Path(os.path.realpath(folder))
    with suppress(OSError):
        owner = here.stat().st_uid
        for each in (here, *here.parents):
            if each.stat().st_uid != owner:
                break
            if os.path.lexists(each / ".git"):
                return each
    return here


def shipped_files(folder: Path) -> tuple[str, ...]:
    """What the project of a folder ships for agents, as paths from its root; reads none of it."""
    root = project_root(folder)
    parts = Path(os.path.realpath(folder)).relative_to(root).parts
    folders = [Path(*parts[:count]) for count in range(len(parts) + 1)]
    found = (each / name for each in folders for name in _SHIPPED)
    return tuple(str(path) for path in found if os.path.lexists(root / path))


def is_trusted(folder: Path) -> bool:
    """Whether the user said before that a folder's project may be used."""
    return str(project_root(folder)) in _trusted()


def trust_folder(folder: Path) -> None:
    """Remember that a folder's project may be used.

    Raises:
        StorageError: it could not be written down.
    """
    path = data_root() / _FILE
    temporary = path.with_name(f".{_FILE}.{secrets.token_hex(4)}")
    text = json.dumps(sorted({*_trusted(), str(project_root(folder))}), indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        temporary.replace(path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.") from error


def _trusted() -> set[str]:
    try:
        found = json.loads(read_regular_file(data_root() / _FILE, _LONGEST))
    except (OSError, ValueError, RecursionError):
        return set()
    return {each for each in found if isinstance(each, str)} if isinstance(found, list) else set()
