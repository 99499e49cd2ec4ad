"""How fast a tree of 100,000 records grows, and how quickly the scrubber steps.

Run: ``python -m tests.benchmarks.tree``. One JSON line a figure, with its limit beside it.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    HeadRecord,
    Record,
    SessionHeader,
    SystemPrompt,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.history.opening import open_view
from agent_tui.history.records.indexed_records import BIG_BYTES
from agent_tui.history.scrub import Scrub
from agent_tui.history.tree.logs import Source, session_sources
from agent_tui.history.tree.session_tree import SessionTree
from agent_tui.sessions.log import Durability
from agent_tui.sessions.replay import SessionState, read_log
from agent_tui.sessions.store import SessionStore

RECORDS = 100_000
MESSAGES = 10_000
BATCH = 5_000
RUNS = 7


def report(name: str, figure: float, limit: float, unit: str) -> None:
    """Print one figure with its limit."""
    ok = figure <= limit
    line = {"benchmark": name, "figure": round(figure, 4), "limit": limit, "unit": unit, "ok": ok}
    print(json.dumps(line), flush=True)


def conversation() -> Iterator[Record]:
    """Turns of three steps, each with a call and its result, for ever."""
    chance = random.Random(5)
    number = turn = 0
    while True:
        turn += 1
        yield Checkpoint(number, turn, 0)
        yield UserMessage(f"Please do thing number {turn} " * 5, "human", turn)
        for step in range(1, 4):
            number += 1
            yield Checkpoint(number, turn, step)
            call = ToolCall(f"c{turn}_{step}", "read_file", '{"path": "src/engine.py"}')
            yield AssistantMessage("Looking into it. " * 12, (call,), turn=turn)
            yield UsageRecord(chance.randrange(1_000, 90_000))
            yield ToolMessage(call.id, "line of output\n" * chance.choice((4, 40)), turn=turn)
        number += 1


async def fill(root: Path, records: int) -> Path:
    """A session of so many records, a fifth of them in an archive, with in-file branches."""
    store = SessionStore(root)
    log = await store.create(SessionHeader("bench", "/w", "2025-01-01T00:00:00Z", "0"))
    await log.append(SystemPrompt("You are an agent."), durability=Durability.D0)
    talk = conversation()
    cut = -1
    while (written := sum(1 for _ in log.state.all_entries)) < records:
        if cut < 0 and written > records // 2:
            cut = list(log.state.checkpoints)[-400]
            await log.revert(cut)
        batch = [next(talk) for _ in range(min(BATCH, records - written))]
        await log.append(*batch, durability=Durability.D0)
        target = log.state.entries[-200].record.stamp.uuid
        if target is not None:
            await log.append(HeadRecord(target), durability=Durability.D0)
    await log.close()
    await store.aclose()
    return log.folder


async def lateness(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds that awaitable work takes, and the worst lateness of a 1 ms heartbeat beside it."""
    worst, running = 0.0, True

    async def beat() -> None:
        nonlocal worst
        while running:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            worst = max(worst, time.perf_counter() - began - 0.001)

    heart = asyncio.create_task(beat())
    await asyncio.sleep(0.05)
    worst = 0.0
    began = time.perf_counter()
    await work()  # type: ignore[misc]
    took = time.perf_counter() - began
    running = False
    await heart
    return took, worst


async def keep_busy() -> None:
    """A thread that does nothing but hold the interpreter: what any work off the loop costs."""

    def count() -> None:
        end = time.perf_counter() + 0.3
        while time.perf_counter() < end:
            pass

    await asyncio.to_thread(count)


