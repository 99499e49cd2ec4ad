"""Following a file that another process writes: told by the system, at no cost while nothing is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

_STEP_MS = 50
_DEBOUNCE_MS = 400


async def follow_file(path: Path) -> AsyncIterator[None]:
    """Yield whenever a file was written, truncated or replaced, and forever until cancelled.

    The folder is watched, so that a file that another takes the place of is still followed; the
    journal of a database counts as the database.
    """
    from watchfiles import awatch

    names = {path.name, f"{path.name}-wal"}
    changes = awatch(
        path.parent,
        watch_filter=None,
        recursive=False,
        step=_STEP_MS,
        debounce=_DEBOUNCE_MS,
    )
    async for changed in changes:
        if any(Path(name).name in names for _, name in changed):
            yield
