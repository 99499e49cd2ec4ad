"""What a theme of many colours becomes on a terminal with 256 of them, or with sixteen."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product

from rich.color import ColorSystem
from textual.color import Color
from textual.theme import Theme

from agent_tui.ui.themes.contrast import TEXT, can_be_read, luminance, readable
from agent_tui.ui.themes.theme import Terminal, tokens_of

_LEVELS = (0, 95, 135, 175, 215, 255)
"""How much red, green or blue there can be in 256 colours."""
_DARK, _HUED = 70, 40
"""From so much light, and difference of its channels, on, a grey cannot stand for a colour."""
_MIDDLE = 0.3
_LEAST_LIGHT = 0.66
"""How light a light ground must be for there to be a colour of most hues that is read on it."""
_GREYS = 25
"""The steps from black to white, of which all but these two are greys of their own."""


def few_colour_tokens(
    theme: Theme, base: Mapping[str, str], *, in_sixteen: bool = False
) -> dict[str, str]:
    """The tokens of a theme, to be given to Rich: what it makes of them can be read.

    Args:
        theme: the theme in force.
        base: what Textual makes of it.
        in_sixteen: whether there are sixteen colours only; each terminal has its own, so that no
            more is done than to let a scroll bar be seen.
    """
    if in_sixteen:
        tokens = tokens_of(theme, base)
        return tokens | {"scrollbar": _visible_thumb(tokens)}
    tokens = tokens_of(theme, base, _In256())
    return {name: _sent_for(value) for name, value in tokens.items()}


class _In256(Terminal):
    """It has 216 tints, few of them dark, and a row of greys."""

    def shown(self, colour: Color) -> Color:
        return in_256(colour)

    def ground(self, colour: Color) -> Color:
        """A light one is light enough that not all that is read on it must be grey."""
        found = in_256(colour)
        if not _MIDDLE < luminance(found) < _LEAST_LIGHT:
            return found
        lighter = (each for each in _tints() if luminance(each) >= _LEAST_LIGHT)
        return min(lighter, key=lambda each: _unlikeness(each.rgb, colour.rgb))

    def readable(self, colour: Color, grounds: Sequence[Color], ratio: float = TEXT) -> Color:
        """Made darker step by step, most would end as a grey: the nearest may have their hue."""
        found = super().readable(colour, grounds, ratio)
        wanted = readable(colour, grounds, ratio)
        if not _says_its_hue(wanted):
            return found
        fitting = (each for each in _tints() if can_be_read(each, grounds, ratio))
        return min((found, *fitting), key=lambda each: _unlikeness(each.rgb, wanted.rgb))


@cache
def _tints() -> tuple[Color, ...]:
    """Every one of the 256 that is not a grey, nor the terminal's own."""
    levels = product(_LEVELS, _LEVELS, _LEVELS)
    return tuple(Color(r, g, b) for r, g, b in levels if not r == g == b)


@cache
def in_256(colour: Color) -> Color:
    """The colour of the 256 that is most like it: a grey as a rule, where it is a dark tint.

    Rich rounds a channel between 0 and 95 to one of these, so that such a tint would be shouted.
    """
    step = min(_GREYS, round((sum(colour.rgb) / 3 + 2) / 10))
    grey = {0: 0, _GREYS: 255}.get(step, 10 * step - 2)
    greys = [] if _says_its_hue(colour) else [(grey, grey, grey)]
    nearest = [*greys, *_tints_near(colour)]
    return Color(*min(nearest, key=lambda each: _unlikeness(each, colour.rgb)))


def _says_its_hue(colour: Color) -> bool:
    return max(colour.rgb) >= _DARK and max(colour.rgb) - min(colour.rgb) >= _HUED


def _tints_near(colour: Color) -> Iterator[tuple[int, int, int]]:
    """Those that are not grey: Rich takes the row of greys for these."""
    for red, green, blue in product(*map(_levels_around, colour.rgb)):
        if not red == green == blue:
            yield red, green, blue


def _levels_around(part: int) -> tuple[int, int]:
    above = bisect_left(_LEVELS, part)
    return _LEVELS[max(0, above - 1)], _LEVELS[above]


def _unlikeness(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """How far apart two colours are, in their hue and how light they are more than in the rest."""
    red, green, blue = (a - b for a, b in zip(one, other, strict=True))
    hue = (red - green) ** 2 + (green - blue) ** 2 + (blue - red) ** 2
    light = 0.3 * red + 0.6 * green + 0.1 * blue
    return red**2 + green**2 + blue**2 + hue + 4 * light**2


def _sent_for(value: str) -> str:
    """What Rich makes one of those colours of: it would send a light grey as a darker one."""
    if not value.startswith("#"):
        return value
    red, green, blue = Color.parse(value).rgb
    part = round((red + 2) / 10) * 255 // _GREYS
    return Color(part, part, part).hex if 0 < red == green == blue < 255 else value


def _visible_thumb(tokens: Mapping[str, str]) -> str:
    names = ("line", "edge", "faint", "foreground")
    ground = _number(tokens["background"])
    seen = (tokens[name] for name in names if _number(tokens[name]) != ground)
    return next(seen, tokens["foreground"])


def _number(colour: str) -> int | None:
    return Color.parse(colour).rich_color.downgrade(ColorSystem.STANDARD).number
