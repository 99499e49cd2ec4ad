"""Internal statistics, for ``/debug``."""

from __future__ import annotations

from agent_tui.context.cache import CacheStatistics, all_statistics


def cache_statistics() -> list[CacheStatistics]:
    """Entries and hits of each cache of the process, by name."""
    return all_statistics()
