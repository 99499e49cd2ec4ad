"""What a flood does to the keys: thousands of chunks at once, and answers of megabytes, over HTTP.

Each answer is followed by an ordinary turn, which sends it all back. ``late`` is how long after the
last byte the end of the answer is on the screen; ``held`` leaves out what the machine gave to other
programs meanwhile, and the limits are set to that. Beside each figure stands the echo of the same
program at rest. Exits with 1 where a limit does not hold.

Run: ``python -m tests.benchmarks.floods [--quick]``. One JSON line a figure.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from tests.benchmarks.http_stage import (
    Key,
    Program,
    Server,
    calmest,
    judge,
    key_figures,
    make_home,
)

LATE_MS = 400.0
HOLD_MS = 50.0
FLOODS = {
    "burst of 5,000 chunks": "chunks=5000",
    "10 MB in one chunk": "chunks=1 chars=10000000",
    "10 MB of arguments in one chunk": "chunks=1 chars=10000000 kind=arguments",
    "10 MB in 10,000 chunks": "chunks=10000 chars=1000",
    "10 MB of thinking": "chunks=10000 chars=1000 kind=thinking",
    "10 MB of arguments": "chunks=10000 chars=1000 kind=arguments",
    "1 MB in one chunk": "chunks=1 chars=1000000",
}
QUICK = 3
QUICK_TRIES = 3
_IDLE_SECONDS = 12.0
_ORDINARY = "chunks=20"


def measure_late(script: str, runs: int, program: Program, server: Server) -> list[Key]:
    """From the last byte until the end of the answer is on the screen, as if it were a key."""
    late = []
    for run in range(runs):
        program.clear()
        program.send(f"%%{script} end=mark{run}%%")
        program.drain(0.3)
        ended = len(server.times("last"))
        program.forget()
        program.send("\r")
        while len(server.times("last")) == ended:
            program.read(0.002)
        before = program.shares()
        shown = program.until(f"MARK{run}")
        last = server.times("last")[-1]
        late.append(program.timed(last, shown, before))
        program.quiet(0.5)
    return late


def measure_hold(script: str, program: Program, server: Server) -> list[Key]:
    """The keys of a turn and of two seconds after it."""
    program.clear()
    program.send(f"%%{script}%%")
    program.drain(0.3)
    ended = len(server.times("last"))
    program.send("\r")
    while len(server.times("last")) == ended or time.perf_counter() < server.times("last")[-1] + 2:
        program.key()
        program.drain(0.005)
    return list(program.keys)


def main() -> None:
    """Measure and print; exit with 1 where a limit does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as place, Server() as server:
        _, workspace, env = make_home(Path(place), server)
        with Program([], env, workspace) as program:
            program.until("sk anything")
            program.quiet()
            rest = key_figures([program.key() for _ in range(30)])
            at_rest = {"at_rest_p50_ms": rest["held_p50_ms"], "at_rest_max_ms": rest["held_max_ms"]}
            late = measure_late("chunks=5000", 1 if quick else 5, program, server)
            name = "late: burst of 5,000 chunks"
            figures = {"name": name} | key_figures(late) | at_rest
            holds = [judge(figures, "held_p50_ms", LATE_MS)]
            for name, script in list(FLOODS.items())[: QUICK if quick else None]:
                for moment, turn in (("hold", script), ("hold in the next turn", _ORDINARY)):
                    hold = partial(measure_hold, turn, program, server)
                    keys = calmest(hold, HOLD_MS, QUICK_TRIES if quick else 1)
                    figures = {"name": f"{moment}: {name}"} | key_figures(keys) | at_rest
                    holds.append(judge(figures, "held_max_ms", HOLD_MS))
            memory = {"name": "memory after all", "mb": round(program.memory_mb)}
            if not quick:
                program.drain(_IDLE_SECONDS)
                memory["idle_mb"] = round(program.memory_mb)
            print(json.dumps(memory), flush=True)
    sys.exit(not all(holds))


if __name__ == "__main__":
    main()
