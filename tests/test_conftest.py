"""What the hooks of every test run see to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOOKS = "from tests.conftest import pytest_runtest_makereport\n"
FAILING = """
import gc
import traceback


class Ring:
    def __init__(self):
        self.me = self

    def __del__(self):
        try:
            (1).x + (2).y
        except AttributeError:
            traceback.format_exc()
        if gc.get_threshold()[0] == 5:
            Ring()


def test_one(request):
    thresholds = gc.get_threshold()
    request.addfinalizer(lambda: gc.set_threshold(*thresholds))
    gc.set_threshold(5)
    Ring()
    assert False, "as it should"


def test_another():
    pass
"""


@pytest.mark.slow
def test_a_failure_is_told_though_garbage_waits(tmp_path: Path) -> None:
    """Where a finalizer told of an error meanwhile, one failure ended the run of all tests."""
    (tmp_path / "conftest.py").write_text(HOOKS)
    (tmp_path / "test_failing.py").write_text(FAILING)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["--rootdir", str(tmp_path), "-c", "/dev/null", str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed" in ran.stdout, ran.stdout
    assert "as it should" in ran.stdout
    assert "INTERNALERROR" not in ran.stdout
