"""A folder that a session works in: its name for people, its branch, and its files."""

from __future__ import annotations

import asyncio
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.workspace.where import Place, Where

if TYPE_CHECKING:
    from agent_tui.runtime.starting.completion import FileList


class WorkingFolder:
    """Where tools work; for a session of another project not where the run began."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place = Place(path)

    async def where(self) -> Where:
        """Where this is, for people; the branch may have changed since it was asked last."""
        return await asyncio.to_thread(self._place.describe)

    async def has_moved(self) -> bool:
        """Whether the branch may have changed since ``where`` was called; runs no git."""
        return await asyncio.to_thread(self._place.has_moved)

    @cached_property
    def _files(self) -> FileList:
        from agent_tui.runtime.starting.completion import FileList  # not before one is asked for

        return FileList(self.path)

    def complete_path(self, typed: str) -> list[str]:
        """Paths of the folder that hold what was typed; blocks, so call it in a thread."""
        return self._files.matching(typed)
