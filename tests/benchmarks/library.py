"""What the library costs: list, index, query, first screen. One JSON line each, with its limit.

    python -m tests.benchmarks.library [--quick] [--index-mb N] [--folder PATH]

Sizes that --quick makes smaller are in the line. ``floor`` is what the bare work takes in the same
run: to list and stat the files, to read, parse and insert the lines; ``ratio`` is how much more we
take; ``insert_cpu`` is what the full-text table alone takes for the text that we index. Indexing
runs in a process of its own, as it does behind a screen; what it and its readers take together is
told. Keys that are pressed on the search screen meanwhile tell how late the program's loop comes:
how much longer the program holds one than it does at rest. Every fourth query ends in a beginning,
as it does while somebody types.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from agent_tui.core.jsonl import bulk_decoder
from agent_tui.history.opening import open_view_tail
from agent_tui.importers.importer import Places
from agent_tui.library.own_sessions import OwnSessions
from agent_tui.library.row_cache import CACHE, RowCache
from agent_tui.library.search.reading import Job, Piece, Unit, read_unit
from agent_tui.library.search.search_index import SearchIndex
from agent_tui.library.search.sources import refs_to_index
from agent_tui.library.search.tables import forget_index
from agent_tui.sessions.store import SessionStore
from tests.benchmarks.http_stage import Key, Program
from tests.benchmarks.library_files import WORDS, claude_lines, write_mixture, write_session
from tests.terminal import environment


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    sessions: int
    index_mb: int
    foreign_mb: int
    rounds: int


FULL = Scale(sessions=50_000, index_mb=1_000, foreign_mb=100, rounds=5)
_ADDED_LINES = 80  # the full-text table merges what was added now and then
_KEYS_AT_REST = 20
_PAUSE_SECONDS = 0.15
_BACKSPACE = "\x7f"
QUICK = Scale(sessions=500, index_mb=4, foreign_mb=4, rounds=3)


def tell(
    what: str,
    figure: float,
    unit: str,
    limit: float,
    more: dict[str, float],
    *,
    least: bool = False,
) -> None:
    """Print one figure with its limit."""
    holds = figure >= limit if least else figure <= limit
    line = {"what": what, "figure": round(figure, 3), "unit": unit, "limit": limit, "holds": holds}
    print(json.dumps(line | {key: round(value, 3) for key, value in more.items()}), flush=True)


def timed(rounds: int, act: Callable[[], Any]) -> float:
    """Seconds, the median."""
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        act()
        took.append(time.perf_counter() - began)
    return statistics.median(took)


def make_sessions(root: Path, count: int) -> None:
    """That many short sessions of ours in sixty projects."""
    body = "".join(
        json.dumps(line) + "\n"
        for line in (
            {"role": "user", "content": "Fix the tide table", "at": "2026-01-02T03:04:05Z"},
            {"role": "assistant", "content": "Done. " * 120, "at": "2026-01-02T03:04:06Z"},
        )
    )
    for number in range(count):
        name = f"202601{1 + number // 2_000:02}-{number % 2_000:06}-{number:06x}"
        cwd = f"/home/ada/p{number % 60}"
        folder = root / "projects" / cwd.replace("/", "-") / name
        folder.mkdir(parents=True)
        head = {"role": "_session", "format": 1, "session_id": name, "cwd": cwd}
        (folder / "context.jsonl").write_text(json.dumps(head) + "\n" + body)


def bare_index(paths: list[Path], target: Path) -> float:
    """CPU seconds to read, parse and insert every line as it is, in one process."""
    began = time.process_time()
    with closing(sqlite3.connect(target)) as base, base:
        base.execute("PRAGMA synchronous = OFF")
        base.execute("CREATE VIRTUAL TABLE w USING fts5 (t, content='', columnsize=0)")
        decode, number = bulk_decoder(), itertools.count(1)
        for path in paths:
            with path.open("rb") as file:
                rows = ((next(number), json.dumps(decode(line))) for line in file)
                base.executemany("INSERT INTO w (rowid, t) VALUES (?, ?)", rows)
    return time.process_time() - began


def bare_insert(data: Path, places: Places, target: Path) -> float:
    """CPU seconds of the full-text table for the text that is indexed, in one transaction."""
    took = 0.0
    with closing(sqlite3.connect(target)) as base, base:
        base.execute("PRAGMA synchronous = OFF")
        base.execute("CREATE VIRTUAL TABLE w USING fts5 (t, content='', columnsize=0)")
        base.execute("INSERT INTO w (w, rank) VALUES ('hashsize', 32000000)")
        number = itertools.count(1)
        for ref in refs_to_index(data, places):
            for part in read_unit(Unit((Job(ref, 1, 0, b"", is_new=True),))):
                if isinstance(part, Piece):
                    rows = [(next(number), row[4]) for row in part.rows]
                    began = time.process_time()
                    base.executemany("INSERT INTO w (rowid, t) VALUES (?, ?)", rows)
                    took += time.process_time() - began
        began = time.process_time()
        base.commit()
        return took + time.process_time() - began


@dataclass(frozen=True)
class Ran:
    """What a command took: seconds, CPU seconds with those of its children, memory of all."""

    seconds: float
    cpu: float
    megabytes: float


def run_measured(command: list[str], environment: dict[str, str]) -> Ran:
    """Run a command to its end; its memory is looked at every few milliseconds, where it can be."""
    before, began, most = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0.0
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        most = max(most, sum(map(_memory_of, _family(process.pid))))
        time.sleep(0.02)
    seconds = time.perf_counter() - began
    assert process.returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(seconds, cpu, most or after.ru_maxrss / 1e3)


def _family(pid: int) -> list[int]:
    try:
        below = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    children = map(int, " ".join(below).split())
    return [pid, *(each for child in children for each in _family(child))]


def _memory_of(pid: int) -> float:
    """Megabytes of a process, with its share of what it shares with others."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1e3


