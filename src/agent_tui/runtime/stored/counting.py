"""How many messages a session holds: the number that it shows when it is open."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.summary import OURS, SessionSummary
from agent_tui.importers.listing import stamp_of
from agent_tui.importers.registry import describe
from agent_tui.library.row_cache import RowCache
from agent_tui.runtime.stored.own_process import run_command
from agent_tui.sessions.archive import LIVE
from agent_tui.sessions.index import LogIndex

_COUNTED_BYTES = 16 << 20
_MOST_LOOKED_THROUGH = 1 << 30
_PIECE_BYTES = 8 << 20


class MessageCounts:
    """Counts by need; what another process counted is kept until the file changes.

    Args:
        cache: where that is kept.
    """

    def __init__(self, cache: RowCache) -> None:
        self._cache = cache

    async def count(self, summary: SessionSummary) -> int | None:
        """The messages of a session; None where its log cannot be read, or is much too long.

        Those of a long log of ours are counted by how its lines begin. A long log of another agent
        has to be read whole, since one message may be several lines of it, and is by a process.
        """
        if summary.size_bytes > _MOST_LOOKED_THROUGH:
            return None
        path = Path(summary.folder) / LIVE if summary.source == OURS else Path(summary.folder)
        if summary.size_bytes <= _COUNTED_BYTES:
            return await asyncio.to_thread(_count_here, path)
        if summary.source == OURS:
            return await _count_lines(path)
        return await self._count_apart(summary)

    async def _count_apart(self, summary: SessionSummary) -> int | None:
        name, stamp = summary.folder, await asyncio.to_thread(_stamp_of, summary)
        if (known := await asyncio.to_thread(self._cache.count_of, name, stamp)) is not None:
            return known
        outcome = await run_command("open", name, "--json")
        if outcome.code:
            return None
        count = int(json.loads(outcome.printed)["messages"])
        await asyncio.to_thread(self._cache.keep_count, name, stamp, count)
        return count


def _count_here(path: Path) -> int | None:
    try:
        return int(describe(path)["messages"])
    except AgentTuiError:
        return None


async def _count_lines(path: Path) -> int | None:
    """The messages of a long log of ours; reading stops as soon as nobody waits for the count."""
    try:
        index = await asyncio.to_thread(LogIndex, path)
        while await asyncio.to_thread(index.grow, _PIECE_BYTES):
            pass
    except (AgentTuiError, OSError):
        return None
    return index.count_messages()


def _stamp_of(summary: SessionSummary) -> str:
    """A stamp that changes with the file, which may hold several sessions: ``FILE#KEY``."""
    path = Path(summary.folder)
    if not path.exists():
        path = path.with_name(path.name.rpartition("#")[0] or path.name)
    return " ".join(map(str, stamp_of(path)))
