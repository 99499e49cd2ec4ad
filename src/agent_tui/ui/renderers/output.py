"""What a tool or a command printed; of a long text the first and the last lines.

Lines are counted, not split: no more of a text is looked at than is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style

from agent_tui.core.dataclass import dataclass
from agent_tui.core.format import format_count
from agent_tui.core.shell import find_left_out
from agent_tui.core.text import clean
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.lines import Line, crop_text, wrap_text

_FOLDED_LINE_ROWS = 2
"""Rows that a line takes where there are many; where there are few, they share the rows of all."""

_MOST_LINES = 1_000
"""Lines of either end of an opened text, and rows; the reader shows all."""

_MOST_LINE_ROWS = 400

NOT_SHOWN = " not shown: open it full screen"
"""Stands behind how many lines an opened text has that no row shows."""


@dataclass(frozen=True, slots=True)
class Ends:
    """How many lines of a text are shown before and behind those that are left out."""

    head: int
    tail: int


def count_lines(text: str) -> int:
    """How many lines were printed, those too that were not kept; an empty text has none."""
    _, left_out = find_left_out(text)
    return _lines(text) + max(0, left_out - 1)  # a line stands for them


def _lines(text: str) -> int:
    return text.count("\n") + 1 if text else 0


def draw_output(
    text: str, style: Style, canvas: Canvas, *, folded: Ends, expanded: bool, is_growing: bool
) -> list[Line]:
    """The rows of what was printed: folded to its ends, with how many lines are between, or whole.

    ``is_growing``: more comes, and what came first is not in the text any longer.
    """
    count = _lines(text)
    ends = Ends(_MOST_LINES, _MOST_LINES) if expanded else folded
    if is_growing:
        ends = Ends(0, ends.head + ends.tail)
    first = ends.head + (count == ends.head + ends.tail + 1)  # the note would take its row
    if expanded:
        each, most = _MOST_LINE_ROWS, _MOST_LINES
    else:
        shown = max(1, min(count, ends.head + ends.tail))
        most = _FOLDED_LINE_ROWS * (ends.head + ends.tail)
        each = most // shown
    head = _draw_lines(text.split("\n", first)[:first], style, canvas, each, most)
    last = min(ends.tail, count - len(head))
    ending = reversed(text.rsplit("\n", last)[-last:]) if last else []
    tail = _draw_lines(ending, style, canvas, each, most)
    hidden = count - len(head) - len(tail)
    if not hidden:
        return _joined(head, tail)
    hidden += _left_out_between(text, len(head), len(tail))
    told = f"… {format_count(hidden, 'line')}"
    if expanded:
        told += NOT_SHOWN
    note: Line = [Segment("…" if is_growing else told, canvas.palette.faint)]
    return _joined(head, [*tail, [note]])


def _left_out_between(text: str, head: int, tail: int) -> int:
    """How many lines more than are there stand between the first and the last lines of a text."""
    place, left_out = find_left_out(text)
    line = text.count("\n", 0, max(0, place))
    return left_out - 1 if left_out and head <= line < _lines(text) - tail else 0


def _draw_lines(
    lines: Iterable[str], style: Style, canvas: Canvas, each: int, most: int
) -> list[list[Line]]:
    """The rows of each line, for as many lines as begin within ``most`` rows."""
    drawn: list[list[Line]] = []
    room = most
    for line in lines:
        if room <= 0:
            break
        rows = _wrap(line, canvas.width, each)
        drawn.append([[Segment(row, style)] for row in rows])
        room -= len(rows)
    return drawn


def _wrap(line: str, width: int, most: int) -> list[str]:
    """The first rows of a line; the last of them tells where it is cut."""
    seen = most * width + 1
    rows = wrap_text(clean(line[:seen]), width)
    if len(rows) > most or len(line) > seen:
        rows = rows[:most]
        rows[-1] = crop_text(f"{rows[-1]}…", width)
    return rows


def _joined(head: list[list[Line]], tail: list[list[Line]]) -> list[Line]:
    """The rows of the head, and those of the tail, whose last line comes first."""
    return [row for rows in (*head, *reversed(tail)) for row in rows]
