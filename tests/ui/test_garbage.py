"""Old garbage goes in a pause, never while something is at work."""

from __future__ import annotations

import gc
import weakref

import pytest

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
