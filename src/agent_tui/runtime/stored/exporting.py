"""Exports: a session's bytes in another format, and the private files they are written to."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from agent_tui.context.filters import ContextFilter, filter_records
from agent_tui.core.errors import StorageError, UsageError
from agent_tui.core.records import Record
from agent_tui.history.view import SessionView
from agent_tui.importers.registry import import_session
from agent_tui.library.exports.table import FORMATS, About
from agent_tui.library.redaction import Redactor, secret_values

_NOT_IN_NAMES = re.compile(r"[^\w.-]")
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Exported:
    """A session in another format; ``redacted`` says what was taken out, empty when nothing was."""

    content: bytes
    ending: str
    redacted: str


def export_records(
    form: str, records: Sequence[Record], about: About, part: ContextFilter | None = None
) -> Exported:
    """The records in another format, or a part of them, without secrets; call it in a thread.

    Raises:
        UsageError: there is no such format.
    """
    if form not in FORMATS:
        raise UsageError(f"Expected one of {', '.join(FORMATS)}, got {form!r}.")
    chosen = FORMATS[form]
    redactor = Redactor(secret_values(os.environ))
    pieces = chosen.export(filter_records(records, part) if part else records, about)
    content = b"".join(redactor.redact(piece.decode()).encode() for piece in pieces)
    return Exported(content, chosen.ending, redactor.report.sentence)


def export_file(path: Path, form: str, part: ContextFilter | None = None) -> Exported:
    """A session file of any known kind in another format; raises SessionError, StorageError."""
    found = import_session(path)
    of_context = form in FORMATS and FORMATS[form].of_context
    title = f"{found.title or found.path.name} · {found.source}"
    about = About(found.session_id, title, compactions=found.compactions)
    return export_records(form, found.context if of_context else found.records, about, part)


async def export_view(view: SessionView, form: str, part: ContextFilter | None = None) -> Exported:
    """What is looked at, or a part of it, in another format; raises UsageError."""
    about = About(view.session_id, view.title, view.token_count)
    return await asyncio.to_thread(export_records, form, view.records, about, part)


async def export_to(view: SessionView, form: str, folder: Path) -> tuple[Path, str]:
    """Write it to a new file in a folder; returns its path and what was redacted."""
    found = await export_view(view, form)
    stem = _file_name(view.session_id)
    path = await write_numbered(folder, stem, found.ending, found.content)
    return path, found.redacted


def _file_name(session_id: str) -> str:
    """An id as the name of a file, which leads nowhere else: another agent's log may say any.

    It may even be a secret.
    """
    safe = Redactor(secret_values(os.environ)).redact(session_id)
    name = _NOT_IN_NAMES.sub("_", safe).lstrip(".")
    return name[:_LONGEST_NAME] or "session"


async def write_numbered(folder: Path, stem: str, ending: str, content: bytes) -> Path:
    """Write a new private file under the first of ``stem``, ``stem-2``, … that is free."""
    import aiofiles.os

    names = (f"{stem}-{number}" if number > 1 else stem for number in count(1))
    for name in names:
        path = folder / f"{name}.{ending}"
        if not await aiofiles.os.path.exists(path):
            return await write_private(path, content)
    raise AssertionError  # there is no last number


async def write_private(path: Path, content: bytes) -> Path:
    """Write a new file that only its owner can read; an existing file is never overwritten.

    Raises:
        StorageError: the file exists, or the disk refused.
    """
    import aiofiles

    try:
        async with aiofiles.open(path, "xb", opener=_open_private) as file:
            await file.write(content)
    except FileExistsError:
        raise StorageError(f"{path} exists already; name another file or move it away.") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.") from None
    return path


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
