"""Finishing what must not be left half done, even while the task is being cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def settle(work: Coroutine[Any, Any, Result]) -> Result:
    """Await ``work`` to its end whatever is cancelled meanwhile; the cancellation goes on after."""
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
