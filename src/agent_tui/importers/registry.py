"""Which agent wrote a file: told by its content, never by its name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_tui.core.errors import (
    AgentTuiError,
    SessionError,
    SessionNotFound,
    StorageError,
)
from agent_tui.core.memory import gc_paused
from agent_tui.core.summary import SessionSummary
from agent_tui.core.text import reveal
from agent_tui.importers.claude_code import CLAUDE_IMPORTER
from agent_tui.importers.clawdcode import CLAWDCODE_IMPORTER
from agent_tui.importers.codex import CODEX_IMPORTER
from agent_tui.importers.flat_pi import FLAT_IMPORTER
from agent_tui.importers.gemini import GEMINI_IMPORTER
from agent_tui.importers.heads import read_head, tell_too_long
from agent_tui.importers.imported import ImportedSession, ImportedTail, count_findings
from agent_tui.importers.importer import Importer, Places, SessionRef
from agent_tui.importers.kimi import KIMI_IMPORTER, OUR_IMPORTER
from agent_tui.importers.lines import ZSTD, open_to_read
from agent_tui.importers.listing import stamp_of, unreadable_summary
from agent_tui.importers.openai_lines import OPENAI_IMPORTER
from agent_tui.importers.opencode import OPENCODE_IMPORTER
from agent_tui.importers.pi import PI_IMPORTER
from agent_tui.importers.vibe import VIBE_IMPORTER

IMPORTERS: tuple[Importer, ...] = (
    OUR_IMPORTER,
    CLAWDCODE_IMPORTER,
    CLAUDE_IMPORTER,
    CODEX_IMPORTER,
    GEMINI_IMPORTER,
    OPENCODE_IMPORTER,
    FLAT_IMPORTER,
    PI_IMPORTER,
    VIBE_IMPORTER,
    KIMI_IMPORTER,
    OPENAI_IMPORTER,
)
"""Asked in this order: an importer that looks at less stands behind those that look at more."""


def importer_of(source: str) -> Importer:
    """The importer of a name; raises SessionError."""
    for importer in IMPORTERS:
        if importer.source == source:
            return importer
    known = ", ".join(importer.source for importer in IMPORTERS)
    raise SessionError(f"There is no importer {source!r}; there are: {known}.")


def recognise(path: Path) -> Importer | None:
    """The importer that can read a file or folder, or None; looks at its beginning.

    Raises:
        SessionError: the file is missing or cannot be read.
    """
    head = read_head(path)
    return next((importer for importer in IMPORTERS if importer.recognise(head)), None)


def discover(places: Places) -> Iterator[SessionRef]:
    """Every session that the known agents keep on this machine."""
    for importer in IMPORTERS:
        yield from importer.discover(places)


def locate(path: Path) -> SessionRef:
    """A session by the path of its file or folder; ``FILE#KEY`` names one of several in a file.

    Raises:
        SessionError: there is nothing to read there; the sentence says why.
        StorageError: the system refused to read it.
    """
    path, key = _split_key(path.expanduser())
    shown = reveal(str(path))
    try:
        path = _log_in(path)
        importer = recognise(path)
        if importer is not None:
            return SessionRef(importer.source, path, key, stamp_of(path))
        if path.is_dir():
            names = " or ".join(_LOG_NAMES)
            raise SessionNotFound(f"There is no {names} in the folder {shown}.")
        raise SessionError(_why_none(path, shown))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise StorageError(f"{shown} cannot be read: {why}.") from error


def _why_none(path: Path, shown: str) -> str:
    """Why a file is no session, in a sentence."""
    if path.stat().st_size == 0:
        return f"{shown} is empty: there is no session in it."
    with open_to_read(path) as file:
        start = file.read(len(ZSTD))
    if start.startswith(_GZIP):
        command = f"gunzip < {reveal(shlex.quote(str(path)))} > session.jsonl"
        return f"{shown} is compressed with gzip. Unpack it first: {command}"
    if start == ZSTD and not read_head(path).start:
        return f"{shown} is damaged: nothing of this compressed file can be unpacked."
    if too_long := tell_too_long(path):
        return f"{shown} begins with {too_long}, too long for agent-tui to read."
    known = ", ".join(importer.name for importer in IMPORTERS)
    return f"{shown} is not a session log that agent-tui knows; it knows those of {known}."


_GZIP = b"\x1f\x8b"


def import_session(path: Path) -> ImportedSession:
    """Read a session from a log of any known kind, or from a folder that holds one.

    Raises:
        SessionError: there is nothing to read there; the sentence says why.
        StorageError: the system refused to read it.
    """
    return read(locate(path))


def read(ref: SessionRef) -> ImportedSession:
    """Read a session that was found; raises SessionError, StorageError."""
    try:
        with gc_paused(stamp_of(ref.path)[0], stays=False):
            return importer_of(ref.source).read(ref)
    except OSError as error:
        shown = reveal(str(ref.path))
        raise StorageError(f"{shown} cannot be read: {error.strerror}.") from error


def describe(path: Path) -> dict[str, Any]:
    """What the session at a path holds, in numbers, and the command that resumes it.

    Raises:
        SessionError, StorageError: it cannot be read; the sentence says why.
    """
    session = import_session(path)
    return {**count_findings(session), "resume": resume_command(session)}


def resume_command(session: ImportedSession) -> str:
    """The command that resumes a session in the agent that wrote it; empty where there is none.

    An id that could be read as an option, or a folder with invisible characters, gives none.
    """
    if not _PLAIN_ID.fullmatch(session.session_id) or not session.cwd.isprintable():
        return ""
    return importer_of(session.source).resume(session.session_id, session.cwd)


_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def read_tail(ref: SessionRef, count: int) -> ImportedTail:
    """About the last ``count`` records of a session, without reading the rest where that can be.

    Raises:
        SessionError, StorageError: it cannot be read.
    """
    importer = importer_of(ref.source)
    if importer.read_tail is None:
        return ImportedTail(read(ref).records, is_whole=True)
    return importer.read_tail(ref, count)


def summarise(ref: SessionRef) -> SessionSummary:
    """A row of the session list; one that cannot be read says so in its title."""
    try:
        return importer_of(ref.source).summarise(ref)
    except AgentTuiError as error:
        return unreadable_summary(ref, error)
    except OSError as error:
        return unreadable_summary(ref, StorageError(str(error.strerror)))


def _split_key(path: Path) -> tuple[Path, str]:
    name, mark, key = path.name.rpartition("#")
    if mark and name and not path.exists():
        return path.with_name(name), key
    return path, ""


_LOG_NAMES = ("context.jsonl", "messages.jsonl")


def _log_in(path: Path) -> Path:
    """The log that a folder holds; the folder itself where it holds none of a known name."""
    if not path.is_dir():
        return path
    return next((log for name in _LOG_NAMES if (log := path / name).exists()), path)
