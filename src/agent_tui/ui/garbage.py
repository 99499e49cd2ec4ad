"""Garbage is collected in small bites while somebody may type, and thoroughly when nobody does."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable

from textual._styles_cache import StylesCache

TICK_SECONDS = 5.0
_BUSY_SECONDS = 0.05
"""Processor time between two ticks above which somebody is typing or something is running."""
_MOST_BUSY_TICKS = 12
"""Ticks without a pause after which garbage is collected anyway: an agent may work for hours."""
_BITE = 1_000, 6
_NEVER = 1_000_000


def collect_in_bites() -> None:
    """Collect garbage from now on, but never look at what is there already: it stays.

    A frame leaves thousands of objects. Looked at by the ten thousand, as is usual, they hold a
    key for 20 ms, and those of many frames for 80.
    """
    from agent_tui.core.memory import keep_large_blocks_apart

    gc.freeze()
    gc.set_threshold(*_BITE, _NEVER)
    gc.enable()
    keep_large_blocks_apart()


class IdleCollection:
    """Collects what the bites left over, in a pause; ``tick`` is to be called now and then."""

    def __init__(self, used: Callable[[], float] = time.process_time) -> None:
        self._used = used
        self._before = used()
        self._busy_ticks = 0

    def tick(self) -> None:
        """Collect all garbage if the program did nothing since the last tick, or no pause comes.

        Its memory is returned by a thread: that needs no lock that a key would wait for.
        """
        is_idle = self._used() - self._before < _BUSY_SECONDS
        self._busy_ticks = 0 if is_idle else self._busy_ticks + 1
        if self._busy_ticks >= _MOST_BUSY_TICKS or (is_idle and gc.get_count()[2]):
            self._busy_ticks = 0
            self._collect()
        self._before = self._used()

    def _collect(self) -> None:
        if not gc.isenabled():
            return
        from agent_tui.core.memory import return_freed_memory

        # It remembers 1,024 widgets, those of closed screens with all their rows too.
        StylesCache.get_inner_outer.cache_clear()
        gc.collect()
        threading.Thread(target=return_freed_memory, daemon=True).start()
