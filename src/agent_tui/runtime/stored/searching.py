"""The search index of this user: our sessions, and other agents' where they keep them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent_tui.core.errors import StorageError
from agent_tui.importers.importer import Places
from agent_tui.library.search.finding import SearchAnswer
from agent_tui.library.search.search_index import SearchIndex
from agent_tui.library.search.why import WritingCall
from agent_tui.library.statistics import Statistic
from agent_tui.runtime.stored.own_process import run_command

_NOT_UPDATED = "The search index could not be updated. Update it with: agent-tui index"


class SearchService:
    """Searches for a screen: answers come from a thread, the index is made in another process.

    Taking lines apart holds the interpreter's lock; in a process of its own it holds up nobody.
    """

    def __init__(self, home: Path, places: Places, *, of_demo: bool) -> None:
        self._index = SearchIndex(home, places)
        self._of_demo = ("--demo",) if of_demo else ()

    async def search(self, text: str, limit: int = 50) -> SearchAnswer:
        """The sessions that fit a query best; raises UsageError, StorageError."""
        return await asyncio.to_thread(self._index.search, text, limit)

    async def why(self, target: str, cwd: Path) -> list[WritingCall]:
        """Who wrote FILE or FILE:LINE; raises UsageError, StorageError."""
        return await asyncio.to_thread(self._index.why, target, cwd)

    async def statistics(self, by: str, since: str = "") -> list[Statistic]:
        """What was used and done, grouped; raises UsageError, StorageError."""
        return await asyncio.to_thread(self._index.statistics, by, since)

    async def update(self) -> None:
        """Bring the index up to date; raises StorageError with what the process said."""
        outcome = await run_command("index", "--json", *self._of_demo)
        if outcome.code:
            raise StorageError(outcome.trouble or _NOT_UPDATED)
