# mypy: disable-error-code="import-untyped"
"""Lines of a diff as rows of a list, with the colours of their language."""

from __future__ import annotations

from collections.abc import Sequence

from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token
from textual.content import Content
from textual.highlight import HighlightTheme, highlight

from agent_tui.core.text import reveal

_LONGEST_LINE = 500
_MARKS = {"+": "$diff-added", "-": "$diff-removed", " ": "$muted"}
_SURFACES = {"+": "on $diff-added-surface", "-": "on $diff-removed-surface", " ": ""}


class _Colours(HighlightTheme):
    """Our palette for the kinds of words that Pygments knows."""

    STYLES = {
        Token: "$foreground",
        Comment: "$code-comment",
        Keyword: "$code-keyword",
        Name: "$foreground",
        Name.Function: "$code-name",
        Name.Class: "$code-name",
        Name.Decorator: "$code-name",
        Number: "$code-number",
        Operator: "$code-operator",
        String: "$code-string",
    }


def colour_lines(path: str, marks: Sequence[str], lines: Sequence[str]) -> list[Content]:
    """One row for each line, behind its mark: ``+``, ``-`` or a space. Slow: for a thread."""
    shown = [reveal(line[:_LONGEST_LINE].expandtabs(4)) for line in lines]
    coloured = highlight("\n".join(shown), path=path, theme=_Colours).split("\n")
    if len(coloured) != len(shown):
        coloured = [Content(line) for line in shown]
    return [
        Content.assemble((f"{mark} ", _MARKS[mark]), line).stylize_before(_SURFACES[mark])
        if _SURFACES[mark]
        else Content.assemble((f"{mark} ", _MARKS[mark]), line)
        for mark, line in zip(marks, coloured, strict=True)
    ]


def colour_diff(path: str, diff: str) -> list[Content]:
    """The rows of a unified diff, without its head; a hunk begins with its place."""
    rows: list[Content] = []
    marks: list[str] = []
    lines: list[str] = []

    def flush() -> None:
        rows.extend(colour_lines(path, marks, lines))
        marks.clear()
        lines.clear()

    for line in diff.split("\n")[2:]:
        if line.startswith("@@"):
            flush()
            rows.append(Content.styled(line, "$faint"))
        elif line[:1] in _MARKS:
            marks.append(line[:1])
            lines.append(line[1:])
    flush()
    return rows
