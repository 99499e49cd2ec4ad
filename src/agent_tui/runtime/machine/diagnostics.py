"""How the program is doing inside, for ``/debug``."""

from __future__ import annotations

from agent_tui.context.cache import CacheStatistics, all_statistics


def cache_statistics() -> list[CacheStatistics]:
    """How each cache of the process is doing, by name."""
    return all_statistics()
