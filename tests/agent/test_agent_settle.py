"""What must not be left half done is finished first, however often the task is cancelled."""

import asyncio

import pytest

from agent_tui.agent.settle import settle


async def test_cancelled_work_is_finished_before_the_cancellation_goes_on() -> None:
    done: list[str] = []

    async def write() -> None:
        await asyncio.sleep(0.05)
        done.append("written")

    task = asyncio.create_task(settle(write()))
    for _ in range(3):
        await asyncio.sleep(0.005)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["written"]


async def test_the_result_and_the_failure_of_the_work_are_its_own() -> None:
    async def answer() -> int:
        return 7

    async def fail() -> None:
        raise OSError("disk")

    assert await settle(answer()) == 7
    with pytest.raises(OSError, match="disk"):
        await settle(fail())
