"""The rows of a diff that waits for approval, in the colours of their language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

from textual.color import Color
from textual.content import Content
from textual.style import Style

from agent_tui.ui.renderers.canvas import COLUMN, Canvas
from agent_tui.ui.renderers.diff import colour_diff, has_diff_grounds
from agent_tui.ui.renderers.languages import Languages, language_of
from agent_tui.ui.renderers.lines import Line, slice_spans
from agent_tui.ui.themes.palette import read_palette
from agent_tui.ui.widgets.panes.action_fold import FoldedRow

_PAGE_ROWS = 32
_MARKS = {"+": "$diff-added", "-": "$diff-removed"}
_SURFACES = {"+": "on $diff-added-surface", "-": "on $diff-removed-surface"}


class DiffColours:
    """Colours rows a page at a time: no diff is so long that somebody has to wait."""

    def __init__(self, path: str) -> None:
        self._language = language_of(path)
        self._languages = Languages()
        self._pages: dict[int, list[Content]] = {}

    def load(self) -> bool:
        """Load the language; slow, for a thread. True when there is one."""
        if self._languages.find(self._language) is None:
            self._languages.load_missing()
        return self._languages.find(self._language) is not None

    def forget(self) -> None:
        """The rows or the colours have changed."""
        self._pages.clear()

    def row(self, rows: Sequence[FoldedRow], index: int, variables: Mapping[str, str]) -> Content:
        """The text of one of the rows, coloured."""
        first = index - index % _PAGE_ROWS
        page = self._pages.get(first)
        if page is None or len(page) <= index - first:
            canvas = Canvas(COLUMN, read_palette(variables), self._languages)
            lines = _join_rows(rows[first : first + _PAGE_ROWS])
            kinds_and_texts = [(line[0].kind, "".join(row.text for row in line)) for line in lines]
            coloured = colour_diff(canvas, self._language, kinds_and_texts)
            page = self._pages[first] = [
                _as_content(row)
                for line, spans in zip(lines, coloured, strict=True)
                for row in _fold_again(line, spans)
            ]
        return page[index - first]


def _join_rows(rows: Sequence[FoldedRow]) -> list[list[FoldedRow]]:
    """The rows of each line: only a whole one has the colours that it has unfolded."""
    lines: list[list[FoldedRow]] = []
    for row in rows:
        if row.begins or not lines:
            lines.append([])
        lines[-1].append(row)
    return lines


def _fold_again(rows: Sequence[FoldedRow], spans: Line) -> Iterator[Line]:
    ends = list(accumulate((len(row.text) for row in rows), initial=0))
    return slice_spans(spans, pairwise(ends))


def lay_diff_row(
    lead: Content, row: FoldedRow, text: Content, width: int, variables: Mapping[str, str]
) -> Content:
    """A row behind its number and its sign, on the background of its kind, where there is one."""
    mark = row.kind if row.begins and row.kind in _MARKS else " "
    line = Content.assemble(lead, (f"{mark} ", _MARKS.get(row.kind, "")), text)
    surface = _SURFACES.get(row.kind)
    if surface is None or not has_diff_grounds(variables):
        return line
    fill = " " * max(0, width - line.cell_length)
    return Content.assemble(line, fill).stylize_before(surface)


def _as_content(line: Line) -> Content:
    """Styled text without the background that it was drawn for."""
    parts = []
    for text, style, _ in line:
        colour = style.color if style else None
        italic = bool(style and style.italic)
        fore = Color.from_rich_color(colour) if colour else None
        parts.append((text, Style(foreground=fore, italic=italic or None)))
    return Content.assemble(*parts)
