"""Bounded memories of what is dear to work out: token counts, file reads, what a result says.

Each has a limit and counts its hits and misses, and each may be asked from several threads.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from cachetools import Cache, LRUCache, TTLCache

from agent_tui.core.dataclass import dataclass

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

COUNT_LIMIT_CHARS = 32_000_000
RESULT_LIMIT, RESULT_SECONDS = 20_000, 600.0
FILE_LIMIT, FILE_SECONDS = 64, 60.0

_caches: weakref.WeakSet[BoundedCache[Any, Any]] = weakref.WeakSet()


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """How a cache is doing; ``size`` and ``limit`` are in the cache's own unit."""

    name: str
    hits: int
    misses: int
    entries: int
    size: float
    limit: float

    @property
    def hit_share(self) -> float:
        """The share of questions that it could answer, 0.0 to 1.0."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0


class BoundedCache(Generic[K, V]):
    """A cache that never outgrows its limit; ``seconds`` also lets entries grow old.

    Without ``seconds`` the least recently used entry goes first.
    """

    def __init__(
        self,
        name: str,
        limit: float,
        *,
        seconds: float | None = None,
        size_of: Callable[[tuple[K, V]], float] | None = None,
    ) -> None:
        self.name = name
        self._entries: Cache[K, tuple[K, V]] = (
            LRUCache(limit, getsizeof=size_of)
            if seconds is None
            else TTLCache(limit, seconds, getsizeof=size_of)
        )
        self._lock = threading.Lock()
        self._hits = 0
        self._misses = 0
        _caches.add(self)

    def get(self, key: K) -> V | None:
        """What is remembered for a key, or None."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                self._misses += 1
                return None
            self._hits += 1
            return found[1]

    def holds(self, key: K) -> bool:
        """Whether something is remembered for a key; this is no question of the statistics."""
        with self._lock:
            return key in self._entries

    def put(self, key: K, value: V) -> None:
        """Remember a value; one that is larger than the whole limit is not kept."""
        with self._lock:
            try:
                self._entries[key] = (key, value)
            except ValueError:
                return

    def find(self, key: K, make: Callable[[], V]) -> V:
        """What is remembered for a key; made, and remembered, where it is not."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def clear(self) -> None:
        """Forget everything; the statistics stay."""
        with self._lock:
            self._entries.clear()

    @property
    def statistics(self) -> CacheStatistics:
        """How it is doing."""
        with self._lock:
            return CacheStatistics(
                self.name,
                self._hits,
                self._misses,
                len(self._entries),
                self._entries.currsize,
                self._entries.maxsize,
            )


def all_statistics() -> list[CacheStatistics]:
    """How every cache of the process is doing, by name."""
    found = (cache.statistics for cache in list(_caches))
    return sorted(found, key=lambda each: (each.name, -each.entries))


def new_count_cache() -> BoundedCache[str, int]:
    """A cache of token counts by content, limited by the characters of all its texts."""
    return BoundedCache("token counts", COUNT_LIMIT_CHARS, size_of=lambda pair: len(pair[0]) + 64)
