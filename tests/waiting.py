"""Waiting in tests: until something happened, or until a screen has taken in what was done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any

from textual.pilot import Pilot

_SECONDS = 30.0
_AT_ONCE = 0.02


async def until(
    pilot: Pilot[Any] | None,
    happened: Callable[[], object],
    what: str | Callable[[], str] = "it never happened",
) -> None:
    """Wait until a condition holds, on a screen or (None) anywhere; ``what`` says what did not."""
    deadline = monotonic() + _SECONDS
    while not happened():
        await (pilot.pause(_AT_ONCE) if pilot is not None else asyncio.sleep(_AT_ONCE))
        assert monotonic() < deadline, what() if callable(what) else what


async def settle(pilot: Pilot[Any], *, workers: bool = False) -> None:
    """Let a screen take in what was done; with ``workers`` their work too."""
    if workers:
        await pilot.app.workers.wait_for_complete()
    for _ in range(4):
        await pilot.pause(_AT_ONCE)
