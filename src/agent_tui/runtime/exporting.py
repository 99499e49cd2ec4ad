"""Exports: a session's bytes in another format, and the private files they are written to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

from agent_tui.core.errors import StorageError
from agent_tui.core.records import Record
from agent_tui.importers.registry import import_session
from agent_tui.library.export import export_kimi, export_markdown

ExportForm: TypeAlias = Literal["kimi", "markdown"]
EXPORT_ENDINGS: dict[ExportForm, str] = {"kimi": "jsonl", "markdown": "md"}


def write_export(
    form: ExportForm, records: Sequence[Record], title: str, token_count: int | None = None
) -> bytes:
    """The records in another format; takes longer for big sessions, so call it in a thread."""
    if form == "kimi":
        return b"".join(export_kimi(records, token_count))
    return b"".join(export_markdown(records, title))


def export_file(path: Path, form: ExportForm) -> bytes:
    """A session file of any known kind in another format; raises SessionError, StorageError."""
    found = import_session(path)
    records = found.context if form == "kimi" else found.records
    title = f"{found.title or found.path.name} · {found.source}"
    return write_export(form, records, title)


def write_numbered(folder: Path, stem: str, ending: str, content: bytes) -> Path:
    """Write a new private file under the first of ``stem``, ``stem-2``, … that is free."""
    names = (f"{stem}-{number}" if number > 1 else stem for number in count(1))
    paths = (folder / f"{name}.{ending}" for name in names)
    return write_private(next(path for path in paths if not path.exists()), content)


def write_private(path: Path, content: bytes) -> Path:
    """Write a new file that only its owner can read; an existing file is never overwritten.

    Raises:
        StorageError: the file exists, or the disk refused.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise StorageError(f"{path} exists already; name another file or move it away.") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError as error:
        raise StorageError(f"{path} could not be written whole: {error.strerror}.") from None
    return path
