"""Memory that was freed is given back, also where something small stands behind it."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_tui.core.jsonl import encode
from agent_tui.core.memory import gc_paused
from agent_tui.history.sources.file_source import open_source
from agent_tui.history.tree.logs import Source
from agent_tui.history.tree.session_tree import SessionTree
from agent_tui.importers.registry import import_session

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


class Cycle:
    """What only the garbage collector frees."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def collecting() -> Iterator[None]:
    """What was frozen before stays apart: the count tells what the test adds."""
    gc.enable()
    gc.collect()
    yield
    gc.freeze()


def write_log(path: Path, megabytes: int) -> Path:
    header = {"role": "_session", "id": "one", "format": 1}
    line = encode({"role": "user", "content": "x" * 10_000})
    path.write_bytes(encode(header) + line * (105 * megabytes or 3))
    return path


@pytest.mark.usefixtures("collecting")
def test_a_log_that_is_read_in_passing_makes_no_garbage_permanent(tmp_path: Path) -> None:
    log = write_log(tmp_path / "context.jsonl", 2)
    frozen = gc.get_freeze_count()
    import_session(log)
    assert gc.get_freeze_count() <= frozen
    assert gc.isenabled()


@pytest.mark.usefixtures("collecting")
def test_the_tree_of_a_small_session_makes_no_garbage_permanent(tmp_path: Path) -> None:
    log = write_log(tmp_path / "context.jsonl", 0)
    frozen = gc.get_freeze_count()
    SessionTree.of_files((Source("one", log),))
    assert gc.get_freeze_count() <= frozen


@pytest.mark.usefixtures("collecting")
def test_a_log_that_is_held_is_not_walked_over_again(tmp_path: Path) -> None:
    log = write_log(tmp_path / "context.jsonl", 2)
    frozen = gc.get_freeze_count()
    source = open_source(log)
    assert gc.get_freeze_count() > frozen
    del source


@pytest.mark.usefixtures("collecting")
def test_young_garbage_is_collected_before_what_is_alive_is_held() -> None:
    gone = weakref.ref(Cycle())
    with gc_paused(1 << 30):
        pass
    gc.collect()
    assert gone() is None
