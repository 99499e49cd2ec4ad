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
SLACK = 5
"""A shared machine may be slow for a moment; a loop that walks a long history is slow always."""


def figures(*arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", *arguments]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.mark.timeout(300)
def test_keys_come_back_at_every_moment_of_a_turn_however_long_the_session_is() -> None:
    lines = figures("tests.benchmarks.turns", "--sizes", "100,4000", "--turns", "2")
    echoes = [line for line in lines if line["name"] in MOMENTS]
    assert len(echoes) == 2 * len(MOMENTS)
    assert [line for line in echoes if line["p50_ms"] > SLACK * line["at_rest_p50_ms"]] == []
    short, long = (line["cpu_ms"] for line in lines if line["name"] == "turn")
    assert long < 3 * short


@pytest.mark.timeout(300)
def test_floods_hold_no_key_for_long() -> None:
    lines = figures("tests.benchmarks.floods", "--quick")
    held = [line for line in lines if line["name"].startswith("hold")]
    assert len(held) == 4
    assert [line for line in held if line["max_ms"] > 40 * line["at_rest_p50_ms"]] == []
    (late,) = (line for line in lines if line["name"].startswith("late"))
    assert late["ms"] < SLACK * late["limit_ms"]
