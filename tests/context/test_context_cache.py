from __future__ import annotations

import time

from agent_tui.context.cache import BoundedCache


def test_the_least_recently_used_entry_goes_first() -> None:
    cache: BoundedCache[str, int] = BoundedCache("numbers", 2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert cache.get("b") is None
    assert cache.get("a") == 1


def test_a_cache_never_outgrows_its_limit() -> None:
    cache: BoundedCache[str, int] = BoundedCache("texts", 100, size_of=lambda pair: len(pair[0]))
    for number in range(50):
        cache.put(f"{number:010}", number)
    cache.put("x" * 101, 1)
    assert cache.statistics.size <= 100
    assert cache.get("x" * 101) is None


def test_entries_of_a_timed_cache_grow_old() -> None:
    cache: BoundedCache[str, int] = BoundedCache("results", 10, seconds=0.01)
    cache.put("a", 1)
    time.sleep(0.02)
    assert cache.get("a") is None


def test_statistics_tell_how_often_it_helped() -> None:
    cache: BoundedCache[str, int] = BoundedCache("numbers", 10)
    assert [cache.find("a", lambda: 7) for _ in range(4)] == [7] * 4
    assert (cache.statistics.hits, cache.statistics.misses) == (3, 1)
    assert cache.statistics.hit_share == 0.75
