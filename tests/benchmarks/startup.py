"""How long until the first frame, and until the first answer, in a real pty beside a bare app.

Run: ``python -m tests.benchmarks.startup [--runs N]``. One JSON line a figure, medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pexpect

from tests.terminal import PROGRAM, environment

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("bare app is here")
Bare().run()
"""
FIRST_FRAME_RATIO = 1.4
FIRST_ANSWER_SECONDS = 0.8


def time_until(marker: bytes, program: str, arguments: list[str], env: dict[str, str]) -> float:
    """Seconds from the start of the program until its terminal holds a text."""
    settled = env | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    began = time.perf_counter()
    child = pexpect.spawn(
        program, arguments, env=settled, dimensions=(40, 120), timeout=30, maxread=65536
    )
    try:
        child.expect_exact(marker)
        return time.perf_counter() - began
    finally:
        child.close(force=True)


def first_frames(runs: int, env: dict[str, str]) -> tuple[list[float], list[float]]:
    """First-frame times of the bare app and of ours, taken in turn."""
    bare, ours = [], []
    for _ in range(runs):
        bare.append(time_until(b"bare app is here", sys.executable, ["-c", BARE], env))
        ours.append(time_until(b"sk anything", str(PROGRAM), ["--demo"], env))
    return bare, ours


def first_answers(runs: int, env: dict[str, str]) -> list[float]:
    """Times from launch with a prompt until the end of the first answer's first sentence."""
    arguments = ["--demo", "hello"]
    return [time_until(b"scripted", str(PROGRAM), arguments, env) for _ in range(runs)]


def report(**fields: object) -> None:
    """Print one figure as a JSON line."""
    print(json.dumps(fields))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as home:
        env = environment(Path(home))
        first_frames(1, env)
        bare, ours = first_frames(runs, env)
        answers = first_answers(runs, env)
    bare_ms, ours_ms = (round(statistics.median(times) * 1000, 1) for times in (bare, ours))
    report(
        name="first_frame",
        ms=ours_ms,
        bare_textual_ms=bare_ms,
        ratio=round(ours_ms / bare_ms, 2),
        limit_ratio=FIRST_FRAME_RATIO,
    )
    answer_ms = round(statistics.median(answers) * 1000, 1)
    report(name="first_answer", ms=answer_ms, limit_ms=FIRST_ANSWER_SECONDS * 1000)


if __name__ == "__main__":
    main()
