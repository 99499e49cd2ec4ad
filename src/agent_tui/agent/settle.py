"""Finishing what must not be left half done, even while the task is being cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def settle(work: Coroutine[Any, Any, Result]) -> Result:
    """Await ``work`` to its end even if cancelled; the cancellation is raised after it."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():
                raise
            cancelled = error
        except BaseException:
            break
    result = task.result()
    if cancelled is not None:
        raise cancelled
    return result


async def run_together(*works: Coroutine[Any, Any, Result]) -> list[Result]:
    """Await all at once; when one fails or the task is cancelled, the others have ended first."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