async def measure_tree(folder: Path) -> SessionTree:
    """Growing the tree as the program does, in a thread, and folding it otherwise."""
    sources = session_sources(folder)
    state = read_log(sources[-1].path)
    gc.freeze()  # as the program does after a big load
    count = TokenCounter().count_message

    async def grow(
        sources: tuple[Source, ...] = sources, state: SessionState = state
    ) -> SessionTree:
        live = len(sources) - 1
        return await asyncio.to_thread(SessionTree.of_logs, sources, live, state, count)

    def grow_here() -> float:
        began = time.thread_time()
        SessionTree.of_logs(sources, len(sources) - 1, state, count)
        return time.thread_time() - began

    tree = await grow()
    cpu = min([await asyncio.to_thread(grow_here) for _ in range(RUNS)])
    runs = [await lateness(grow) for _ in range(RUNS)]
    floor = statistics.median([(await lateness(keep_busy))[1] for _ in range(RUNS)])
    rows = len(tree.outline("turns"))
    name = f"grow and fold a tree of {len(tree.tree):,} records to {rows:,} rows"
    report(f"{name}, best of {RUNS}", min(took for took, _ in runs), 0.5, "s")
    report("the same in time of its processor alone", cpu, 0.5, "s")
    late = statistics.median(late for _, late in runs)
    note = f"a thread that only counts: {floor * 1e3:.1f}"
    report(f"loop held up while the tree grows ({note})", late * 1e3, 20 + floor * 1e3, "ms")
    took, late = await lateness(lambda: tree.prepare("records"))
    report("unfold it to every record", took, 0.5, "s")
    report("loop held up meanwhile", late * 1e3, 20, "ms")
    outline = tree.outline("records")
    began = time.perf_counter()
    for index in range(0, len(outline), 100):
        outline.row(index)
    report("make one row", (time.perf_counter() - began) / (len(outline) / 100) * 1e6, 100, "µs")
    places = [outline.row(index).place for index in range(40)]
    took, _ = await lateness(lambda: tree.describe(places))
    report("read the words of 40 rows", took * 1e3, 20, "ms")
    return tree


async def measure_path(folder: Path) -> None:
    """The same log opened by its path: big logs are indexed, and their records stay on disk."""
    path = session_sources(folder)[-1].path
    size = path.stat().st_size >> 20
    assert path.stat().st_size >= BIG_BYTES
    view = await open_view(path)
    grown = [await lateness(view.tree) for _ in range(RUNS)]
    name = f"grow the tree of a log of {size} MB opened by path"
    report(f"{name}, best of {RUNS}", min(took for took, _ in grown), 0.5, "s")
    scrub = await view.scrub()
    times = []
    for index in range(len(scrub) - 200, len(scrub)):
        began = time.perf_counter()
        look = await asyncio.to_thread(scrub.look, index)
        assert look.messages[-1]
        times.append(time.perf_counter() - began)
    step = f"step in it, to the next of {len(look.messages):,} messages, p50"
    report(step, statistics.median(times) * 1e3, 10, "ms")
    report("the first look at it, worst", max(times) * 1e3, 250, "ms")


async def measure_scrub(folder: Path) -> None:
    """Stepping through a session of 10,000 messages."""
    sources = session_sources(folder)
    state = read_log(sources[-1].path)
    count = TokenCounter().count_message
    tree = SessionTree.of_logs(sources, len(sources) - 1, state, count)
    finds = []
    for _ in range(RUNS):
        began = time.perf_counter()
        scrub = await asyncio.to_thread(Scrub, tree)
        finds.append(time.perf_counter() - began)
    report(f"find {len(scrub):,} moments, best of {RUNS}", min(finds) * 1e3, 100, "ms")
    began = time.perf_counter()
    await asyncio.to_thread(scrub.look, len(scrub) - 1)
    report("first look at a log", (time.perf_counter() - began) * 1e3, 500, "ms")
    times = []
    for index in range(len(scrub) - 200, len(scrub)):
        began = time.perf_counter()
        look = await asyncio.to_thread(scrub.look, index)
        times.append(time.perf_counter() - began)
    report(
        f"step to the next of {len(look.messages):,} messages, p50",
        statistics.median(times) * 1e3,
        10,
        "ms",
    )
    report("step into another branch or archive, worst", max(times) * 1e3, 250, "ms")


def main() -> None:
    """Print every figure."""
    gc.set_threshold(20_000, 20, 100)  # as the program does
    sys.setswitchinterval(0.0005)
    with tempfile.TemporaryDirectory() as folder:
        log = asyncio.run(fill(Path(folder), RECORDS))
        asyncio.run(measure_tree(log))
        asyncio.run(measure_path(log))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure_scrub(asyncio.run(fill(Path(folder), MESSAGES * 15 // 7))))


if __name__ == "__main__":
    main()
