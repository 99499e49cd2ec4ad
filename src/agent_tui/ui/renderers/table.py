"""Tables that arrive row by row: the first rows decide the widths, later ones keep to them."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from rich.segment import Segment

from agent_tui.core.dataclass import dataclass
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.inline import style_inline
from agent_tui.ui.renderers.lines import Line, line_cells, wrap_spans

Align: TypeAlias = Literal["left", "right", "center"]

_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_BAR = re.compile(r"(?<!\\)\|")
_LOOK_ROWS = 24
_NARROWEST = 6
_BAR_CELLS = 3


def is_table_rule(line: str) -> bool:
    """Whether a line is the ``|---|:--|`` under a table's head."""
    return "|" in line and _RULE.fullmatch(line) is not None


def split_row(line: str) -> list[str]:
    """The cells of a table row."""
    body = line.strip()
    body = body.removeprefix("|")
    if body.endswith("|") and not body.endswith("\\|"):
        body = body[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(body)]


@dataclass(slots=True)
class _HeldRow:
    """A row whose widths are not settled: styled once, and drawn once for the same widths."""

    cells: list[Line]
    widths: list[int] | None = None
    lines: list[Line] | None = None


class TableWriter:
    """Draws a table as its rows come; once its widths are settled, what is drawn never changes."""

    def __init__(self, canvas: Canvas, head: str, rule: str) -> None:
        self._canvas = canvas
        names = split_row(head)
        room = max(1, canvas.width // (_BAR_CELLS + 1) + 1)  # columns further right are never seen
        self._head = _HeldRow([self._style(cell, head=True) for cell in names[:room]])
        self._aligns = [_read_align(cell) for cell in split_row(rule)[:room]]
        self._rows: list[_HeldRow] = []
        self._widths: list[int] | None = None

    def feed(self, line: str) -> list[Line]:
        """Take one whole row; returns rows of the screen that are final now."""
        cells = split_row(line)[: len(self._head.cells)]
        row = _HeldRow([self._style(cell) for cell in cells])
        if self._widths is not None:
            return self._draw_row(row, self._widths)
        self._rows.append(row)
        return self.finish() if len(self._rows) >= _LOOK_ROWS else []

    def finish(self) -> list[Line]:
        """Settle the widths and draw what was held back."""
        if self._widths is not None:
            return []
        self._widths = self._fit()
        return self._draw_table(self._widths)

    def fork(self) -> TableWriter:
        """A copy that can be fed without changing this one."""
        twin = TableWriter(self._canvas, "", "")
        twin._head, twin._aligns = self._head, self._aligns
        twin._rows, twin._widths = list(self._rows), self._widths
        return twin

    def _style(self, cell: str, *, head: bool = False) -> Line:
        palette = self._canvas.palette
        cell = cell.replace("<br>", " ")
        return style_inline(cell, palette.heading if head else palette.text, palette)

    def _fit(self) -> list[int]:
        """Natural widths, the widest narrowed until the table fits."""
        natural = [line_cells(cell) for cell in self._head.cells]
        for row in self._rows:
            for column, cell in enumerate(row.cells):
                natural[column] = max(natural[column], line_cells(cell))
        room = self._canvas.width - _BAR_CELLS * (len(natural) - 1)
        widths = [max(width, 1) for width in natural]
        while (over := sum(widths) - room) > 0:
            widest = max(widths)
            if widest <= _NARROWEST:
                break
            second = max((width for width in widths if width < widest), default=_NARROWEST)
            count = widths.count(widest)
            step = max(1, min(widest - max(second, _NARROWEST), -(-over // count)))
            widths = [width - step if width == widest else width for width in widths]
        return widths

    def _draw_table(self, widths: list[int]) -> list[Line]:
        rule = Segment("─┼─".join("─" * width for width in widths), self._canvas.palette.line)
        lines = [*self._draw_row(self._head, widths), [rule]]
        for row in self._rows:
            lines.extend(self._draw_row(row, widths))
        return lines

    def _draw_row(self, row: _HeldRow, widths: list[int]) -> list[Line]:
        if row.lines is None or row.widths != widths:
            row.widths, row.lines = widths, self._lay_out(row.cells, widths)
        return row.lines

    def _lay_out(self, styled: list[Line], widths: list[int]) -> list[Line]:
        cells = [
            wrap_spans(styled[column] if column < len(styled) else [], width)
            for column, width in enumerate(widths)
        ]
        bar = Segment(" │ ", self._canvas.palette.line)
        lines = []
        for number in range(max(map(len, cells))):
            line: Line = []
            for column, width in enumerate(widths):
                piece = cells[column][number] if number < len(cells[column]) else []
                line.extend([bar] if column else [])
                line.extend(self._align(piece, width, column))
            lines.append(line)
        return lines

    def _align(self, piece: Line, width: int, column: int) -> Line:
        free = width - line_cells(piece)
        if free <= 0:
            return piece
        align = self._aligns[column] if column < len(self._aligns) else "left"
        before = {"left": 0, "right": free, "center": free // 2}[align]
        return [Segment(" " * before), *piece, Segment(" " * (free - before))]


def _read_align(cell: str) -> Align:
    if cell.endswith(":"):
        return "center" if cell.startswith(":") else "right"
    return "left"
