"""A file that another process writes is followed, through truncation and replacement."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent_tui.library.follow import follow_file
from tests.waiting import PATIENCE_SECONDS


@asynccontextmanager
async def followed(path: Path, since_ns: int | None = None) -> AsyncIterator[asyncio.Queue[None]]:
    told: asyncio.Queue[None] = asyncio.Queue()

    async def follow() -> None:
        async for _ in follow_file(path, since_ns):
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
        await asyncio.wait_for(told.get(), PATIENCE_SECONDS)
        path.write_text("")
        await asyncio.wait_for(told.get(), PATIENCE_SECONDS)
        other = tmp_path / "new"
        other.write_text("three\n")
        other.replace(path)
        await asyncio.wait_for(told.get(), PATIENCE_SECONDS)


async def test_what_happens_to_other_files_is_not_told(tmp_path: Path) -> None:
    path = tmp_path / "S.jsonl"
    path.write_text("one\n")
    async with followed(path) as told:
        (tmp_path / "other").write_text("x")
        await asyncio.sleep(1)
        assert told.empty()
        (tmp_path / "S.jsonl-wal").write_text("x")
        await asyncio.wait_for(told.get(), PATIENCE_SECONDS)


async def test_what_was_written_since_it_was_read_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "S.jsonl"
    path.write_text("one\n")
    await asyncio.sleep(0.1)
    read_ns = time.time_ns()
    async with followed(path, read_ns) as told:
        assert told.empty()
    with path.open("a") as file:
        file.write("two\n")
    async with followed(path, read_ns) as told:
        await asyncio.wait_for(told.get(), PATIENCE_SECONDS)