def measure_list(root: Path, scale: Scale) -> None:
    """The first rows, cold and warm, and the whole list printed."""
    make_sessions(root, scale.sessions)
    more = {"sessions": float(scale.sessions)}

    def first_rows() -> None:
        assert OwnSessions(SessionStore(root), RowCache(root)).newest(100)

    tell("list, cold: first rows", timed(scale.rounds, first_rows) * 1e3, "ms", 200, more)
    OwnSessions(SessionStore(root), RowCache(root)).rows()
    assert (root / CACHE).exists()
    tell("list, warm: first rows", timed(scale.rounds, first_rows) * 1e3, "ms", 50, more)

    def walk() -> None:
        for folder, _, files in os.walk(root / "projects"):
            for name in files:
                os.lstat(f"{folder}/{name}")

    environment = {**os.environ, "AGENT_TUI_HOME": str(root), "HOME": str(root / "nobody")}
    command = [sys.executable, "-m", "agent_tui", "sessions", "list", "--json"]

    def print_list() -> None:
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)

    floor, took = timed(scale.rounds, walk), timed(scale.rounds, print_list)
    more |= {"floor": floor, "ratio": took / floor}
    tell("sessions list --json, warm", took, "s", 1, more)


def measure_index(root: Path, scale: Scale) -> None:
    """An index made anew and added to, and queries of it."""
    paths = write_mixture(root / "home", root / "data", scale.index_mb)
    megabytes = sum(path.stat().st_size for path in paths) / 1e6
    floor = bare_index(paths, root / "bare.sqlite")
    environment = {"AGENT_TUI_HOME": str(root / "data"), "HOME": str(root / "home")}
    places = Places(root / "home", environment)
    insert = bare_insert(root / "data", places, root / "insert.sqlite")
    command = [sys.executable, "-m", "agent_tui", "index", "--json"]
    ran = run_measured(command, dict(os.environ) | environment)
    more = {"mb": megabytes, "cpu": ran.cpu, "floor_cpu": floor, "ratio": ran.cpu / floor}
    more |= {"mb_per_cpu_second": megabytes / ran.cpu, "insert_cpu": insert}
    tell("index, cold", megabytes / ran.seconds, "MB/s", 60, more, least=True)
    tell("index: memory at most", ran.megabytes, "MB", 150, {"mb": megabytes})
    index = SearchIndex(root / "data", places)
    forget_index(index.path)
    measure_lateness(root, megabytes)
    index.update()
    line = paths[0].read_text().splitlines()[0]
    read, lasted = 0, []
    for _ in range(_ADDED_LINES):
        with paths[0].open("a") as file:
            file.write(line + "\n")
        began = time.perf_counter()
        read = index.update().bytes
        lasted.append(time.perf_counter() - began)
    more = {"mb": megabytes, "bytes_read": float(read), "bytes_added": len(line) + 1.0}
    tell("index: one new line", statistics.median(lasted) * 1e3, "ms", 20, more)
    more = {"mb": megabytes, "lines": float(len(lasted))}
    tell("index: one new line, slowest", max(lasted) * 1e3, "ms", 100, more)
    chance, asked = random.Random(7), []
    for number in range(100):
        query = " ".join(chance.sample(WORDS, chance.choice((1, 2))))
        if number % 4 == 0:
            query = query[: query.rfind(" ") + chance.choice((3, 4, 5))]
        asked.append(timed(1, partial(index.search, query)) * 1e3)
    asked.sort()
    tell("query: p50", asked[50], "ms", 20, {"mb": megabytes})
    tell("query: p99", asked[98], "ms", 100, {"mb": megabytes})


