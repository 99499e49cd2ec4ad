"""When a context is full: the token count at which a compaction fires."""

from __future__ import annotations

DEFAULT_RESERVED = 50_000
DEFAULT_RATIO = 0.85


def trigger_at(window: int, reserved: int = DEFAULT_RESERVED, ratio: float = DEFAULT_RATIO) -> int:
    """The token count from which on the context is full; 0 where the window is not known.

    It is where ``tokens + reserved >= window`` or ``tokens >= ratio * window`` first holds.
    """
    if window <= 0:
        return 0
    return max(1, min(window - scale_reserve(window, reserved), -int(-ratio * window // 1)))


def should_compact(
    tokens: int, window: int, reserved: int = DEFAULT_RESERVED, ratio: float = DEFAULT_RATIO
) -> bool:
    """Whether a context of so many tokens is full."""
    mark = trigger_at(window, reserved, ratio)
    return bool(mark) and tokens >= mark


def scale_reserve(window: int, reserved: int) -> int:
    """The tokens kept free for the answer: the default is a quarter of a small window at most.

    A reserve that somebody chose is only held to half the window.
    """
    return min(reserved, window // 4 if reserved == DEFAULT_RESERVED else window // 2)
