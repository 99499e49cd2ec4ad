"""NO_COLOR: colours removed from every line; weight and reverse carry their meaning."""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

_QUIET = (7, 8)
_NO_GROUND = (0, 8)
_SLANTED = Style(italic=False, underline=True)
_UPRIGHT = Style(italic=False)
_BLOCK, _SQUARE = "█", "■"
_SHADES = {10: "▓", 13: "▒", 11: "░"}
"""What stands for a colour of the theme where it tells the parts of a bar apart."""
_DIM = Style(dim=True)
_REVERSE = Style(reverse=True)


class Colourless(LineFilter):
    """Sends bold, dim, reverse, underline and strike only; made for the theme of sixteen colours.

    What that theme says quietly is dim, what it gives a ground is reversed, and what would be
    slanted is dim or underlined. The parts of a bar, and the squares that say what they are, have a
    texture each.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments without a colour."""
        return [
            segment
            if segment.style is None or segment.control
            else Segment(_with_texture(segment.text, segment.style), _without_colour(segment.style))
            for segment in segments
        ]


def _with_texture(text: str, style: Style) -> str:
    bar = text.strip()
    if not bar or bar.strip(_BLOCK) not in ("", _SQUARE) or style.color is None:
        return text
    shade = _SHADES.get(style.color.number or 0)
    return text.replace(bar, len(bar) * shade) if shade else text


@lru_cache(maxsize=4096)
def _without_colour(style: Style) -> Style:
    plain = style.without_color
    if style.meta:
        plain += Style.from_meta(style.meta)
    is_quiet = style.color is not None and style.color.number in _QUIET
    if is_quiet:
        plain += _DIM
    if style.italic:
        plain += _UPRIGHT if is_quiet or style.dim else _SLANTED
    ground = style.bgcolor
    if ground is not None and not ground.is_default and ground.number not in _NO_GROUND:
        plain += _REVERSE
    return plain
