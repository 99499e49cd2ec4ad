"""A file that another process writes is followed, through truncation and replacement."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent_tui.library.follow import follow_file


@asynccontextmanager
async def followed(path: Path) -> AsyncIterator[asyncio.Queue[None]]:
    told: asyncio.Queue[None] = asyncio.Queue()

    async def follow() -> None:
        async for _ in follow_file(path):
            told.put_nowait(None)

    task = asyncio.create_task(follow())
    await asyncio.sleep(0.5)  # until the folder is watched
    yield told
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_writing_truncating_and_replacing_are_told(tmp_path: Path) -> None:
    path = tmp_path / "S.jsonl"
    path.write_text("one\n")
    async with followed(path) as told:
        with path.open("a") as file:
            file.write("two\n")
        await asyncio.wait_for(told.get(), 20)
        path.write_text("")
        await asyncio.wait_for(told.get(), 20)
        other = tmp_path / "new"
        other.write_text("three\n")
        other.replace(path)
        await asyncio.wait_for(told.get(), 20)


async def test_what_happens_to_other_files_is_not_told(tmp_path: Path) -> None:
    path = tmp_path / "S.jsonl"
    path.write_text("one\n")
    async with followed(path) as told:
        (tmp_path / "other").write_text("x")
        await asyncio.sleep(1)
        assert told.empty()
        (tmp_path / "S.jsonl-wal").write_text("x")
        await asyncio.wait_for(told.get(), 20)
