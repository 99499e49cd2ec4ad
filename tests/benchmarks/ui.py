"""What the screen costs, in a real pty over HTTP: echo, floods, pages, opening, processor.

Each figure is a JSON line with its limit, and where it stands beside something else, with that as
measured in the same run: the echo of the same program at rest, or a bare Textual app, whose start
is the first line. ``held``
times leave out what the machine gave to other programs, and what streamed in that time; ``raw``
ones leave the stream in. Exits with 1 where a limit does not hold.

Run: ``python -m tests.benchmarks.ui [--messages 1000000] [--keys N] [--only NAME,...]``.
Anyone can see such a stream: ``agent-tui --stress 10000``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pexpect

from tests.benchmarks.http_stage import Program, Server, judge, key_figures, make_home, make_session
from tests.benchmarks.keys import ask, press
from tests.benchmarks.startup import BARE, time_until

_FRAME = "sk anything"
_END = "called twice"
_PAGE_DOWN, _HOME = "\x1b[6~", "\x1b[H"
ECHO_RATIO, ECHO_MAX_MS = 1.2, 30.0
FLOOD_HELD_MS = 33.0
PAGE_P99_MS = 16.7
OPENING_MS = 150.0
ANSWER_RATIO = 5.2
"""Of the processor time of a bare Textual app until its first frame; it was 6.5 before."""
IDLE_PERCENT = 0.5
SCREEN_MS = 20.0
GARBAGE_MS = 5.0
USUAL_BARE_MS = 160
"""What the bare app takes of the processor where the limits in milliseconds were set."""
_SCREENS = {"help": "\x1bOP", "sessions": "\x1bOQ", "checkpoints": "\x1bOR", "tokens": "\x1b[19~"}
_WATCH_GARBAGE = """
import atexit, gc, json, threading, time
began, longest = [0.0], [0.0, 0.0]
def watch(phase, told):
    if threading.current_thread() is not threading.main_thread():
        return
    if phase == "start":
        began[0] = time.thread_time()
    else:
        place = 1 if told["generation"] == 2 else 0
        longest[place] = max(longest[place], time.thread_time() - began[0])
gc.callbacks.append(watch)
atexit.register(lambda: open({path!r}, "w").write(json.dumps(longest)))
"""
_WATCH_LOOP = """
import asyncio, atexit, json, threading, time
held, run = [], asyncio.Handle._run
def watched(handle):
    if threading.current_thread() is not threading.main_thread():
        return run(handle)
    at, used = time.monotonic(), time.thread_time()
    run(handle)
    used = time.thread_time() - used
    if used > 0.001:
        held.append((at, used * 1000))
