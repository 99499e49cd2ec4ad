"""Old garbage goes in a pause, never while something is at work."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from textual._styles_cache import StylesCache
from textual.color import Color

from agent_tui.ui.garbage import IdleCollection


class Ring:
    def __init__(self) -> None:
        self.me = self


@pytest.mark.parametrize("busy", [False, True])
def test_old_garbage_is_collected_when_the_program_is_idle(busy: bool) -> None:
    ring = Ring()
    watch = weakref.ref(ring)
    gc.collect(0)
    gc.collect(1)  # it is old now
    del ring
    times = iter([1.0, 1.5 if busy else 1.01, 2.0])
    collection = IdleCollection(lambda: next(times))
    gc.disable()
    gc.collect(1)
    gc.enable()
    collection.tick()
    assert (watch() is None) is not busy


def test_where_there_is_nothing_new_nothing_is_looked_at() -> None:
    gc.collect()
    before = gc.get_stats()[2]["collections"]
    IdleCollection(lambda: 0.0).tick()
    assert gc.get_stats()[2]["collections"] == before


CHILD = """
import gc, sys, threading
from agent_tui.ui.garbage import IdleCollection, collect_in_bites

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 // 1_000_000

is_large = sys.argv[1] == "large"
if is_large:
    collect_in_bites()
before, size = resident(), 10_000_000 if is_large else 60_000
for _ in range(2):
    blocks, pins = [], []
    for _ in range(50_000_000 // size):
        blocks.append(b"x" * size)
        pins.append(b"y" * (100_000 if is_large else 2_000))
    blocks.clear()
if not is_large:
    gc.collect(1)
    IdleCollection(lambda: 0.0).tick()
    [thread.join() for thread in threading.enumerate() if thread is not threading.main_thread()]
print(resident() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells")
@pytest.mark.parametrize("blocks", ["large", "small"])
def test_what_was_freed_is_given_back(blocks: str) -> None:
    """Large blocks at once, small ones in the next pause."""
    command = [sys.executable, "-c", CHILD, blocks]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 12


def test_a_program_that_never_rests_is_tidied_all_the_same() -> None:
    ring = Ring()
    watch = weakref.ref(ring)
    gc.collect(0)
    gc.collect(1)
    del ring
    times = iter(float(n) for n in range(100))
    collection = IdleCollection(lambda: next(times))
    ticks = 0
    while watch() is not None and ticks < 20:
        collection.tick()
        ticks += 1
    assert 1 < ticks < 20


def test_the_rows_of_closed_screens_are_not_remembered() -> None:
    cache = StylesCache()
    cache.get_inner_outer(Color(0, 0, 0), Color(9, 9, 9))
    watch = weakref.ref(cache)
    del cache
    times = iter(float(n) for n in range(100))
    collection = IdleCollection(lambda: next(times))
    for _ in range(20):
        collection.tick()
    assert watch() is None
