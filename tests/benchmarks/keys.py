"""How fast a key comes back in a real pty over HTTP: idle, and while 500 chunks a second stream.

A key is timed from the write into the pty until the program has drawn it, in sessions of several
lengths. Memory is the resident set of the whole program. Exits with 1 where a limit does not hold.

Run: ``python -m tests.benchmarks.keys [--keys N] [--sizes 100,20000]``. One JSON line a figure.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.http_stage import (
    Key,
    Program,
    Server,
    judge,
    key_figures,
    make_home,
    make_session,
)

P50_MS = 15.0
IDLE_P50_MS = 8.0
CHUNKS_PER_SECOND = 500
_ANSWER_SECONDS = 120
"""Longer than the keys take on any machine: the program is closed while it streams."""
_FRAME = "sk anything"


def press(program: Program, keys: int, pause: float = 0.03) -> list[Key]:
    """Keys, a few frames apart."""
    program.clear()
    for _ in range(keys):
        program.key()
        program.drain(pause)
    return list(program.keys)


def ask(program: Program, server: Server, script: str) -> None:
    """Send a prompt, and wait until its answer streams."""
    program.clear()
    asked = len(server.times("first"))
    program.send(f"%%{script}%%")
    program.drain(0.3)
    program.send("\r")
    while len(server.times("first")) == asked:
        program.drain(0.05)
    program.drain(0.5)


def measure(program: Program, server: Server, keys: int, size: int) -> bool:
    """Echo at rest, then beside an answer that outlasts the keys; whether it holds."""
    program.until(_FRAME)
    program.quiet()
    idle = key_figures(press(program, keys))
    memory = program.memory_mb
    holds = judge({"name": "key_echo_idle", "messages": size} | idle, "held_p50_ms", IDLE_P50_MS)
    ask(program, server, f"chunks={CHUNKS_PER_SECOND * _ANSWER_SECONDS} rate={CHUNKS_PER_SECOND}")
    ended = len(server.times("last"))
    streaming = key_figures(press(program, keys))
    assert len(server.times("last")) == ended, "the answer ended before the measurement"
    figures = {"name": "key_echo_streaming", "messages": size, "rate": CHUNKS_PER_SECOND}
    holds &= judge(figures | streaming, "held_p50_ms", P50_MS)
    sizes = {"idle_mb": round(memory), "streaming_mb": round(program.memory_mb)}
    print(json.dumps({"name": "memory", "messages": size} | sizes), flush=True)
    return holds


def main() -> None:
    """Measure and print; exit with 1 where a limit does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument("--sizes", default="100,2000,20000")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, Server() as server:
        home, workspace, env = make_home(Path(place), server)
        holds = True
        for size in map(int, options.sizes.split(",")):
            session = make_session(home, workspace, size)
            with Program(["-r", session], env, workspace) as program:
                holds &= measure(program, server, options.keys, size)
    sys.exit(not holds)


if __name__ == "__main__":
    main()
