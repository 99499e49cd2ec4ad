"""A block as drawn: its rows, the sign beside them, and how they become rows of the screen."""

from __future__ import annotations

from dataclasses import field

from rich.segment import Segment
from rich.style import Style

from agent_tui.core.dataclass import dataclass
from agent_tui.ui.renderers.lines import Line, Row, crop_text, finish_row, line_cells

GUTTER = 3
"""Cells left of a block's text: the cursor's bar, the block's sign, and a space."""
MARGIN_RIGHT = 1

_NOTHING = Segment(" ")


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a renderer returns.

    Attributes:
        rows: the content, without gutter and margins.
        sign: one cell, beside the first row.
        rail: one cell, beside the other rows.
        surface: a background for the whole width, where the block has one.
        space: empty rows above the block.
        wide: the rows fill the gutter too (rules across the screen).
        gap: the row that stands for what is left out; -1 where nothing is.
    """

    rows: list[Line]
    sign: Segment = _NOTHING
    rail: Segment = _NOTHING
    surface: Style | None = None
    space: int = 1
    wide: bool = False
    gap: int = -1


NOTHING = Drawing([], space=0)


def assemble(drawing: Drawing, width: int, base: Style) -> list[Row]:
    """The finished rows of a drawing, margins and gutter included."""
    if not drawing.rows:
        return []
    finished: list[Row] = [(Segment(" " * width, base),)] * drawing.space
    for number, row in enumerate(drawing.rows):
        sign = drawing.rail if number else drawing.sign
        gutter = [_NOTHING] if drawing.wide else [_NOTHING, sign, _NOTHING]
        finished.append(finish_row([*gutter, *row], width, base, drawing.surface))
    return finished


@dataclass(slots=True)
class Parts:
    """One row made of pieces at the left and pieces at the right edge; the left one is cropped."""

    left: Line
    right: Line = field(default_factory=list)

    def fit(self, width: int, filler: Segment = _NOTHING) -> Line:
        """The row, exactly ``width`` cells, ``filler`` repeated between the two sides."""
        right = self.right if line_cells(self.right) + 8 <= width else []
        room = width - line_cells(right)
        left: Line = []
        for text, style, _ in self.left:
            shown = crop_text(text, room)
            left.append(Segment(shown, style))
            room -= line_cells([left[-1]])
            if shown != text:
                break
        return [*left, Segment(filler.text * max(0, room), filler.style), *right]
