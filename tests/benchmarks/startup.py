"""How long until the first frame, and until the first answer, in a real pty beside a bare app.

The answer comes over HTTP from a server on loopback, through the SDK: once for a prompt on the
command line, once for one that is typed as soon as the first frame is there.

Run: ``python -m tests.benchmarks.startup [--runs N]``. One JSON line a figure: medians by the
clock, and of the processor the least, since others on the machine can only add to it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pexpect

from tests.benchmarks.chat_server import END
from tests.benchmarks.http_stage import Program, Server, make_home
from tests.terminal import PROGRAM

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("bare app is here")
Bare().run()
"""
FIRST_FRAME_RATIO = 1.15
FIRST_ANSWER_RATIO = 3.5
_FRAME = "sk anything"


class Taken(NamedTuple):
    """Seconds of the clock, and of the processor: these hold on a busy machine too."""

    seconds: float
    cpu: float


def time_until(marker: bytes, program: str, arguments: list[str], env: dict[str, str]) -> Taken:
    """What a program takes from its start until its terminal holds a text."""
    settled = env | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    began = time.perf_counter()
    child = pexpect.spawn(
        program, arguments, env=settled, dimensions=(40, 120), timeout=60, maxread=65536
    )
    try:
        child.expect_exact(marker)
        return Taken(time.perf_counter() - began, cpu_of(child.pid or 0))
    finally:
        child.close(force=True)


def cpu_of(pid: int) -> float:
    """Seconds of the processor that the threads of a process have used so far."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(path.read_text(encoding="ascii").split()[0]) for path in threads) / 1e9


def first_answer(prompt: str, env: dict[str, str], workspace: Path) -> tuple[Taken, float]:
    """What it takes from launch until the end of the first answer, and the memory then in MB."""
    with Program([] if not prompt else [prompt], env, workspace) as program:
        if not prompt:
            program.until(_FRAME)
            program.send("hello there\r")
        answered = Taken(program.until(END) - program.began, program.cpu_seconds)
        program.drain(0.5)
        return answered, program.memory_mb


def report(**fields: object) -> None:
    """Print one figure as a JSON line."""
    print(json.dumps(fields))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    times: dict[str, list[Taken]] = {"bare": [], "frame": [], "given": [], "typed": []}
    memory = []
    with tempfile.TemporaryDirectory() as place, Server() as server:
        _, workspace, env = make_home(Path(place), server)
        for run in range(runs + 1):
            bare = time_until(b"bare app is here", sys.executable, ["-c", BARE], env)
            frame = time_until(_FRAME.encode(), str(PROGRAM), ["--demo"], env)
            given, _ = first_answer("hello there", env, workspace)
            typed, megabytes = first_answer("", env, workspace)
            if run:  # the first one compiles and fills caches
                for name, taken in zip(times, (bare, frame, given, typed), strict=True):
                    times[name].append(taken)
                memory.append(megabytes)
    figures = {
        name: Taken(
            statistics.median(each.seconds for each in taken), min(each.cpu for each in taken)
        )
        for name, taken in times.items()
    }
    limits = {"frame": FIRST_FRAME_RATIO, "given": FIRST_ANSWER_RATIO, "typed": FIRST_ANSWER_RATIO}
    named = {"frame": "first_frame", "given": "first_answer", "typed": "first_answer_typed"}
    for name, limit in limits.items():
        report(
            name=named[name],
            ms=round(figures[name].seconds * 1000, 1),
            bare_textual_ms=round(figures["bare"].seconds * 1000, 1),
            ratio=round(figures[name].seconds / figures["bare"].seconds, 2),
            cpu_ms=round(figures[name].cpu * 1000),
            bare_textual_cpu_ms=round(figures["bare"].cpu * 1000),
            cpu_ratio=round(figures[name].cpu / figures["bare"].cpu, 2),
            limit_ratio=limit,
        )
    report(name="memory_after_the_first_answer", mb=round(statistics.median(memory)))


if __name__ == "__main__":
    main()
