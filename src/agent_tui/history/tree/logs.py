"""Which logs a tree is made of: those of a session, and of the sessions beside it."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from agent_tui.core.dataclass import dataclass
from agent_tui.core.text import clean, first_line
from agent_tui.sessions.archive import LIVE, archive_path, finished_archives
from agent_tui.sessions.session_summary import read_session_summary

_TITLE_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Source:
    """One log that a tree is made of; ``archive`` is 0 for a live log, which may have a title."""

    session_id: str
    path: Path
    archive: int = 0
    title: str = ""


def session_sources(folder: Path) -> tuple[Source, ...]:
    """The logs of a session: its archives, then its live log."""
    archives = [
        Source(folder.name, archive_path(folder, number), number)
        for number in finished_archives(folder)
    ]
    return (*archives, Source(folder.name, folder / LIVE, title=_title_of(folder)))


def _title_of(folder: Path) -> str:
    """What people call a session; empty where nothing was said in it."""
    return first_line(clean(read_session_summary(folder).title), _TITLE_LENGTH)


def sources_of(own: Path, related: Sequence[Path]) -> tuple[list[Source], int]:
    """The logs of a session and of those beside it, and which of them is its live log."""
    folders = [*related]
    if own not in folders:  # it was moved or deleted since it was opened, or lies there twice
        folders = [*(folder for folder in folders if folder.name != own.name), own]
    sources = [source for folder in folders for source in session_sources(folder)]
    return sources, next(n for n, each in enumerate(sources) if each.path == own / LIVE)


def leave_out(sources: Sequence[Source], live: int) -> tuple[list[Source], int, tuple[str, ...]]:
    """The logs that can be read, which of them is live, and the names of those left out.

    A pipe, a folder or a link in place of an archive hides no other log. What is in place of the
    live log is kept: reading it says why it cannot be read.
    """
    kept = [n for n, each in enumerate(sources) if n == live or not _is_no_file(each.path)]
    others = [sources[n] for n in sorted({*range(len(sources))} - {*kept})]
    left_out = [f"{each.session_id}/{each.path.name}" for each in others]
    return [sources[n] for n in kept], kept.index(live), tuple(left_out)


def _is_no_file(path: Path) -> bool:
    try:
        return not stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False  # reading it says why
