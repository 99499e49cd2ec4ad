"""What the timeline costs: paging, streaming, resizing, memory. One JSON line each, with its limit.

    python tests/benchmarks/timeline.py [--quick]

Times are CPU milliseconds of the whole process, screen update included: they do not depend on what
else the machine does (but swell when all cores are taken). This is the widget alone; the program,
over HTTP in a pty, is measured by ``keys.py``, ``turns.py`` and ``ui.py``. Pages come as fast as a
held key sends them; the timeline draws ahead meanwhile. ``late`` is how long the event loop kept a
1 ms heartbeat waiting.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from statistics import median, quantiles

from textual.app import ComposeResult

from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.resources import stylesheet
from agent_tui.ui.themes.theme import DARK
from agent_tui.ui.themes.themed import ThemedApp
from agent_tui.ui.widgets.timeline.timeline import Timeline

SIZE = (120, 40)
KEY_REPEAT_SECONDS = 0.04
ANSWER = (
    "I looked at **`parser.py`** and found *two* problems in [the lexer](https://example.org).\n\n"
    "1. The token is read twice, once in `peek()` and once in `next()`\n"
    "2. The error is raised with the wrong line\n\n"
    "```python\ndef peek(self):\n    if self._position >= len(self._tokens):\n"
    "        return None\n    return self._tokens[self._position]\n```\n\n"
    "Both are a consequence of the same mistake, made when the function was split in two.\n"
)
PIECES: dict[str, Callable[[int], str]] = {
    "prose": lambda n: (
        f"Sentence {n} tells of **things** and `names`, one after the other."
        + ("\n\n" if n % 5 == 4 else " ")
    ),
    "fence": lambda n: f"    value_{n} = compute(first={n}, second='text')  # remark {n}\n",
    "list": lambda n: f"- item {n} with some *words* that say `what` it is about\n",
    "table": lambda n: f"| row {n} | `value` {n * 17} | what it **means** |\n",
}
HEADS = {
    "prose": "",
    "fence": "```python\n",
    "list": "",
    "table": "| Name | Value | Meaning |\n|---|---:|---|\n",
}


class Repeated(Sequence[Record]):
    """Very many records that take no memory: a round of a few, over and over."""

    def __init__(self, count: int) -> None:
        call = ToolCall("a", "read_file", '{"path": "src/parser.py"}')
        self._count = count
        self._round: list[Record] = [
            Checkpoint(0, 1, 0),
            UserMessage("Please find out why the test fails, and fix it.", "human", 1),
            Checkpoint(1, 1, 1),
            AssistantMessage("I'll read the file.", (call,)),
            ToolMessage("a", "\n".join(f"line {number}" for number in range(30))),
            UsageRecord(12_000),
            Checkpoint(2, 1, 2),
            AssistantMessage(ANSWER),
        ]

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._round[index % len(self._round)]


class Bench(ThemedApp[None]):
    CSS_PATH = [stylesheet("base.tcss"), stylesheet("widgets/timeline.tcss")]

    def __init__(self) -> None:
        super().__init__()
        self.theme = DARK.name

    def compose(self) -> ComposeResult:
        yield Timeline()


def report(name: str, figure: float, unit: str, limit: float, **more: object) -> None:
    line = {"benchmark": name, "figure": round(figure, 3), "unit": unit, "limit": limit}
    print(json.dumps(line | more), flush=True)


async def drawn(timeline: Timeline) -> None:
    """Wait until the screen has been updated."""
    done = asyncio.Event()
    timeline.call_after_refresh(done.set)
    await done.wait()


async def measure_paging(count: int, pages: int) -> None:
    app = Bench()
    async with app.run_test(size=SIZE) as pilot:
        timeline = app.query_one(Timeline)
        began = time.process_time()
        timeline.load(Repeated(count))
        await drawn(timeline)
        loaded = (time.process_time() - began) * 1e3
        await pilot.pause(0.5)
        gc.collect()
        gc.freeze()
        times: list[float] = []
        for start in (0.1, 0.5, 0.9):
            timeline.go_to_record(int(count * start))
            await drawn(timeline)
            for _ in range(pages):
                began = time.process_time()
                timeline.action_page(1)
                await drawn(timeline)
                times.append((time.process_time() - began) * 1e3)
                await asyncio.sleep(KEY_REPEAT_SECONDS)
        report(f"load {count}", loaded, "ms", 170)
        p99 = quantiles(times, n=100)[98]
        report(
            f"page down in {count}", median(times), "ms p50", 5, p99=round(p99, 2), p99_limit=16.7
        )


async def measure_resize(count: int) -> None:
    app = Bench()
    async with app.run_test(size=SIZE) as pilot:
        timeline = app.query_one(Timeline)
        timeline.load(Repeated(count))
        timeline.go_to_record(count // 2)
        await pilot.pause(0.3)
        times = []
        for width in (100, 80, 60, 118, 90, 120):
            began = time.process_time()
            await pilot.resize_terminal(width, 40)
            await drawn(timeline)
            times.append((time.process_time() - began) * 1e3)
        report(f"resize at {count}", median(times), "ms p50", 60, worst=round(max(times), 1))


async def measure_memory(count: int) -> None:
    app = Bench()
    async with app.run_test(size=SIZE):
        timeline = app.query_one(Timeline)
        records = Repeated(count)
        gc.collect()
        tracemalloc.start()
        timeline.load(records)
        await drawn(timeline)
        at_rest = tracemalloc.get_traced_memory()[0] / count
        for index in range(0, count, 200):
            timeline._blocks.height(index)
        timeline._blocks._cache.clear()
        gc.collect()
        visited = tracemalloc.get_traced_memory()[0] / count
        tracemalloc.stop()
        report(
            f"memory of {count}", visited, "B a message, all visited", 24, loaded=round(at_rest, 2)
        )


def chunks(kind: str, size: int) -> Iterator[str]:
    text = HEADS[kind]
    number = 0
    while len(text) < size:
        text += PIECES[kind](number)
        number += 1
    return (text[start : start + 20] for start in range(0, len(text), 20))


async def heartbeat(lateness: list[float]) -> None:
    while True:
        due = time.perf_counter() + 0.001
        await asyncio.sleep(0.001)
        lateness.append((time.perf_counter() - due) * 1e3)


async def measure_streaming(kind: str, size: int) -> None:
    app = Bench()
    async with app.run_test(size=SIZE) as pilot:
        timeline = app.query_one(Timeline)
        timeline.load(Repeated(1_000))
        timeline.stream_text("```python\nx = 1\n```\n")
        await pilot.pause(0.5)
        timeline.close_answer()
        gc.collect()
        gc.freeze()
        pieces = list(chunks(kind, size))
        lateness: list[float] = []
        beat = asyncio.create_task(heartbeat(lateness))
        idle_from = time.process_time()
        await asyncio.sleep(0.5)
        idle = (time.process_time() - idle_from) / 0.5
        lateness.clear()
        marks = [time.process_time()]
        began = time.perf_counter()
        for number, piece in enumerate(pieces):
            timeline.stream_text(piece)
            ahead = began + (number + 1) / 500 - time.perf_counter()
            if ahead > 0:
                await asyncio.sleep(ahead)
            if (number + 1) % (len(pieces) // 4) == 0:
                marks.append(time.process_time())
        took = time.perf_counter() - began
        cpu = (marks[-1] - marks[0]) / took - idle
        timeline.close_answer()
        await drawn(timeline)
        beat.cancel()
        late = sum(1 for value in lateness if value > 16) / len(lateness)
        quarters = [(after - before) * 4e3 / len(pieces) for before, after in pairwise(marks)]
        report(
            f"stream {kind} 500/s",
            cpu * 100,
            "% CPU",
            20,
            cpu_ms_a_chunk=[round(value, 3) for value in quarters],
            late_over_16_ms=round(late * 100, 2),
            late_limit=1,
            max_late_ms=round(max(lateness), 1),
            max_late_limit=50,
        )


async def main(*, quick: bool) -> None:
    for count in (100_000,) if quick else (100_000, 1_000_000):
        await measure_paging(count, 30 if quick else 150)
        await measure_memory(count)
    await measure_resize(100_000)
    for kind in PIECES:
        await measure_streaming(kind, 10_000 if quick else 40_000)


if __name__ == "__main__":
    asyncio.run(main(quick="--quick" in sys.argv))
