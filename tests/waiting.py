"""Waiting in tests: until something happened, or until a screen has taken in what was done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.pilot import Pilot

PATIENCE_SECONDS = 60.0
"""How long what must come is waited for: on a busy machine it takes its time, and it is free."""

_AT_ONCE = 0.02


async def until(
    pilot: Pilot[Any] | None,
    happened: Callable[[], object],
    what: str | Callable[[], str] = "it never happened",
) -> None:
    """Wait until a condition holds, on a screen or (None) anywhere; ``what`` says what did not."""
    deadline = monotonic() + PATIENCE_SECONDS
    while not happened():
        await (pilot.pause(_AT_ONCE) if pilot is not None else asyncio.sleep(_AT_ONCE))
        assert monotonic() < deadline, what() if callable(what) else what


async def rest(pilot: Pilot[Any], seconds: float) -> None:
    """Let time pass for what waits for it, threads come to their ends, and the screen take it in.

    A pause by the clock alone ends before the work of a busy machine does.
    """
    await pilot.pause(seconds)
    workers = pilot.app.workers
    await until(pilot, lambda: all(each.is_finished for each in workers), "work never ended")
    await settle(pilot)


async def settle(pilot: Pilot[Any], *, workers: bool = False) -> None:
    """Let a screen take in what was done; with ``workers`` their work too."""
    if workers:
        await pilot.app.workers.wait_for_complete()
    for _ in range(4):
        await pilot.pause(_AT_ONCE)
