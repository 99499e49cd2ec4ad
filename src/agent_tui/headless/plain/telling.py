"""Whose line is whose: at the beginning of a row stands only what the program itself says.

What a model, a tool or a file says stands behind a mark, so that none of it passes for a question.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import partial
from itertools import chain

from agent_tui.core.output import say
from agent_tui.core.text import clean, reveal

MARK = "> "
"""Before every row that is not the program's own."""
_TAB = "    "
_NARROWEST = 20
_USUAL = 80
_BLANKS = re.compile(r"[ \t]{16,}")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){3,}")


def tell(text: str) -> None:
    """Say a line of the program's own; what does not fit on its first row is marked as quoted."""
    columns = 0
    if sys.stdout.isatty():
        told = os.get_terminal_size(sys.stdout.fileno()).columns
        columns = max(_NARROWEST, told or _USUAL)
    for row in rows_of(text, columns):
        say(row, flush=True)


def quote(text: str) -> list[str]:
    """The lines of somebody else's text, each marked as such."""
    lines = (line.removesuffix("\r") for line in text.removesuffix("\n").split("\n"))
    return [f"{MARK}{line}".rstrip(" ") for line in lines]


def quote_action(text: str) -> list[str]:
    """The lines of something that is to be approved: marked, and with nothing hidden in them."""
    shown = _BLANK_LINES.sub(partial(_name_blanks, "blank lines"), reveal(text))
    return quote(_BLANKS.sub(partial(_name_blanks, "blanks"), shown))


def rows_of(text: str, columns: int = 0) -> Iterator[str]:
    """A line as rows of a terminal, which would begin rows without a mark; 0 columns is no end."""
    first, *more = clean(text).replace("\t", _TAB).split("\n")
    for line in chain([first], map(MARK.__add__, more)):
        yield from _fold(line, columns) if 0 < columns <= len(line.encode()) else [line]


def _fold(line: str, columns: int) -> Iterator[str]:
    from rich.cells import chop_cells

    start, mark = 0, MARK if line.startswith(MARK) else ""
    while start < len(line):
        width = columns - 1 - (len(MARK) if start else 0)
        row = chop_cells(line[start : start + width + 1], width)[0]
        blank = row.rfind(" ", 0 if start else len(mark))
        # Words stay whole, and so does the line: a blank at a break ends its row.
        if start + len(row) < len(line) and row[: max(0, blank)].strip():
            row = row[: blank + 1]
        yield f"{MARK}{row}" if start else row
        start += len(row)


def _name_blanks(what: str, match: re.Match[str]) -> str:
    blanks = match[0]
    if what == "blanks":
        return f"<{len(blanks):,} {what}>"
    return f"\n<{blanks.count(chr(10)) - 1:,} {what}>\n"