asyncio.Handle._run = watched
atexit.register(lambda: open({path!r}, "w").write(json.dumps(held)))
"""


@dataclass
class Stage:
    """One home and one server for all figures."""

    home: Path
    workspace: Path
    env: dict[str, str]
    server: Server
    keys: int
    messages: int
    session: str = ""

    def program(self, *arguments: str) -> Program:
        """The program, on its way to its first frame."""
        return Program([*arguments], self.env, self.workspace)

    def watched(self, watch: str, *arguments: str) -> tuple[Program, Path]:
        """The program with a watch in it, and the file to which that writes when it ends."""
        place = self.home.parent / "watch"
        place.mkdir(exist_ok=True)
        told = place / "told.json"
        text = watch.replace("{path!r}", repr(str(told)))
        (place / "sitecustomize.py").write_text(text, encoding="utf-8")
        return Program([*arguments], self.env | {"PYTHONPATH": str(place)}, self.workspace), told

    def long_session(self) -> str:
        """The id of the long session; making it takes a while."""
        if not self.session:
            self.session = make_session(self.home, self.workspace, self.messages)
        return self.session


def measure_echo(stage: Stage) -> bool:
    """A key at rest, beside 100 chunks a second, and beside 2,000."""
    with stage.program() as program:
        program.until(_FRAME)
        program.quiet()
        idle = key_figures(press(program, stage.keys))
        print(json.dumps({"name": "echo_idle"} | idle), flush=True)
        ask(program, stage.server, f"chunks={stage.keys * 12 + 600} rate=100")
        program.note_what_streams()
        streaming = key_figures(press(program, stage.keys))
        while not stage.server.times("last"):
            program.drain(0.1)
        program.quiet()
        program.forget()
        ask(program, stage.server, f"chunks={stage.keys * 240 + 4_000} rate=2000")
        program.note_what_streams()
        flooded = key_figures(press(program, stage.keys))
    beside = {"idle_p50_ms": idle["held_p50_ms"]}
    ratio = round(streaming["held_p50_ms"] / max(0.1, idle["held_p50_ms"]), 2)
    raw = round(streaming["held_raw_p50_ms"] / max(0.1, idle["held_raw_p50_ms"]), 2)
    ratios = {"ratio": ratio, "raw_ratio": raw}
    line = {"name": "echo_beside_100_chunks_a_second"} | ratios | streaming | beside
    flood = {"name": "echo_beside_2000_chunks_a_second"} | flooded | beside
    return all(
        [
            judge(line, "ratio", ECHO_RATIO, held_max_ms=ECHO_MAX_MS),
            judge(flood, "held_max_ms", FLOOD_HELD_MS),
        ]
    )


def measure_opening(stage: Stage) -> bool:
    """How long behind the first frame the end of a long session is on the screen."""
    shown, opened = [], []
    for run in range(6):
        with stage.program("-r", stage.long_session()) as program:
            frame, before = program.until(_FRAME), program.used_ms()
            end, used = program.until(_END), program.used_ms() - before
            ready = program.until("● ready")
            if run:  # the first one compiles and fills caches
                shown.append(((end - frame) * 1000, used))
                opened.append((ready - frame) * 1000)
            program.quiet()
    figures = {
        "name": "opening_behind_the_first_frame",
        "messages": stage.messages,
        "ms": round(statistics.median(wall for wall, _ in shown)),
        "cpu_ms": round(statistics.median(used for _, used in shown)),
        "open_ms": round(statistics.median(opened)),
    }
    return judge(figures, "cpu_ms", OPENING_MS)


def measure_pages(stage: Stage) -> bool:
    """Page down from the beginning of a long session, as fast as a held key."""
    with stage.program("-r", stage.long_session()) as program:
        program.until(_END)
        program.quiet()
        program.send("\t")
        program.drain(0.3)
        program.send(_HOME)
        program.quiet()
        rest, pages, used = key_cpu(program), [], []
        for _ in range(stage.keys * 3):
            spent, before, began = program.cpu_seconds, program.shares(), time.perf_counter()
            program.send(_PAGE_DOWN)
            program.read(5)
            pages.append(program.timed(began, time.perf_counter(), before))
            program.drain(0.04)
            used.append(program.cpu_seconds - spent)
    times = [page.milliseconds for page in pages]
    held = [page.held for page in pages]
    figures = {
        "name": "page_down",
        "messages": stage.messages,
        "p50_ms": round(statistics.median(times), 1),
        "p99_ms": round(statistics.quantiles(times, n=100)[98], 1),
        "max_ms": round(max(times), 1),
        "held_p50_ms": round(statistics.median(held), 1),
        "held_p99_ms": round(statistics.quantiles(held, n=100)[98], 1),
        "cpu_ms_a_page": round(sum(used) / len(used) * 1000 - rest, 1),
    }
    return judge(figures, "held_p99_ms", PAGE_P99_MS)


def key_cpu(program: Program) -> float:
    """Milliseconds of the processor that the program uses in one pause between pages."""
    before = program.cpu_seconds
    program.drain(1)
    return (program.cpu_seconds - before) * 40


def measure_processor(stage: Stage) -> bool:
    """Of ten seconds of an answer of 100 chunks a second, and of ten seconds of rest."""
    bare = bare_cpu(stage.env)
    with stage.program() as program:
        program.until(_FRAME)
        program.quiet()
        program.drain(10)  # the cursor stops blinking where nobody types
        before = program.cpu_seconds
        program.drain(10)
        rest = (program.cpu_seconds - before) * 10
        ask(program, stage.server, "chunks=1150 rate=100")
        before = program.cpu_seconds
        program.drain(10)
        answer = program.cpu_seconds - before
    line = {
        "name": "processor_of_an_answer_of_10_s",
        "ms": round(answer * 1000),
        "bare_textual_ms": round(bare * 1000),
        "ratio": round(answer / bare, 2),
    }
    idle = {"name": "processor_at_rest", "percent": round(rest, 2)}
    return all([judge(line, "ratio", ANSWER_RATIO), judge(idle, "percent", IDLE_PERCENT)])


def measure_screens(stage: Stage) -> bool:
    """How long each screen that a key opens holds the loop, the first time that it is opened.

    A key that comes meanwhile waits for the longest hold, not for all of them: between two of them
    it is drawn. Both are told, of the processor time of the main thread.
    """
    program, told = stage.watched(_WATCH_LOOP, "-r", stage.long_session())
    with program:
        program.until("● ready")
        program.quiet()
        main, sums, spans = str(program.child.pid), {}, {}
        for name, key in _SCREENS.items():
            before, began = program.shares()[main].used, time.monotonic()
            program.send(key)
            program.drain(0.7)
            sums[name] = round(program.shares()[main].used - before, 1)
            spans[name] = began, time.monotonic()
            program.send("\x1b")
            program.quiet()
        end(program)
    held = json.loads(told.read_text(encoding="utf-8"))
    longest = {
        name: round(max((used for at, used in held if first <= at <= last), default=0.0), 1)
        for name, (first, last) in spans.items()
    }
    figures = {"name": "screen_opened", "messages": stage.messages, "held_ms": longest}
    figures |= {"loop_ms": sums, "max_ms": max(longest.values())}
    return judge(figures, "max_ms", SCREEN_MS)


def end(program: Program) -> None:
    """Leave the program by its key."""
    program.clear()
    program.send("\x11")
    program.child.expect(pexpect.EOF, timeout=20)


def measure_garbage(stage: Stage) -> bool:
    """The longest time for which the collector held the loop while an answer streamed."""
    program, told = stage.watched(_WATCH_GARBAGE, "-r", stage.long_session())
    with program:
        program.until("● ready")
        program.quiet()
        ask(program, stage.server, "chunks=2000 rate=500")
        program.until("Finished.")
        press(program, stage.keys)
        end(program)
    young, full = json.loads(told.read_text(encoding="utf-8"))
    figures = {
        "name": "garbage_on_the_loop",
        "max_ms": round(young * 1000, 1),
        "idle_full_ms": round(full * 1000, 1),
    }
    return judge(figures, "max_ms", GARBAGE_MS)


def tell_machine(env: dict[str, str]) -> None:
    """Print what a bare app takes here: limits in milliseconds are wider on a slower machine."""
    figures = {"cpu_ms": round(bare_cpu(env) * 1000), "usual_cpu_ms": USUAL_BARE_MS}
    print(json.dumps({"name": "bare_textual"} | figures), flush=True)


def bare_cpu(env: dict[str, str]) -> float:
    """Seconds of the processor that a bare Textual app uses until its first frame, at its best."""
    bare = (time_until(b"bare app is here", sys.executable, ["-c", BARE], env) for _ in range(3))
    return min(taken.cpu for taken in bare)


FIGURES: dict[str, Callable[[Stage], bool]] = {
    "echo": measure_echo,
    "processor": measure_processor,
    "opening": measure_opening,
    "pages": measure_pages,
    "screens": measure_screens,
    "garbage": measure_garbage,
}


def main() -> None:
    """Measure and print; exit with 1 where a limit does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument("--only", default=",".join(FIGURES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, Server() as server:
        home, workspace, env = make_home(Path(place), server)
        stage = Stage(home, workspace, env, server, options.keys, options.messages)
        tell_machine(env)
        holds = [FIGURES[name](stage) for name in options.only.split(",")]
    sys.exit(not all(holds))


if __name__ == "__main__":
    main()
