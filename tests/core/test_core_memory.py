"""Memory that was freed is given back, also where something small stands behind it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHILD = """
import gc, sys
from agent_tui.core.memory import keep_large_blocks_apart, return_freed_memory

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 // 1_000_000

if "apart" in sys.argv:
    keep_large_blocks_apart()
before, size, count = resident(), int(sys.argv[1]), int(sys.argv[2])
for _ in range(2):  # the library learns from the first round to keep what it gets
    blocks, pins = [], []
    for _ in range(count):
        blocks.append(b"x" * size)
        pins.append(b"y" * 2_000)
    full = resident() - before
    blocks.clear()
if "return" in sys.argv:
    return_freed_memory()
print(full, resident() - before)
"""


def kept(size: int, count: int, how: str) -> tuple[int, int]:
    """Megabytes held while the blocks are there, and after they were freed."""
    command = [sys.executable, "-c", CHILD, str(size), str(count), how]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    full, left = map(int, done.stdout.split())
    return full, left


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells")
@pytest.mark.parametrize(
    ("size", "count", "how"), [(10_000_000, 5, "apart"), (60_000, 1_000, "return")]
)
def test_blocks_are_given_back(size: int, count: int, how: str) -> None:
    full, left = kept(size, count, how)
    assert full > 45
    assert left < 12
