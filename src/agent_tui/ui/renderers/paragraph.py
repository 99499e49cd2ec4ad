"""Running text: one paragraph, list item or heading, wrapped beside its margin."""

from __future__ import annotations

from rich.style import Style

from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.inline import style_inline
from agent_tui.ui.renderers.lines import Line, line_cells, split_spans, wrap_spans

_LONGEST = 2_000


class ParagraphWriter:
    """Collects the lines of a paragraph; emphasis may reach from one line to the next."""

    def __init__(self, canvas: Canvas, style: Style, first: Line, rest: Line) -> None:
        self._canvas = canvas
        self._style = style
        self._first = first
        self._rest = rest
        self._lines: list[str] = []
        self._length = 0

    @property
    def single(self) -> str:
        """The text while it is one line that may yet become a heading or a table; else empty."""
        return self._lines[0] if len(self._lines) == 1 else ""

    def feed(self, line: str) -> list[Line]:
        """Take one more line; returns rows that are final now (only of a very long paragraph)."""
        self._lines.append(line)
        self._length += len(line)
        return self.finish() if self._length > _LONGEST else []

    def finish(self) -> list[Line]:
        """The rows of all lines that were held back."""
        if not self._lines:
            return []
        rows = self._draw()
        self._lines, self._length, self._first = [], 0, self._rest
        return rows

    def fork(self) -> ParagraphWriter:
        """A copy that can be fed without changing this one."""
        twin = ParagraphWriter(self._canvas, self._style, self._first, self._rest)
        twin._lines, twin._length = list(self._lines), self._length
        return twin

    def _draw(self) -> list[Line]:
        width = max(8, self._canvas.width - line_cells(self._rest))
        spans = style_inline("\n".join(self._lines), self._style, self._canvas.palette)
        rows: list[Line] = []
        for line in split_spans(spans):
            for row in wrap_spans(line, width):
                rows.append([*(self._rest if rows else self._first), *row])
        return rows
