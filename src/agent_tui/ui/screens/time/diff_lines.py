# mypy: disable-error-code="import-untyped"
"""Lines of a diff as rows of a list, with the colours of their language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pygments.token import (
    Comment,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Token,
)
from textual.content import Content
from textual.highlight import HighlightTheme, highlight

from agent_tui.core.text import reveal
from agent_tui.ui.renderers.diff import DiffLine, last_number, read_diff
from agent_tui.ui.renderers.lines import break_line

_LONGEST_LINE, _SHORTEST_PIECE = 500, 16
_CONTINUED = "\u250a "
"""Stands for the mark of a line where it continues in another row."""
_MARKS = {"+": "$diff-added", "-": "$diff-removed", " ": "$muted"}
_SURFACES = {"+": "on $diff-added-surface", "-": "on $diff-removed-surface"}


class _Colours(HighlightTheme):
    """The colours of code in the conversation, for the kinds of words that Pygments knows."""

    STYLES = {
        Token: "$foreground",
        Comment: "$code-comment italic",
        Generic.Emph: "$foreground italic",
        Generic.Heading: "$foreground bold",
        Generic.Strong: "$foreground bold",
        Generic.Subheading: "$code-name",
        Keyword: "$code-keyword",
        Keyword.Constant: "$code-number",
        Name: "$foreground",
        Name.Attribute: "$code-name",
        Name.Builtin: "$code-name",
        Name.Class: "$code-name",
        Name.Decorator: "$code-keyword",
        Name.Exception: "$code-name",
        Name.Function: "$code-name",
        Name.Tag: "$code-keyword",
        Number: "$code-number",
        Operator: "$code-operator",
        Operator.Word: "$code-keyword",
        Punctuation: "$code-operator",
        String: "$code-string",
        String.Doc: "$code-comment italic",
    }


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A row of a diff: the number of its line, the line, and its kind, if it has one."""

    head: Content
    line: Content
    kind: str = ""

    def pieces(self, width: int, *, is_plain: bool = False) -> list[Content]:
        """The row in pieces of so many cells, its colour from the number to the end of each.

        A plain one has no ground to tell its kind: its text is in the colour of it.
        """
        surface, line = _SURFACES.get(self.kind, ""), self.line
        if self.kind and is_plain:
            surface, line = "", Content.styled(line.plain, _MARKS[self.kind])
        room = max(_SHORTEST_PIECE, width - self.head.cell_length - len(_CONTINUED))
        mark, text = line[: len(_CONTINUED)], line[len(_CONTINUED) :]
        first, *rest = (text[start:end] for start, end in break_line(text.plain, room))
        margin = Content(" " * self.head.cell_length) + Content.styled(_CONTINUED, "$faint")
        rows = [self.head + mark + first, *(margin + piece for piece in rest)]
        if not surface:
            return rows
        return [
            row.pad_right(max(0, width - row.cell_length)).stylize_before(surface) for row in rows
        ]


def colour_lines(
    path: str, marks: Sequence[str], lines: Sequence[str], numbers: Sequence[int] = ()
) -> list[DiffRow]:
    """One row for each line, behind its number and mark: ``+``, ``-`` or a space.

    Slow: for a thread.
    """
    shown = [reveal(line[:_LONGEST_LINE].expandtabs(4)) for line in lines]
    coloured = highlight("\n".join(shown), path=path, theme=_Colours).split("\n")
    if len(coloured) != len(shown):
        coloured = [Content(line) for line in shown]
    return [
        DiffRow(Content(""), Content.assemble((f"{mark} ", _MARKS[mark]), line), mark)
        for mark, line in zip(marks, coloured, strict=True)
    ]


def number_rows(rows: Sequence[DiffRow], numbers: Sequence[int], digits: int) -> list[DiffRow]:
    """The rows behind the numbers of their lines, as the conversation shows a diff."""
    heads = (Content.styled(f"{number:>{digits}} ", "$faint") for number in numbers)
    return [replace(row, head=head) for row, head in zip(rows, heads, strict=True)]


def colour_diff(path: str, diff: str) -> list[DiffRow]:
    """The rows of a unified diff with the numbers of their lines; a gap is told by a sign."""
    digits = len(str(last_number(diff)))
    rows: list[DiffRow] = []
    hunk: list[DiffLine] = []

    def flush() -> None:
        texts = [diff[line.start : line.end] for line in hunk]
        coloured = colour_lines(path, [line.kind for line in hunk], texts)
        rows.extend(number_rows(coloured, [line.number for line in hunk], digits))
        hunk.clear()

    for line in read_diff(diff):
        if line.kind == "@":
            flush()
            rows.append(DiffRow(Content.styled(f"{'⋮':>{digits}}", "$faint"), Content("")))
        elif line.kind in _MARKS:
            hunk.append(line)
    flush()
    return rows
