"""What opening the big lists costs: ten thousand messages, ten thousand sessions.

    python tests/benchmarks/panes.py

One JSON line each. Figures are CPU milliseconds of the whole process from the push of the screen
until its rows are on the screen, the stylesheets read before; ``late`` is how long the loop kept a
1 ms heartbeat waiting.
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from textual.screen import Screen

from agent_tui.core.summary import (
    AfterRow,
    CompactionReport,
    CompactionView,
    Loss,
    MessageFate,
    SessionGlance,
)
from agent_tui.ui.screens.compaction import PastCompactionScreen
from agent_tui.ui.screens.session_list import SessionListScreen
from agent_tui.ui.widgets.rows import Rows
from tests.ui.stage import Stage

COUNT = 10_000
SIZE = (120, 40)
RUNS = 5
SUMMARY = "## Current focus\n" + "The parser must handle nested quotes. " * 40


def look() -> CompactionView:
    """A compaction of very many messages with a full loss report."""
    before = tuple(
        MessageFate(
            index,
            f"key-{index}",
            ("user", "assistant", "tool")[index % 3],
            f"Message {index} says something about src/module_{index % 90}.py\nand more.",
            120,
            "kept" if index >= COUNT - 4 else "summarised",
        )
        for index in range(COUNT)
    )
    after = (AfterRow("user", SUMMARY, 400, None),)
    report = CompactionReport("manual", "last-messages", 120 * COUNT, 900, 4, COUNT - 4, 0, 1)
    losses = tuple(
        Loss("file", f"src/module_{n}.py", f"I changed src/module_{n}.py", n, 9.0)
        for n in range(200)
    )
    return CompactionView(before, after, SUMMARY, report, losses)


class Sessions:
    """Very many sessions, already read."""

    def __init__(self) -> None:
        self._all = [
            SessionGlance(
                f"s{n}",
                f"/s/{n}",
                f"Session {n} about the parser",
                f"/home/me/project-{n % 40}",
                "2026-01-01T00:00:00Z",
                f"2026-01-{1 + n % 28:02d}T00:00:00Z",
                n * 100,
                n % 4,
                f"Please look at part {n} of the parser",
            )
            for n in range(COUNT)
        ]

    async def list_sessions(self) -> list[SessionGlance]:
        return self._all

    async def rename_session(self, session_id: str, title: str) -> None:
        raise NotImplementedError

    async def delete_session(self, session_id: str) -> str:
        raise NotImplementedError

    async def undelete_session(self, token: str) -> None:
        raise NotImplementedError


async def drawn(rows: Rows) -> None:
    """Wait until the list has rows and the screen has been updated."""
    while not rows.count:  # noqa: ASYNC110
        await asyncio.sleep(0)
    done = asyncio.Event()
    rows.call_after_refresh(done.set)
    await done.wait()


async def heartbeat(late: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.001)
        late.append((time.perf_counter() - began) * 1e3 - 1)


async def measure(name: str, make: Callable[[], Screen[Any]], rows: str, limit: float) -> None:
    app = Stage()
    times: list[float] = []
    worst: list[float] = []
    async with app.run_test(size=SIZE) as pilot:
        for run in range(RUNS + 1):
            screen = make()
            late: list[float] = []
            gc.collect()
            gc.freeze()
            beat = asyncio.create_task(heartbeat(late))
            began = time.process_time()
            await app.push_screen(screen)
            await drawn(screen.query_one(rows, Rows))
            took = (time.process_time() - began) * 1e3
            await pilot.pause(0.1)
            beat.cancel()
            if run:
                times.append(took)
                worst.append(max(late))
            app.pop_screen()
            await pilot.pause()
    line = {"benchmark": name, "figure": round(median(times), 1), "unit": "CPU ms", "limit": limit}
    print(json.dumps(line | {"late_ms": round(median(worst), 1), "late_limit": 20}), flush=True)


async def main() -> None:
    view, sessions = look(), Sessions()

    async def load() -> CompactionView:
        return view

    await measure(f"compaction of {COUNT}", lambda: PastCompactionScreen(1, load), "#sides", 200)
    await measure(
        f"list of {COUNT} sessions", lambda: SessionListScreen(sessions), "#session-rows", 200
    )


if __name__ == "__main__":
    asyncio.run(main())
