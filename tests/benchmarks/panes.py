"""What opening the big lists costs: ten thousand messages, ten thousand sessions.

    python -m tests.benchmarks.panes

One JSON line each. Figures are CPU milliseconds of the whole process from the push of the screen
until its rows are on the screen, the stylesheets read before. ``held`` is the CPU time of the loop
between two beats of a 1 ms heartbeat, ``late`` what that beat had to wait by the clock, which other
programs lengthen; both are the worst of an opening. ``times_empty`` compares with a screen that has
nothing on it, opened in the same run. All are medians.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from agent_tui.core.summary import (
    AfterRow,
    CompactionReport,
    CompactionView,
    Loss,
    MessageFate,
    SessionSummary,
)
from agent_tui.history.exchanges import Exchange
from agent_tui.ui.screens.context.compaction import PastCompactionScreen
from agent_tui.ui.screens.sessions.session_list import SessionListScreen
from agent_tui.ui.widgets.lists.rows import Rows
from tests.ui.stage import Stage

COUNT = 10_000
SIZE = (120, 40)
RUNS = 15
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
            SessionSummary(
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

    async def last_exchanges(self, summary: SessionSummary) -> tuple[Exchange, ...]:
        return (Exchange(summary.first_prompt, "An answer."),)

    async def growing_list(self) -> AsyncIterator[list[SessionSummary]]:
        yield self._all

    async def rename_session(self, session_id: str, title: str) -> None:
        raise NotImplementedError

    async def delete_session(self, session_id: str) -> str:
        raise NotImplementedError

    async def undelete_session(self, token: str) -> None:
        raise NotImplementedError


@dataclass
class Opening:
    """What was measured of one screen, a figure for each run."""

    make: Callable[[], Screen[Any]]
    cpu_ms: list[float] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)
    held_ms: list[float] = field(default_factory=list)


async def drawn(screen: Screen[Any]) -> None:
    """Wait until every list has its rows and the screen has been updated."""
    while not all(rows.count for rows in screen.query(Rows)):  # noqa: ASYNC110
        await asyncio.sleep(0)
    done = asyncio.Event()
    screen.call_after_refresh(done.set)
    await done.wait()


async def heartbeat(late: list[float], held: list[float]) -> None:
    while True:
        began, cpu = time.perf_counter(), time.thread_time()
        await asyncio.sleep(0.001)
        late.append((time.perf_counter() - began) * 1e3 - 1)
        held.append((time.thread_time() - cpu) * 1e3)


async def open_once(pilot: Pilot[None], opening: Opening) -> None:
    screen = opening.make()
    late: list[float] = []
    held: list[float] = []
    gc.collect()
    gc.freeze()
    await pilot.pause(0.05)
    beat = asyncio.create_task(heartbeat(late, held))
    began = time.process_time()
    await pilot.app.push_screen(screen)
    await drawn(screen)
    opening.cpu_ms.append((time.process_time() - began) * 1e3)
    await pilot.pause(0.1)
    beat.cancel()
    opening.late_ms.append(max(late))
    opening.held_ms.append(max(held))
    pilot.app.pop_screen()
    await pilot.pause()


async def main() -> None:
    sys.setswitchinterval(0.0005)  # both as the program does
    gc.set_threshold(20_000, 20, 100)
    view, sessions = look(), Sessions()

    async def load() -> CompactionView:
        return view

    openings = {
        "an empty screen": Opening(Screen),
        f"compaction of {COUNT}": Opening(lambda: PastCompactionScreen(1, load)),
        f"list of {COUNT} sessions": Opening(lambda: SessionListScreen(sessions)),
    }
    async with Stage().run_test(size=SIZE) as pilot:
        for run in range(RUNS + 1):
            for name, opening in list(openings.items()):
                await open_once(pilot, opening)
                if not run:  # stylesheets are read, and much is done for the first time
                    openings[name] = Opening(opening.make)
    floor = median(openings["an empty screen"].cpu_ms)
    for name, opening in openings.items():
        figure = median(opening.cpu_ms)
        line = {"benchmark": name, "figure": round(figure, 1), "unit": "CPU ms", "limit": 200}
        line |= {"held_ms": round(median(opening.held_ms), 1), "held_limit": 20}
        line |= {"late_ms": round(median(opening.late_ms), 1)}
        print(json.dumps(line | {"times_empty": round(figure / floor, 1)}), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
