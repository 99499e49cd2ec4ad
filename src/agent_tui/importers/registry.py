"""Which agent wrote a file: told by its content, never by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from agent_tui.core.errors import SessionError, StorageError
from agent_tui.core.text import reveal
from agent_tui.importers import kimi, pi
from agent_tui.importers.imported import ImportedSession
from agent_tui.importers.lines import read_objects

Importer = Callable[[Path], ImportedSession]

_LINES_LOOKED_AT = 200
_IMPORTERS: tuple[tuple[Callable[[Iterable[dict[str, Any]]], bool], Importer], ...] = (
    (kimi.is_kimi, kimi.read_session),
    (pi.is_pi, pi.read_session),
)


def recognise(path: Path) -> Importer | None:
    """The importer that can read a file, or None; looks at its first lines.

    Raises:
        SessionError: the file is missing or cannot be read.
    """
    head = list(islice(read_objects(path), _LINES_LOOKED_AT))
    objects = [value for value in head if value is not None]
    for fits, importer in _IMPORTERS:
        if fits(objects):
            return importer
    return None


def import_session(path: Path) -> ImportedSession:
    """Read a session from a log of any known kind, or from a folder that holds one.

    Raises:
        SessionError: there is nothing to read there; the sentence says why.
        StorageError: the system refused to read it.
    """
    path = path.expanduser()
    try:
        if path.is_dir():
            path = path / "context.jsonl"
        importer = recognise(path)
        if importer is not None:
            return importer(path)
        empty = path.stat().st_size == 0
    except OSError as error:
        shown = reveal(str(path))
        raise StorageError(f"{shown} cannot be read: {error.strerror}.") from error
    shown = reveal(str(path))
    if empty:
        raise SessionError(f"{shown} is empty: there is no session in it.")
    raise SessionError(
        f"{shown} is not a session log that agent-tui knows: no line of it is a record of "
        "agent-tui, kimi or pi."
    )
