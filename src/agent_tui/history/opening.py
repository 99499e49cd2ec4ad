"""A log or session file of any known kind, opened to be looked at."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.history.view import SessionView

if TYPE_CHECKING:
    from agent_tui.importers.imported import ImportedChild
    from agent_tui.importers.kept_lines import KeptLines


@dataclass(frozen=True, slots=True)
class NewerView:
    """A session read again; ``was_rewritten``: what was read before is no longer in its file."""

    view: SessionView
    was_rewritten: bool = False


async def open_view(path: Path, kept: KeptLines | None = None) -> SessionView:
    """A log or session file of any known kind; of lines that are kept, only new ones are read.

    Raises:
        SessionError, StorageError: it cannot be read; the sentence says why.
    """
    return await asyncio.to_thread(_open, path, kept)


async def open_view_tail(path: Path) -> SessionView | None:
    """The end of a file, to be shown while ``open_view`` reads it; None where that is quick.

    Raises:
        SessionError, StorageError: it cannot be read; the sentence says why.
    """
    from agent_tui.history.sources.file_source import open_tail

    source = await asyncio.to_thread(open_tail, path)
    return SessionView(source) if source is not None else None


async def open_child(child: ImportedChild, path: Path) -> SessionView:
    """The session of a subagent that stands in the file of another, at ``path``."""
    return await asyncio.to_thread(_open_child, child, path)


def _open_child(child: ImportedChild, path: Path) -> SessionView:
    from agent_tui.history.sources.file_source import ChildSource

    source = ChildSource(child, path)
    _ = source.contents.token_count  # counted here rather than on the event loop
    return SessionView(source)


def _open(path: Path, kept: KeptLines | None) -> SessionView:
    from agent_tui.history.sources.file_source import open_source

    with kept.used() if kept is not None else nullcontext():
        source = open_source(path)
    _ = source.contents.token_count  # counted here rather than on the event loop
    return SessionView(source)
