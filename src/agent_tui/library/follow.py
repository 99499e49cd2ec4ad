"""Following a file that another process writes: told by the system, at no cost while nothing is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from agent_tui.importers.listing import stamp_of

_STEP_MS = 50
_DEBOUNCE_MS = 400
_CLOCK_NS = 20_000_000
"""The times of files are taken from a clock that lags behind."""


async def follow_file(path: Path, since_ns: int | None = None) -> AsyncIterator[None]:
    """Yield whenever a file was written, truncated or replaced, and forever until cancelled.

    The folder is watched, so that a file that another takes the place of is still followed; the
    journal of a database counts as the database.

    Args:
        path: the file.
        since_ns: when it was last read, as time.time_ns gives it: what was written between then
            and the first look is told too. Without it, only what is written from now on.
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
    coming = asyncio.ensure_future(anext(changes))
    try:
        await asyncio.sleep(0)  # it is watched from here on
        if since_ns is not None and await asyncio.to_thread(_was_written, path, names, since_ns):
            yield
        while True:
            if any(Path(name).name in names for _, name in await coming):
                yield
            coming = asyncio.ensure_future(anext(changes))
    finally:
        coming.cancel()


def _was_written(path: Path, names: set[str], since_ns: int) -> bool:
    times = (stamp_of(path.with_name(name))[1] for name in names)
    return any(at > since_ns - _CLOCK_NS for at in times)
