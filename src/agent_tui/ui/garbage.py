"""Garbage is collected in small bites while somebody may type, and thoroughly when nobody does."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable

from agent_tui.core.memory import keep_large_blocks_apart, return_freed_memory

TICK_SECONDS = 5.0
_BUSY_SECONDS = 0.05
"""Processor time between two ticks from which on somebody types, or something is at work."""
_BITE = 2_000, 8
_NEVER = 1_000_000


def collect_in_bites() -> None:
    """Collect garbage from now on, but never look at what is there already: it stays.

    A frame leaves thousands of objects. Looked at by the ten thousand, as is usual, they hold a
    key for 20 ms, and those of many frames for 80.
    """
    gc.freeze()
    gc.set_threshold(*_BITE, _NEVER)
    gc.enable()
    keep_large_blocks_apart()


class IdleCollection:
    """Collects what the bites left over, in a pause; ``tick`` is to be called now and then."""

    def __init__(self, used: Callable[[], float] = time.process_time) -> None:
        self._used = used
        self._before = used()

    def tick(self) -> None:
        """Collect all garbage if there is some and the program did nothing since the last tick.

        Its memory is returned by a thread: that needs no lock that a key would wait for.
        """
        used = self._used()
        is_idle = used - self._before < _BUSY_SECONDS
        if is_idle and gc.isenabled() and gc.get_count()[2]:
            gc.collect()
            threading.Thread(target=return_freed_memory, daemon=True).start()
        self._before = self._used()
