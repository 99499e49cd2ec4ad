"""Gives freed memory back to the system, and keeps bulk-loaded records out of garbage collection.

Left alone, the GNU library keeps most of what is freed for later.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_LARGE_BLOCK = -3  # M_MMAP_THRESHOLD
_LARGE_BYTES = 1 << 20
_MANY_BYTES = 1 << 20


def keep_large_blocks_apart() -> None:
    """Have blocks of megabytes returned as soon as they are freed, however many came before."""
    import ctypes

    with suppress(OSError, AttributeError):  # only the GNU library has it
        ctypes.CDLL(None).mallopt(_LARGE_BLOCK, _LARGE_BYTES)


def return_freed_memory() -> None:
    """Return what small blocks left over; takes milliseconds for every hundred megabytes."""
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def gc_paused(size: int, *, stays: bool = True) -> Iterator[None]:
    """Load many records without the garbage collector walking over them, now or ever after.

    Args:
        size: the bytes that they are read from; of few nothing is gained.
        stays: whether they are held for long. What is then alive is never looked at again, so old
            garbage that nobody collected yet stays too; what is soon freed must not do that.

    Records hold no cycles. A full collection over a big log would stall every thread.
    """
    if size < _MANY_BYTES or not gc.isenabled():
        yield
        return
    if stays:
        gc.collect(1)
    gc.disable()
    try:
        yield
    finally:
        if stays:
            gc.freeze()
        gc.enable()
