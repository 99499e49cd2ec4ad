"""Folding the text of an action into rows, only as far as is viewed, with nothing hidden.

Long runs of blanks and of blank lines are named instead of drawn: nothing may be pushed out of
sight by them. What takes no room on a terminal is spelled out.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len

from agent_tui.core.text import reveal
from agent_tui.ui.renderers.diff import read_diff

_TAB = "    "
_CHUNK = 4_096
_LONGEST_INDENT = 64
_MOST_BLANK_LINES = 4
_MOST_MARKS = 4
_MARKS = ("Mn", "Mc", "Me", "Lo")
_BLANKS = re.compile(r"[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]{16,}")
_ALL_BLANKS = (
    " \t\r\n\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f"
    "\u205f\u2800\u3000"
)
_NOT_BLANK = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class FoldedRow:
    """One row: its line's number, its kind in a diff, whether it begins that line, and its text."""

    line: int
    kind: str
    begins: bool
    text: str


class ActionFold:
    """The rows of a text for one width; ``ensure`` folds more of it when it is asked for."""

    def __init__(self, text: str, width: int, *, is_diff: bool = False) -> None:
        self.rows: list[FoldedRow] = []
        self.is_whole = False
        fold = _fold_diff if is_diff else _fold
        self._more = fold(text.removesuffix("\n"), max(1, width))

    def ensure(self, count: int, seconds: float = 1e9) -> None:
        """Have at least ``count`` rows, if the text has them and the time is enough."""
        until = time.monotonic() + seconds
        while len(self.rows) < count and not self.is_whole and time.monotonic() < until:
            row = next(self._more, None)
            if row is None:
                self.is_whole = True
            else:
                self.rows.append(row)


def last_words(text: str, width: int) -> str:
    """How a text ends: the last ``width`` cells of its last line that is not blank."""
    end = len(text.rstrip(_ALL_BLANKS))
    start = max(text.rfind("\n", 0, end) + 1, end - 2 * width)
    shown: list[str] = []
    room = width
    for sign in reversed(list(_spell(reveal(text[start:end]).replace("\t", _TAB)))):
        room -= _width(sign)
        if room < 0:
            break
        shown.append(sign)
    return "".join(reversed(shown)).strip()


def _fold_diff(text: str, width: int) -> Iterator[FoldedRow]:
    for line in read_diff(text):
        for number, row in enumerate(_fold_line(text, line.start, line.end, width)):
            yield FoldedRow(line.number, line.kind, not number, row)


def _fold(text: str, width: int) -> Iterator[FoldedRow]:
    position, line = 0, 0
    while position <= len(text):
        blank = _blank_lines(text, position)
        if blank > _MOST_BLANK_LINES:
            named = f"<{blank:,} blank lines>"[:width]
            yield FoldedRow(line + 1, "", begins=True, text=named)
            line += blank
            position = _after_blank_lines(text, position)
            continue
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line += 1
        for number, row in enumerate(_fold_line(text, position, end, width)):
            yield FoldedRow(line, "", not number, row)
        position = end + 1


def _blank_lines(text: str, position: int) -> int:
    """How many blank lines begin here."""
    return text.count("\n", position, _next_word(text, position))


def _after_blank_lines(text: str, position: int) -> int:
    return text.rfind("\n", 0, _next_word(text, position)) + 1


def _next_word(text: str, position: int) -> int:
    found = _NOT_BLANK.search(text, position)
    return found.start() if found else len(text)


def _fold_line(text: str, start: int, end: int, width: int) -> Iterator[str]:
    row: list[str] = []
    room = width
    for piece in _pieces(text, start, end):
        if piece.isascii():
            place = 0
            while len(piece) - place > room:
                yield "".join(row) + piece[place : place + room]
                place, row, room = place + room, [], width
            row.append(piece[place:])
            room -= len(piece) - place
            continue
        for sign in _spell(piece):
            cells = _width(sign)
            if cells > room:
                yield "".join(row)
                row, room = [], width
            row.append(sign)
            room -= cells
    yield "".join(row)


def _pieces(text: str, start: int, end: int) -> Iterator[str]:
    """A line in pieces as they may be shown, with a name for each long run of blanks."""
    position = start
    if text[end - 1 : end] == "\r" and text[end : end + 1] == "\n":
        end -= 1
    while position < end:
        found = _BLANKS.search(text, position, end)
        while found and found.start() <= start + 1 and len(found[0]) <= _LONGEST_INDENT:
            found = _BLANKS.search(text, found.end(), end)
        stop = found.start() if found else end
        for place in range(position, stop, _CHUNK):
            yield reveal(text[place : min(stop, place + _CHUNK)]).replace("\t", _TAB)
        if found is None:
            return
        if found.end() < end:
            yield f"<{len(found[0]):,} blanks>"
        position = found.end()


def _spell(text: str) -> Iterator[str]:
    """The characters, those without a width of their own in words where they are too many."""
    marks = 0
    for character in text:
        if _width(character):
            marks = 0
            yield character
            continue
        marks += 1
        if marks <= _MOST_MARKS and unicodedata.category(character) in _MARKS:
            yield character
        else:
            yield from f"<U+{ord(character):04X}>"


@lru_cache(4_096)
def _width(character: str) -> int:
    return cell_len(character)
