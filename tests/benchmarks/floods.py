"""What a flood does to the keys: thousands of chunks at once, and answers of megabytes, over HTTP.

Each answer is followed by an ordinary turn, which sends it all back. ``late`` is how long after the
last byte the end of the answer is on the screen. The limits are the echo of the same program at
rest, and what a person feels.

Run: ``python -m tests.benchmarks.floods [--quick]``. One JSON line a figure.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from tests.benchmarks.http_stage import Program, Server, make_home

LATE_MS = 400.0
HOLD_MS = 50.0
FLOODS = {
    "burst of 5,000 chunks": "chunks=5000",
    "1 MB in one chunk": "chunks=1 chars=1000000",
    "10 MB in one chunk": "chunks=1 chars=10000000",
    "10 MB in 10,000 chunks": "chunks=10000 chars=1000",
}
_ORDINARY = "chunks=20"


def report(**fields: object) -> None:
    """Print one figure as a JSON line."""
    print(json.dumps(fields), flush=True)


def measure_late(script: str, runs: int, program: Program, server: Server) -> list[float]:
    """Milliseconds from the last byte until the end of the answer is on the screen."""
    late = []
    for run in range(runs):
        program.clear()
        program.send(f"%%{script} end=mark{run}%%")
        program.drain(0.3)
        ended = len(server.times("last"))
        program.forget()
        program.send("\r")
        shown = program.until(f"MARK{run}")
        while len(server.times("last")) == ended:
            program.drain(0.02)
        late.append((shown - server.times("last")[-1]) * 1000)
        program.quiet(0.5)
    return late


def measure_hold(script: str, program: Program, server: Server) -> float:
    """The slowest echo of a key during a turn and for two seconds after it."""
    program.clear()
    program.send(f"%%{script}%%")
    program.drain(0.3)
    ended = len(server.times("last"))
    program.send("\r")
    while len(server.times("last")) == ended or time.perf_counter() < server.times("last")[-1] + 2:
        program.key()
        program.drain(0.005)
    return max(key.milliseconds for key in program.keys)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as place, Server() as server:
        _, workspace, env = make_home(Path(place), server)
        with Program([], env, workspace) as program:
            program.until("sk anything")
            program.quiet()
            rest = [program.key().milliseconds for _ in range(30)]
            at_rest = {
                "at_rest_p50_ms": round(statistics.median(rest), 1),
                "at_rest_max_ms": round(max(rest), 1),
            }
            late = measure_late("chunks=5000", 1 if quick else 5, program, server)
            report(
                name="late: burst of 5,000 chunks",
                ms=round(statistics.median(late)),
                limit_ms=LATE_MS,
                **at_rest,
            )
            for name, script in list(FLOODS.items())[: 2 if quick else None]:
                during = measure_hold(script, program, server)
                after = measure_hold(_ORDINARY, program, server)
                for moment, held in (("hold", during), ("hold in the next turn", after)):
                    report(
                        name=f"{moment}: {name}", max_ms=round(held), limit_ms=HOLD_MS, **at_rest
                    )
            report(name="memory after all", mb=round(program.memory_mb))


if __name__ == "__main__":
    main()
