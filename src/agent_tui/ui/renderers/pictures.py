"""Pictures as half blocks of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from agent_tui.ui.renderers.lines import Line

if TYPE_CHECKING:
    from agent_tui.runtime.machine.pictures import Colour, Picture

_BLACK: Colour = (0, 0, 0)


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
