"""The first frame stays near that of a bare app, measured beside it in the same run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SLACK = 1.5
"""A shared machine may be slow for a moment; the full form holds the limit itself."""


def test_the_first_frame_is_near_that_of_a_bare_app() -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.benchmarks.startup", "--runs", "3"]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    first_frame, first_answer = (json.loads(line) for line in run.stdout.splitlines())
    assert first_frame["ratio"] <= SLACK * first_frame["limit_ratio"], run.stdout
    assert first_answer["ms"] > 0
