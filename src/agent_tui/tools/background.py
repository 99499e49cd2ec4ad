"""Blocking work off the event loop that never outlives the task that asked for it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from threading import Event
from typing import TypeVar

Result = TypeVar("Result")

_MOST_AT_ONCE = 16


class StopSignal(Event):
    """An event that also wakes whoever waits for a file: see ``waking``."""

    def __init__(self) -> None:
        super().__init__()
        self._wakes: socket.socket | None = None

    def set(self) -> None:
        super().set()
        if self._wakes is not None:
            with suppress(OSError):  # nobody waits any longer
                self._wakes.send(b"!")

    @contextmanager
    def waking(self) -> Iterator[socket.socket]:
        """Something to select on, which can be read from the moment of the signal."""
        woken, self._wakes = socket.socketpair()
        with woken, self._wakes:
            if self.is_set():
                self._wakes.send(b"!")
            yield woken


async def run_off_loop(work: Callable[[Event], Result]) -> Result:
    """Run ``work`` in a thread and wait for it.

    When the task is cancelled, the event given to ``work`` is set, the work is waited for until
    it has settled, and only then is the cancellation raised: nothing continues behind the caller.
    """
    stop = StopSignal()
    future = asyncio.get_running_loop().run_in_executor(threads(), work, stop)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stop.set()
        await _settle(future)
        raise


async def run_to_its_end(work: Awaitable[Result]) -> Result:
    """Wait for ``work``; a cancellation is raised only when it has settled, as in run_off_loop."""
    future = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await _settle(future)
        raise


async def _settle(future: asyncio.Future[Result]) -> None:
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            continue
    if not future.cancelled():
        future.exception()


@cache
def threads() -> ThreadPoolExecutor:
    """The tools' own threads: a command that runs for minutes must not starve anyone else's."""
    return ThreadPoolExecutor(_MOST_AT_ONCE, thread_name_prefix="tool")
