"""What is freed goes back to the system; left alone, the GNU library keeps most of it for later."""

from __future__ import annotations

from contextlib import suppress

_LARGE_BLOCK = -3  # M_MMAP_THRESHOLD
_LARGE_BYTES = 1 << 20


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
