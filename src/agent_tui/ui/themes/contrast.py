"""How well one colour can be told from another, and the nearest one that can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from textual.color import Color

TEXT = 4.5
"""What text needs against its ground (WCAG 2.1, AA)."""
MARK = 3.0
"""What a mark or a bar needs against its ground."""

_BLACK, _WHITE = Color(0, 0, 0), Color(255, 255, 255)
_STEPS = 24
_MIDDLE = 0.18


def luminance(colour: Color) -> float:
    """Relative luminance as WCAG 2.1 defines it."""
    r, g, b = colour.rgb
    return 0.2126 * _linear(r) + 0.7152 * _linear(g) + 0.0722 * _linear(b)


@cache
def _linear(part: int) -> float:
    share = part / 255
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)


def readable(
    colour: Color,
    grounds: Iterable[Color],
    ratio: float = TEXT,
    shown: Callable[[Color], Color] = lambda colour: colour,
) -> Color:
    """The colour, made lighter or darker until it is readable on every one of the grounds.

    Args:
        colour: what it is made from.
        grounds: where it may stand.
        ratio: what it needs there.
        shown: what a terminal makes of a colour.
    """
    is_dark, decisive = _decisive(grounds)
    end = _WHITE if is_dark else _BLACK
    for step in range(_STEPS + 1):
        tried = shown(colour.blend(end, step / _STEPS))
        if _stands_out(tried, is_dark, decisive, ratio):
            return tried
    return end


def can_be_read(colour: Color, grounds: Iterable[Color], ratio: float = TEXT) -> bool:
    """Whether a colour is readable on every one of the grounds."""
    return _stands_out(colour, *_decisive(grounds), ratio)


def _decisive(grounds: Iterable[Color]) -> tuple[bool, float]:
    """Whether these are dark grounds, and how light the one is that is hardest to read on."""
    light = [luminance(ground) for ground in grounds]
    # On a dark ground the lightest of them decides, on a light one the darkest.
    is_dark = light[0] < _MIDDLE
    return is_dark, max(light) if is_dark else min(light)


def _stands_out(colour: Color, is_dark: bool, decisive: float, ratio: float) -> bool:
    low, high = sorted((luminance(colour), decisive))
    return (high + 0.05) / (low + 0.05) >= ratio and (high == decisive) != is_dark
