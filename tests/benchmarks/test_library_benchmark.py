"""The quick form of the library benchmark runs and tells every row of the table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.timeout(600)
def test_the_quick_library_benchmark_tells_every_figure(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.benchmarks.library", "--quick"]
    command += ["--folder", str(tmp_path)]
    root = Path(__file__).parents[2]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    rows = {line["what"]: line for line in map(json.loads, run.stdout.splitlines())}
    assert len(rows) == 11
    late = rows["index: loop late at most, while it builds"]
    assert late["unit"] == "ms"
    assert late["keys"] >= 2
    assert late["at_rest_ms"] > 0
    assert late["figure"] >= late["median_ms"]
    added = rows["index: one new line"]
    assert added["bytes_read"] == added["bytes_added"]
    assert list(tmp_path.iterdir()) == []
