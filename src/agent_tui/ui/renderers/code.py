# mypy: disable-error-code="import-untyped"
"""Code on its own surface: wrapped to the width, coloured where its language is known."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style

from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.languages import tokenise
from agent_tui.ui.renderers.lines import Line, line_cells, slice_spans, split_spans
from agent_tui.ui.themes.palette import Palette

_CHUNK_LINES = 8
_CHUNK_LIMIT = 120
_LONGEST_COLOURED = 2_000
"""A line of more characters is data: colours would hold the screen up at each piece of it."""
_LONGEST_READ = 8_000
"""A line of more characters is not read by the lexer either: the state before it is kept."""
_NAMELESS = frozenset(("text", "txt", "plain", "plaintext", "none", "nohighlight"))
"""What a fence is called that holds no code: its name would say nothing."""


class CodeWriter:
    """Draws code that arrives line by line; what it has drawn never changes.

    Lines are coloured a few at a time, the lexer's state carried from one piece to the
    next: the work for each new line is the same at line 10 and at line 10,000.
    """

    def __init__(self, canvas: Canvas, language: str) -> None:
        self._canvas = canvas
        self._language = language
        self._stack = ["root"]
        self._chunk: list[str] = []
        self._comments = 0
        self._passed = ""

    def head(self) -> list[Line]:
        """The row above the code that names its language at the right; none where it has no name.

        At the left the name would look like the first line of the code.
        """
        if not self._language or self._language.lower() in _NAMELESS:
            return []
        width, palette = self._canvas.width, self._canvas.palette
        name = self._language
        if cell_len(name) > width - 2:
            name = set_cell_size(name, max(0, width - 3)) + "…"
        label = Segment(f"{name} ".rjust(width), palette.faint)
        return [lay_on_surface([label], width, palette.code_surface)]

    def feed(self, line: str) -> list[Line]:
        """Take one whole line; returns rows that are final now (often none)."""
        self._read_passed()
        line = line.expandtabs(4)
        if len(line) > _LONGEST_COLOURED:
            rows = self.finish()
            self._passed = line
            plain = [Segment(line, self._canvas.palette.text)]
            return [*rows, *wrap_code(plain, self._canvas)]
        self._chunk.append(line)
        self._comments += line.count("/*") - line.count("*/")
        full = len(self._chunk) >= _CHUNK_LINES and self._comments <= 0
        if not full and len(self._chunk) < _CHUNK_LIMIT:
            return []
        return self.finish()

    def finish(self) -> list[Line]:
        """The rows of the lines that were held back; they are final now."""
        rows = self._draw(self._chunk, self._stack)
        self._chunk, self._comments = [], 0
        return rows

    def fork(self) -> CodeWriter:
        """A copy that can be fed without changing this one."""
        self._read_passed()  # once, not in every copy
        twin = CodeWriter(self._canvas, self._language)
        twin._stack, twin._chunk = list(self._stack), list(self._chunk)
        twin._comments = self._comments
        return twin

    def _draw(self, lines: list[str], stack: list[str]) -> list[Line]:
        if not lines:
            return []
        canvas = self._canvas
        coloured = colour_lines(canvas, self._language, lines, stack)
        return [row for line in coloured for row in wrap_code(line, canvas)]

    def _read_passed(self) -> None:
        """Bring the lexer's state behind a line that was too long for colours."""
        line, self._passed = self._passed, ""
        lexer = self._canvas.languages.find(self._language) if line and self._language else None
        if lexer is not None and len(line) <= _LONGEST_READ:
            for _ in tokenise(lexer, f"{line}\n", self._stack):
                pass


def colour_lines(
    canvas: Canvas, language: str, lines: list[str], stack: list[str] | None = None
) -> list[Line]:
    """Lines of code as styled pieces, one list a line; plain where the language is unknown."""
    palette = canvas.palette
    lexer = canvas.languages.find(language) if language else None
    if lexer is None:
        return [[Segment(line, palette.text)] for line in lines]
    styles = _token_styles(palette)
    text = "\n".join(lines) + "\n"
    values: list[str] = []
    looks: list[Style] = []
    for kind, value in tokenise(lexer, text, ["root"] if stack is None else stack):
        look = styles.get(kind) or _learn_style(styles, kind)
        if looks and (looks[-1] is look or value.isspace()):
            values[-1] += value
        else:
            values.append(value)
            looks.append(look)
    return split_spans(list(map(Segment, values, looks)))[: len(lines)]


def _learn_style(styles: dict[Any, Style], kind: Any) -> Style:
    """A kind of token looks like the nearest kind above it that has a style."""
    above = kind.parent
    while above not in styles:
        above = above.parent
    styles[kind] = styles[above]
    return styles[kind]


@lru_cache(maxsize=8)
def _token_styles(palette: Palette) -> dict[Any, Style]:
    from pygments.token import Token

    return {
        Token: palette.text,
        Token.Keyword: palette.keyword,
        Token.Keyword.Constant: palette.number,
        Token.Name: palette.text,
        Token.Name.Function: palette.name,
        Token.Name.Class: palette.name,
        Token.Name.Decorator: palette.keyword,
        Token.Name.Tag: palette.keyword,
        Token.Name.Attribute: palette.name,
        Token.Name.Builtin: palette.name,
        Token.Name.Exception: palette.name,
        Token.Literal.String: palette.string,
        Token.Literal.String.Doc: palette.comment,
        Token.Literal.Number: palette.number,
        Token.Literal: palette.string,
        Token.Operator: palette.operator,
        Token.Operator.Word: palette.keyword,
        Token.Punctuation: palette.operator,
        Token.Comment: palette.comment,
        Token.Generic.Inserted: palette.added,
        Token.Generic.Deleted: palette.removed,
        Token.Generic.Heading: palette.heading,
        Token.Generic.Subheading: palette.name,
        Token.Generic.Prompt: palette.faint,
        Token.Generic.Emph: palette.thinking,
        Token.Generic.Strong: palette.heading,
    }


def wrap_code(line: Line, canvas: Canvas) -> list[Line]:
    """One line of code as rows on its surface; what does not fit continues, marked, in the next."""
    width, palette = canvas.width, canvas.palette
    room = max(width - 2, 8)
    surface = palette.code_surface
    edge = Segment(" ", surface)
    if line_cells(line) <= room:
        return [lay_on_surface([edge, *line], width, surface)]
    rows = []
    mark = Segment("↪ ", palette.faint)
    for number, piece in enumerate(slice_spans(line, _hard_breaks(line, room))):
        rows.append(lay_on_surface([edge, *([mark] if number else []), *piece], width, surface))
    return rows


def _hard_breaks(line: Line, room: int) -> list[tuple[int, int]]:
    """Code breaks at the edge, not between words: its spaces mean something."""
    from rich.cells import get_character_cell_size

    text = "".join(segment.text for segment in line)
    breaks, start, used, limit = [], 0, 0, room
    for index, character in enumerate(text):
        cells = 1 if character.isascii() else get_character_cell_size(character)
        if used + cells > limit and index > start:
            breaks.append((start, index))
            start, used, limit = index, 0, max(room - 2, 4)
        used += cells
    breaks.append((start, len(text)))
    return breaks


def lay_on_surface(line: Line, width: int, surface: Style) -> Line:
    """The line with a background, filled up to the width."""
    laid = [Segment(text, (style or Style.null()) + surface) for text, style, _ in line]
    missing = width - line_cells(line)
    if missing > 0:
        laid.append(Segment(" " * missing, surface))
    return laid
