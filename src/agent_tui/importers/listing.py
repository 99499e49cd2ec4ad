"""Finding session files, and rows of the session list made from the ends of a file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    ModelRecord,
    Record,
    SessionHeader,
    TitleRecord,
    is_prompt,
)
from agent_tui.core.summary import SessionSummary
from agent_tui.core.text import first_line, reveal
from agent_tui.core.times import known_time, time_of_file
from agent_tui.importers.importer import SessionRef

Stamp = tuple[int, int, int]


def stamp_of(path: Path) -> Stamp:
    """Size, modification time and inode of a file; zeros where it cannot be looked at."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return (0, 0, 0)
    return (status.st_size, status.st_mtime_ns, status.st_ino)


def file_refs(source: str, root: Path, *patterns: str) -> Iterator[SessionRef]:
    """The files below a folder that fit one of the patterns; none where it cannot be listed.

    A pattern names one part of the path after another: ``*/chats/session-*.json``.
    """
    for pattern in patterns:
        for path, status in _fitting(str(root), pattern.split("/")):
            stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
            if status.st_size:
                yield SessionRef(source, Path(path), stamp=stamp)


def _fitting(folder: str, parts: Sequence[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Regular files by their path below a folder, which is never left through a link."""
    part, rest = parts[0], parts[1:]
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except (OSError, ValueError):
        return
    for entry in entries:
        if not fnmatchcase(entry.name, part):
            continue
        try:
            if rest and entry.is_dir(follow_symlinks=False):
                yield from _fitting(entry.path, rest)
            elif not rest and entry.is_file(follow_symlinks=False):
                yield entry.path, entry.stat(follow_symlinks=False)
        except OSError:
            continue  # it went meanwhile


def list_folder(folder: Path) -> list[Path]:
    """What a folder holds, by name; nothing where it is missing or cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries)
    except (OSError, ValueError):
        return []


def summary_of(
    ref: SessionRef,
    records: Iterable[Record],
    *,
    session_id: str = "",
    cwd: str = "",
    title: str = "",
    archives: int = 0,
) -> SessionSummary:
    """A row made of the records at both ends of a session; what is given here wins."""
    header, model, named, prompt = None, "", "", ""
    times: list[str] = []
    for record in records:
        if at := known_time(record.stamp.at):
            times.append(at)
        if isinstance(record, SessionHeader):
            header = header or record
        elif isinstance(record, TitleRecord):
            named = record.title
        elif isinstance(record, ModelRecord):
            model = record.model
        elif not prompt and is_prompt(record):
            prompt = first_line(text_of(record.content), 200)
        elif (answered := getattr(record, "model", None)) and isinstance(answered, str):
            model = answered
    written = file_time(ref)
    return SessionSummary(
        session_id=session_id or (header.session_id if header else ref.path.stem),
        folder=str(ref.path) + (f"#{ref.key}" if ref.key else ""),
        title=first_line(title or named or prompt),
        cwd=cwd or (header.cwd if header else ""),
        created_at=known_time(header.created_at if header else "") or [*times, written][0],
        updated_at=max(times) if times else written,
        size_bytes=ref.stamp[0],
        archives=archives,
        first_prompt=prompt,
        model=model,
        source=ref.source,
    )


def file_time(ref: SessionRef) -> str:
    """When the session's file was last written, RFC 3339 in UTC."""
    return time_of_file(ref.stamp[1] / 1e9)


def unreadable_summary(ref: SessionRef, error: AgentTuiError) -> SessionSummary:
    """The row of a session that cannot be read: its title says why, and no path before that."""
    path = reveal(str(ref.path))
    why = str(error).removeprefix(f"{path} ").replace(path, ref.path.name)
    return summary_of(ref, (), title=f"unreadable: {why}")


def shell_command(cwd: str, *words: str) -> str:
    """A command that runs in a session's folder, quoted for a shell."""
    command = shlex.join(words)
    if not cwd:
        return command
    dash = "-- " if cwd.startswith("-") else ""
    return f"cd {dash}{shlex.quote(cwd)} && {command}"
