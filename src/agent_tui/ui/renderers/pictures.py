"""Pictures as half blocks of text, kept while they are looked at.

Like colours of code they come later: a picture is decoded in a thread.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from agent_tui.ui.renderers.lines import Line

if TYPE_CHECKING:
    from agent_tui.runtime.machine.pictures import Colour, Picture

_MOST_KEPT = 32
_BLACK: Colour = (0, 0, 0)


class Pictures:
    """The pictures drawn last. ``find`` answers at once and remembers what it did not have."""

    def __init__(self, *, decodes: bool = False) -> None:
        self._drawn: OrderedDict[tuple[int, int, int, Colour], list[Line]] = OrderedDict()
        self._decodes = decodes
        self.is_missing = False

    def decoding(self) -> Pictures:
        """The same pictures, for a thread: what is not there is decoded."""
        other = Pictures(decodes=True)
        other._drawn = self._drawn
        return other

    def find(self, url: str, columns: int, rows: int, ground: Colour) -> list[Line]:
        """The rows of a picture; none where it cannot be shown, or not yet (``is_missing``)."""
        key = (hash(url), columns, rows, ground)
        known = self._drawn.get(key)
        if known is None and self._decodes:
            from agent_tui.runtime.machine.pictures import open_picture

            picture = open_picture(url)
            known = draw_half_blocks(picture, columns, rows, ground) if picture else []
            self._drawn[key] = known
            if len(self._drawn) > _MOST_KEPT:
                self._drawn.popitem(last=False)
        self.is_missing = self.is_missing or known is None
        return known or []


def draw_half_blocks(picture: Picture, columns: int, rows: int, ground: Colour) -> list[Line]:
    """A picture as rows of ▀, two pixels to a cell."""
    from agent_tui.runtime.machine.pictures import read_pixels

    styles: dict[tuple[Colour, Colour], Style] = {}
    lines: list[Line] = []
    for cells in read_pixels(picture, columns, rows, ground):
        line: Line = []
        for pair in cells:
            style = styles.get(pair)
            if style is None:
                upper, lower = (Color.from_rgb(*colour) for colour in pair)
                style = styles[pair] = Style(color=upper, bgcolor=lower)
            if line and line[-1].style is style:
                line[-1] = Segment(f"{line[-1].text}▀", style)
            else:
                line.append(Segment("▀", style))
        lines.append(line)
    return lines


def ground_of(style: Style) -> Colour:
    """The background of a style as a colour."""
    colour = style.bgcolor
    triplet = colour.get_truecolor() if colour is not None else None
    return _BLACK if triplet is None else (triplet.red, triplet.green, triplet.blue)
