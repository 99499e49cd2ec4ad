"""How fast a key comes back at every moment of a turn, over HTTP, however long the session is.

A turn is a prompt, a request, a tool call, a second request and an answer of 100 chunks a second;
meanwhile letters are typed, one after the other. The limit beside each figure is the echo of the
same program at rest.

Run: ``python -m tests.benchmarks.turns [--sizes 100,2000,6000,20000] [--turns N]``.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.http_stage import Key, Program, Server, make_home, make_session

MAX_MS = 50.0
_PROMPT = "%%chunks=100 rate=100 tools=1 pause=0.2%%"


def report(name: str, keys: Sequence[Key], **more: object) -> None:
    """Print one figure as a JSON line."""
    times = [key.milliseconds for key in keys] or [0.0]
    figures = {
        "keys": len(keys),
        "p50_ms": round(statistics.median(times), 1),
        "max_ms": round(max(times), 1),
        "limit_max_ms": MAX_MS,
    }
    print(json.dumps({"name": name} | figures | more), flush=True)


def play_turn(program: Program, server: Server) -> dict[str, list[Key]]:
    """One turn with keys all through it, by the moment at which they were pressed."""
    program.clear()
    program.send(_PROMPT)
    program.drain(0.3)
    asked = len(server.times("request"))
    program.send("\r")
    while len(server.times("last")) < asked + 2:
        program.key()
        program.drain(0.01)
    for _ in range(25):
        program.key()
        program.drain(0.01)
    ends = {
        "enter": server.times("request")[asked],
        "request": server.times("last")[asked],
        "tool": server.times("first")[asked + 1],
        "stream": server.times("last")[asked + 1],
        "end": math.inf,
    }
    moments: dict[str, list[Key]] = {moment: [] for moment in ends}
    for key in program.keys:
        moments[next(moment for moment, end in ends.items() if key.at < end)].append(key)
    return moments


def measure(count: int, turns: int, server: Server) -> None:
    """All figures of a session of so many messages."""
    with tempfile.TemporaryDirectory() as place:
        home, workspace, env = make_home(Path(place), server)
        session = make_session(home, workspace, count)
        with Program(["-r", session], env, workspace) as program:
            program.until("called twice")
            program.quiet()
            rest = [program.key() for _ in range(30)]
            report("echo_at_rest", rest, messages=count)
            at_rest = round(statistics.median(key.milliseconds for key in rest), 1)
            all_moments: dict[str, list[Key]] = {}
            used = []
            for _ in range(turns):
                before = program.cpu_seconds
                for moment, keys in play_turn(program, server).items():
                    all_moments.setdefault(moment, []).extend(keys)
                used.append(program.cpu_seconds - before)
                program.forget()
                program.quiet(0.5)
            for moment, keys in all_moments.items():
                report(f"echo_{moment}", keys, messages=count, at_rest_p50_ms=at_rest)
            sent = max(event.get("bytes", 0) for event in server.events)
            line = {
                "name": "turn",
                "messages": count,
                "cpu_ms": round(statistics.median(used) * 1000),
                "body_kb": round(sent / 1000),
                "memory_mb": round(program.memory_mb),
            }
            print(json.dumps(line), flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="100,2000,6000,20000")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    with Server() as server:
        for size in options.sizes.split(","):
            measure(int(size), options.turns, server)


if __name__ == "__main__":
    main()
