"""Small charts in one line of text: a bar for a share, a column for each day."""

from __future__ import annotations

from collections.abc import Sequence

_COLUMNS = "▁▂▃▄▅▆▇█"
_WIDEST = 4
_EIGHTHS = " ▏▎▍▌▋▊▉"


def draw_bar(share: float, width: int) -> str:
    """A bar of ``width`` cells, filled to a share of 0 to 1; what is not nothing can be seen."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    full, part = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[part] if part else "")).ljust(width)


def draw_columns(values: Sequence[float], width: int) -> str:
    """A column for each value, at most ``width`` of them, the last values; none for a zero.

    Few values have wide columns with a gap between them.
    """
    shown = values[-width:] if width > 0 else ()
    most = max(shown, default=0)
    if most <= 0:
        return " " * len(shown)
    cells = max(1, min(_WIDEST, (width + 1) // len(shown)))
    marks = (_COLUMNS[min(7, int(value / most * 8))] if value > 0 else " " for value in shown)
    gap = " " if cells > 1 else ""
    return gap.join(mark * (cells - len(gap)) for mark in marks)
