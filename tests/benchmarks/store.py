"""What the session store costs beside the bare system calls. One JSON line each, with its limit.

    python -m tests.benchmarks.store [--quick] [--folder PATH]

Every figure is a median, measured in turns with its raw floor, so that both meet the same machine.
``late`` is how long the event loop kept a 1 ms heartbeat waiting while the work ran in a thread.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import gc
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agent_tui.core.jsonl import encode
from agent_tui.core.messages import TextPart, ThinkPart, ToolCall
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    SessionHeader,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.history.tree.logs import Source
from agent_tui.history.tree.record_links import build_tree
from agent_tui.sessions.index import LogIndex, read_tail
from agent_tui.sessions.log import Durability, LogFile, create_log
from agent_tui.sessions.log_writer import stamped
from agent_tui.sessions.replay import read_log
from agent_tui.sessions.store import SessionLog, SessionStore

LINE = encode({"role": "user", "content": "x" * 200})
WORDS = (
    *("the", "engine", "keeps", "what", "it", "finds", "where", "it", "was", "found", "so"),
    *("that", "nothing", "is", "lost", "{or}", "[torn]", "when", "a", "process", "dies"),
)


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    records: int
    appends: int
    flushes: int
    burst: int
    rounds: int
    copies: int


FULL = Scale(records=75_000, appends=5_000, flushes=400, burst=50_000, rounds=5, copies=10)
QUICK = Scale(records=7_500, appends=1_000, flushes=50, burst=5_000, rounds=3, copies=1)


def tell(
    what: str, figure: float, unit: str, limit: float, *, least: bool = False, **more: float
) -> bool:
    """Print one figure with its limit; whether it holds."""
    holds = figure >= limit if least else figure <= limit
    line = {"what": what, "figure": round(figure, 3), "unit": unit, "limit": limit, "holds": holds}
    print(json.dumps(line | {key: round(value, 3) for key, value in more.items()}), flush=True)
    return holds


def seconds(act: Callable[[], object]) -> float:
    """How long one act takes."""
    start = time.perf_counter()
    kept = act()
    taken = time.perf_counter() - start
    del kept  # to free a result is not part of the act
    return taken


def in_turns(rounds: int, *acts: Callable[[], object]) -> list[list[float]]:
    """The times of several acts, each done once a round."""
    times: list[list[float]] = [[] for _ in acts]
    for _ in range(rounds):
        for act, taken in zip(acts, times, strict=True):
            taken.append(seconds(act))
    return times


def in_proportion(floor: list[float], ours: list[float]) -> float:
    """How much longer ours took: the median over the rounds, each compared with its own floor."""
    return statistics.median(own / bare for bare, own in zip(floor, ours, strict=True))


def words(chance: random.Random, characters: int) -> str:
    """Plausible text; a few in a hundred are not ASCII."""
    text = " ".join(chance.choices(WORDS, k=characters // 5))
    return text + " naïve 漢字" if chance.random() < 0.03 else text


def turn_of(chance: random.Random, number: int) -> list[Record]:
    """One turn of about 9 KB."""
    call = ToolCall(f"call-{number}", "read_file", '{"path": "src/engine.py"}')
    thought = ThinkPart(words(chance, 1400)), TextPart(words(chance, 500))
    return [
        Checkpoint(number, number, 0),
        UserMessage(words(chance, 500), "human", number),
        AssistantMessage(thought, (call,), "m", number),
        ToolMessage(call.id, words(chance, 4000), turn=number),
        AssistantMessage(words(chance, 800), (), "m", number),
        UsageRecord(1000 + number),
    ]


def write_big_log(path: Path, records: int) -> None:
    """A log of about 1.35 KB a record."""
    chance = random.Random(1)
    leaf = None
    with path.open("wb") as file:
        for number in range(records // 6):
            for record in turn_of(chance, number):
                whole = stamped(record, leaf, "2025-01-01T10:00:00.000Z")
                leaf = whole.stamp.uuid
                file.write(encode(record_fields(whole)))


def measure_append(folder: Path, scale: Scale) -> Iterator[bool]:
    """One record, from the call of the protocol to its return."""
    create_log(folder, [LINE])
    log = LogFile(folder)
    raw = str(folder / "raw")
    lock = os.open(folder / "raw.lock", os.O_RDWR | os.O_CREAT)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT

    def bare() -> None:
        fcntl.flock(lock, fcntl.LOCK_EX)
        descriptor = os.open(raw, flags, 0o600)
        os.write(descriptor, LINE)
        os.close(descriptor)

    floor, ours = in_turns(scale.appends, bare, lambda: log.append(LINE, Durability.D0))
    ratio = in_proportion(floor, ours)
    micro = statistics.median(ours) * 1e6
    yield tell("append D0 / bare flock, open, write, close", ratio, "x", 2, microseconds=micro)
    p99 = statistics.quantiles(ours, n=100)[98] * 1e3
    yield tell("append D0, p99", p99, "ms", 0.2)

    descriptor = os.open(raw, flags)

    def bare_flush() -> None:
        os.write(descriptor, LINE)
        os.fsync(descriptor)

    floor, ours = in_turns(scale.flushes, bare_flush, lambda: log.append(LINE, Durability.D1))
    ratio = in_proportion(floor, ours)
    micro = statistics.median(ours) * 1e6
    yield tell("append D1 / bare write, fsync", ratio, "x", 1.3, microseconds=micro)
    os.close(descriptor)
    os.close(lock)
    log.close()


async def measure_burst(log: SessionLog, scale: Scale) -> list[bool]:
    """Many appends at once, from many tasks, each awaited and each durable."""
    message = UserMessage("x" * 200, "human", 1)

    async def write(calls: int, records: int) -> None:
        for _ in range(calls):
            await log.append(*[message] * records, durability=Durability.D1)

    async def rate(tasks: int, records: int) -> tuple[float, float]:
        """Records a second, and microseconds of the loop's thread for one append."""
        appends = scale.burst // records
        start, cpu = time.perf_counter(), time.thread_time()
        await asyncio.gather(*(write(appends // tasks, records) for _ in range(tasks)))
        elapsed, cpu = time.perf_counter() - start, time.thread_time() - cpu
        return scale.burst / elapsed, cpu / appends * 1e6

    fifties = [await rate(50, 50) for _ in range(scale.rounds)]
    singles = [await rate(500, 1) for _ in range(scale.rounds)]
    one_by_one = statistics.median(speed for speed, _ in singles)
    many = statistics.median(speed for speed, _ in fifties)
    cost = statistics.median(cost for _, cost in singles)
    what = "durable records a second, group commit of 50 callers with 50 records each"
    return [
        tell(what, many, "1/s", 50_000, least=True, one_record_each=one_by_one),
        tell("what an append costs on the loop, settling included", cost, "us", 50),
    ]


def find_newlines(path: Path) -> array[int]:
    """The floor of an index: read the file and find its newlines."""
    found = array("Q")
    descriptor = os.open(path, os.O_RDONLY)
    base = 0
    while block := os.pread(descriptor, 256 << 10, base):
        at = block.find(b"\n")
        while at >= 0:
            found.append(base + at)
            at = block.find(b"\n", at + 1)
        base += len(block)
    os.close(descriptor)
    return found


def load_lines(path: Path) -> None:
    """The floor of a replay: json.loads of every line."""
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def measure_reading(path: Path, scale: Scale) -> Iterator[bool]:
    """LogWriter, index, replay and tree of one big log."""
    tail = statistics.median(in_turns(scale.rounds * 4, lambda: read_tail(path, 200))[0])
    yield tell("first screen: the last 200 records, parsed", tail * 1e3, "ms", 5)
    floor, ours = in_turns(
        scale.rounds * 2, lambda: find_newlines(path), lambda: LogIndex(path).grow()
    )
    ratio = in_proportion(floor, ours)
    milli = statistics.median(ours) * 1e3
    yield tell("index with roles / reading and finding newlines", ratio, "x", 2, ms=milli)
    floor, ours = in_turns(scale.rounds, lambda: load_lines(path), lambda: read_log(path))
    ratio = in_proportion(floor, ours)
    yield tell(
        "full replay / json.loads of its lines", ratio, "x", 2, ms=statistics.median(ours) * 1e3
    )
    trees = []
    for _ in range(scale.rounds):
        cpu = time.process_time()
        build_tree([Source("s", path)])
        trees.append(time.process_time() - cpu)
    per_100k = statistics.median(trees) / scale.records * 100_000
    yield tell("tree of 100,000 records, processor time", per_100k, "s", 0.5)


def copy_and_flush(source: Path, target: Path, size: int) -> None:
    """The floor of a revert: cp and fsync of the same bytes."""
    with source.open("rb") as old, target.open("wb") as new:
        left = size
        while left:
            block = old.read(min(left, 1 << 20))
            new.write(block)
            left -= len(block)
        new.flush()
        os.fsync(new.fileno())


async def measure_revert(log: SessionLog, scale: Scale) -> bool:
    """A revert to the middle, memory included; the log is restored before each."""
    floor, ours = [], []
    target = log.folder / "copy"
    for number in range(scale.rounds):
        middle = sorted(log.state.checkpoints)[len(log.state.checkpoints) // 2]
        size = log.state.checkpoints[middle].offset
        floor.append(seconds(partial(copy_and_flush, log.path, target, size)))
        target.unlink()
        start = time.perf_counter()
        archive = await log.revert(middle)
        ours.append(time.perf_counter() - start)
        await log.restore(archive)
        if number:
            await log.prune(1)
    ratio = in_proportion(floor, ours)
    milli = statistics.median(ours) * 1e3
    return tell("revert to the middle / cp and fsync of its bytes", ratio, "x", 2, ms=milli)


MEMORY = """
import re, sys
from pathlib import Path
from agent_tui.sessions.index import LogIndex, read_tail
index = LogIndex(Path(sys.argv[1]))
index.grow()
shown = read_tail(Path(sys.argv[1]), 200)
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
"""


def measure_memory(path: Path, scale: Scale) -> bool:
    """The peak of a process that has a log of ten times the size open for browsing (on Linux)."""
    if not sys.platform.startswith("linux"):
        return True
    huge = path.with_name("huge.jsonl")
    empty = path.with_name("empty.jsonl")
    empty.touch()
    with huge.open("wb") as file:
        for _ in range(scale.copies):
            with path.open("rb") as source:
                shutil.copyfileobj(source, file, 1 << 20)
    peaks = []
    for log in (empty, huge):
        command = [sys.executable, "-c", MEMORY, str(log)]
        run = subprocess.run(command, capture_output=True, check=True, text=True)
        peaks.append(float(run.stdout))
    size = huge.stat().st_size / 1e9
    huge.unlink()
    return tell(
        "memory of a log open in the browser", peaks[1] - peaks[0], "MB", 60, gigabytes=size
    )


@contextmanager
def heartbeat(late: list[float]) -> Iterator[None]:
    """Note how late a 1 ms timer comes on this loop."""

    async def beat() -> None:
        while True:
            start = time.perf_counter()
            await asyncio.sleep(0.001)
            late.append(time.perf_counter() - start - 0.001)

    task = asyncio.create_task(beat())
    yield
    task.cancel()


async def measure_lateness(log: SessionLog, scale: Scale) -> list[bool]:
    """The loop beside each kind of work."""
    message = UserMessage("x" * 200)

    async def burst() -> None:
        for _ in range(20):
            await asyncio.gather(
                *(log.append(message, durability=Durability.D1) for _ in range(200))
            )

    async def revert() -> None:
        await log.restore(await log.revert(max(log.state.checkpoints) // 2))

    kept: list[object] = []  # an app shows what it has read: to free it is not part of reading it

    async def keep(read: Callable[..., object], *arguments: object) -> None:
        kept.append(await asyncio.to_thread(read, *arguments))

    works: dict[str, Callable[[], Awaitable[object]]] = {
        "nothing": lambda: asyncio.sleep(1),
        "index": lambda: asyncio.to_thread(lambda: LogIndex(log.path).grow()),
        "replay": lambda: keep(read_log, log.path),
        "tree": lambda: keep(build_tree, [Source("s", log.path)]),
        "revert and restore": revert,
        "4,000 appends": burst,
    }
    held: list[bool] = []
    floor = 0.0
    for name, work in works.items():
        worst = []
        for _ in range(scale.rounds):
            late: list[float] = []
            with heartbeat(late):
                await asyncio.sleep(0.01)
                await work()
            worst.append(max(late))
        kept.clear()
        figure = statistics.median(worst) * 1e3
        floor = floor or figure
        held.append(tell(f"loop late beside: {name}", figure, "ms", 20, beside_nothing=floor))
    return held


async def measure_session(root: Path, big: Path, scale: Scale) -> list[bool]:
    """What needs an open session."""
    store = SessionStore(root)
    log = await store.create(SessionHeader("burst", "/bench", "", ""))
    held = await measure_burst(log, scale)
    await log.close()
    log = await store.create(SessionHeader("big", "/bench", "", ""))
    await log.close()
    with log.path.open("ab") as file, big.open("rb") as source:
        shutil.copyfileobj(source, file, 1 << 20)
        file.flush()
        os.fsync(file.fileno())  # it is the revert that is measured, not the log's first flush
    log = await store.open("big")
    gc.collect()
    gc.freeze()
    held.append(await measure_revert(log, scale))
    held += await measure_lateness(log, scale)
    await log.close()
    await store.aclose()
    return held


def main() -> int:
    """Measure everything; the exit code says whether every limit holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folder", help="where to write, to choose the disk")
    options = parser.parse_args()
    scale = QUICK if options.quick else FULL
    sys.setswitchinterval(0.0005)  # as the app does
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        (folder / "append").mkdir()
        held = list(measure_append(folder / "append", scale))
        big = folder / "big.jsonl"
        write_big_log(big, scale.records)
        held += measure_reading(big, scale)
        held.append(measure_memory(big, scale))
        held += asyncio.run(measure_session(folder / "data", big, scale))
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
