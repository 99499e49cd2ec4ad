"""The quick forms of the benchmarks over HTTP run, and no ratio is far off."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MOMENTS = ("echo_enter", "echo_request", "echo_tool", "echo_stream", "echo_end")
SCREEN_FIGURES = {
    "echo_idle",
    "echo_beside_100_chunks_a_second",
    "echo_beside_2000_chunks_a_second",
    "processor_of_an_answer_of_10_s",
    "processor_at_rest",
    "opening_behind_the_first_frame",
    "page_down",
    "screen_opened",
    "garbage_on_the_loop",
}
SLACK = 2
"""What the machine takes from the program's threads is not all seen: the full form has no slack."""
ECHOES = 8
"""On a slow machine the limit is so many echoes at rest."""


def figures(*arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", *arguments]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode in {0, 1}, run.stderr
    assert "Traceback" not in run.stderr, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def is_slow(line: dict[str, Any]) -> bool:
    """Whether the slowest key was held too long, by the clock or beside one at rest."""
    limit = max(line["limit_held_max_ms"], ECHOES * line["at_rest_p50_ms"])
    return bool(line["held_max_ms"] > SLACK * limit)


def exceeds(line: dict[str, Any], slower: float) -> bool:
    """Whether a figure is over a limit, for a machine that is so much slower than usual."""
    limits = {name: most for name, most in line.items() if name.startswith("limit_")}
    return any(
        line[name.removeprefix("limit_")] > most * SLACK * (slower if name.endswith("_ms") else 1)
        for name, most in limits.items()
    )


@pytest.mark.timeout(900)
def test_keys_come_back_at_every_moment_of_a_turn_however_long_the_session_is() -> None:
    lines = figures("tests.benchmarks.turns", "--sizes", "100,4000", "--turns", "2", "--tries", "3")
    echoes = [line for line in lines if line["name"] in MOMENTS]
    assert len(echoes) == 2 * len(MOMENTS)
    assert [line for line in echoes if is_slow(line)] == []
    (growth,) = (line for line in lines if line["name"] == "cpu_growth")
    assert growth["ratio"] < growth["limit_ratio"]


@pytest.mark.timeout(900)
def test_floods_hold_no_key_for_long() -> None:
    lines = figures("tests.benchmarks.floods", "--quick")
    held = [line for line in lines if line["name"].startswith("hold")]
    assert len(held) == 6
    assert [line for line in held if is_slow(line)] == []
    (late,) = (line for line in lines if line["name"].startswith("late"))
    limit = max(late["limit_held_p50_ms"], ECHOES * ECHOES * late["at_rest_p50_ms"])
    assert late["held_p50_ms"] < limit


@pytest.mark.timeout(900)
def test_every_limit_of_the_screen_holds_beside_a_bare_app() -> None:
    bare, *lines = figures("tests.benchmarks.ui", "--messages", "4000", "--keys", "20")
    assert {line["name"] for line in lines} == SCREEN_FIGURES
    slower = max(1.0, bare["cpu_ms"] / bare["usual_cpu_ms"])
    assert [line for line in lines if exceeds(line, slower)] == []


@pytest.mark.timeout(900)
def test_keys_are_timed_over_http() -> None:
    lines = figures("tests.benchmarks.keys", "--sizes", "100,4000", "--keys", "12")
    names = [line["name"] for line in lines]
    assert names == ["key_echo_idle", "key_echo_streaming", "memory"] * 2
