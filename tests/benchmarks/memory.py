"""What the program holds: after the first answer, and after five answers of 10 MB, over HTTP.

A session keeps each answer once as text and once as it is sent. ``over_mb`` is what is held beyond
that and what was held after the first answer, once the program has had a moment of rest. Exits with
1 where a limit does not hold.

Run: ``python -m tests.benchmarks.memory [--answers N]``. One JSON line a figure.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.floods import FLOODS
from tests.benchmarks.http_stage import Program, Server, judge, make_home, resident_mb
from tests.benchmarks.keys import ask

FIRST_ANSWER_MB = 90
OVER_MB = 40
_ANSWERS = [name for name in FLOODS if name.startswith("10 MB")]
_REST_SECONDS = 12.0
_MOST_RESTS = 5
"""On a busy machine the program is not done with the last answer for a while."""


def answer(program: Program, server: Server, script: str) -> None:
    """A prompt and its whole answer, drawn."""
    ended = len(server.times("last"))
    ask(program, server, script)
    while len(server.times("last")) == ended:
        program.drain(0.1)
    program.quiet()


def rest(program: Program, limit_mb: float) -> None:
    """Let the program tidy up, as it does in a pause, and once it comes to one."""
    for _ in range(_MOST_RESTS):
        program.drain(_REST_SECONDS)
        if program.memory_mb <= limit_mb:
            return


def children_mb(pid: int) -> float:
    """What its child processes hold: the one that counts tokens."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    children = " ".join(thread.read_text(encoding="ascii") for thread in threads).split()
    return sum(resident_mb(int(child)) for child in children)


def main() -> None:
    """Measure and print; exit with 1 where a limit does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=len(_ANSWERS))
    names = _ANSWERS[: parser.parse_args().answers]
    with tempfile.TemporaryDirectory() as place, Server() as server:
        home, workspace, env = make_home(Path(place), server)
        with Program([], env, workspace) as program:
            program.until("sk anything")
            program.quiet()
            answer(program, server, "chunks=20")
            base = program.memory_mb
            first: dict[str, object] = {"name": "memory_after_the_first_answer", "mb": round(base)}
            first["tokens_mb"] = round(children_mb(program.child.pid or 0))
            holds = [judge(first, "mb", FIRST_ANSWER_MB)]
            for name in names:
                answer(program, server, FLOODS[name])
            after = program.memory_mb
            kept = sum(log.stat().st_size for log in home.rglob("context.jsonl")) / 1e6
            rest(program, base + 2 * kept + OVER_MB)
            figures = {
                "name": "memory_after_floods",
                "answers": len(names),
                "session_mb": round(kept),
                "mb": round(after),
                "rested_mb": round(program.memory_mb),
                "over_mb": round(program.memory_mb - base - 2 * kept),
            }
            holds.append(judge(figures, "over_mb", OVER_MB))
    print(json.dumps({"name": "memory", "holds": all(holds)}))
    sys.exit(not all(holds))


if __name__ == "__main__":
    main()
