"""Folding: a few rows of many, and a row that says how many more there are."""

from __future__ import annotations

from rich.segment import Segment

from agent_tui.core.format import format_count
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.lines import Line


def fold(
    rows: list[Line], limit: int, canvas: Canvas, *, expanded: bool, tail: bool = False
) -> list[Line]:
    """The first (or last) rows, and a row that says how many more there are."""
    hidden = len(rows) - limit
    if expanded or hidden <= 1:
        return rows
    note = Segment(f"… {format_count(hidden, 'more line')}", canvas.palette.faint)
    return [[note], *rows[hidden:]] if tail else [*rows[:limit], [note]]