def measure_lateness(root: Path, megabytes: float) -> None:
    """Keys on the search screen of the real program, at rest and while it builds its index."""
    settings = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    settings |= {"HOME": str(root / "home")}
    workspace = root / "workspace"
    workspace.mkdir()
    with Program([], environment(root / "data") | settings, workspace) as program:
        program.until("sk anything")
        program.quiet()
        rest = [_press(program) for _ in range(_KEYS_AT_REST)]
        pid = program.child.pid or 0
        others = set(_family(pid))
        program.clear()
        program.send("/search")
        program.drain(0.5)
        program.send("\r")
        program.until("updating the index")
        during = [_press(program)]
        while set(_family(pid)) - others:
            during.append(_press(program))
    usual = statistics.median(key.held for key in rest)
    late = max(key.held for key in during) - usual
    more = {"mb": megabytes, "keys": float(len(during)), "at_rest_ms": usual}
    more |= {"median_ms": statistics.median(key.held for key in during) - usual}
    tell("index: loop late at most, while it builds", max(0.0, late), "ms", 20, more)


def _press(program: Program) -> Key:
    """A key, then time for what it sets off."""
    key = program.key()
    program.drain(_PAUSE_SECONDS)
    program.send(_BACKSPACE)
    program.drain(_PAUSE_SECONDS / 3)
    return key


def measure_first_screen(root: Path, scale: Scale) -> None:
    """The end of a big session of another agent, ready to be shown."""
    path = root / "big.jsonl"
    write_session(path, claude_lines, scale.foreign_mb << 20, 1)

    def open_tail() -> None:
        assert asyncio.run(open_view_tail(path)) is not None

    whole = timed(1, path.read_bytes)
    took = timed(scale.rounds, open_tail)
    more = {"mb": float(scale.foreign_mb), "read_whole_ms": whole * 1e3}
    tell("another agent's session: first screen", took * 1e3, "ms", 150, more)


def main() -> None:
    """Measure everything in a folder that is removed again."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--index-mb", type=int, help="how much is indexed")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    scale = QUICK if options.quick else FULL
    scale = replace(scale, index_mb=options.index_mb or scale.index_mb)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measure_index(Path(folder, "index"), scale)  # first: the memory is of the biggest child
        measure_list(Path(folder, "list"), scale)
        measure_first_screen(Path(folder), scale)


if __name__ == "__main__":
    main()
