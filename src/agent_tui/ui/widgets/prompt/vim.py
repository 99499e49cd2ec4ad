"""Vim's keys for a text field: what a key makes of a text and its cursor.

A place is an offset in the text, 0 to its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["insert", "normal"]
_WORD = re.compile(r"\w+|[^\w\s]+")
_OPERATORS = ("d", "c", "y")
_BEGUN = ("", "g", "r")
_LETTERS = {
    "dollar_sign": "$",
    "circumflex_accent": "^",
    "tilde": "~",
    "left": "h",
    "right": "l",
    "backspace": "h",
    "space": "l",
    "home": "0",
    "end": "$",
}


@dataclass(frozen=True, slots=True)
class VimResult:
    """What a key came to: the text and cursor after it, or a key or step for the field to do."""

    text: str
    cursor: int
    pass_on: Literal["", "up", "down", "undo", "redo"] = ""


class Vim:
    """Follows the keys of one field.

    Attributes:
        mode: in ``insert`` keys are typed, in ``normal`` they are commands.
    """

    def __init__(self) -> None:
        self.mode: Mode = "insert"
        self._pending = ""
        self._register = ""

    def take(self, key: str, text: str, cursor: int) -> VimResult | None:
        """What a key does; None where it is the field's own."""
        if self.mode == "insert":
            if key != "escape":
                return None
            self.mode = "normal"
            return VimResult(text, max(_line_start(text, cursor), cursor - 1))
        if key == "escape" and self._pending:
            self._pending = ""
            return VimResult(text, cursor)
        if key == "ctrl+r":
            return VimResult(text, cursor, "redo")
        letter = _LETTERS.get(key, key)
        return self._command(self._pending + letter, text, cursor) if len(letter) == 1 else None

    def _command(self, typed: str, text: str, cursor: int) -> VimResult:
        count, command = _split_count(typed)
        verb, target = command[:1], _split_count(command[1:])[1]
        is_begun = target in ("", "g") if verb in _OPERATORS else command in _BEGUN
        self._pending = typed if is_begun else ""
        if is_begun:
            return VimResult(text, cursor)
        if verb in _OPERATORS:
            times = _split_count(command[1:])[0]
            if target not in ("G", "gg"):  # these count lines from the first
                count, times = max(count, 1), max(times, 1)
            return self._operate(verb, target, count * times or count or times, text, cursor)
        if verb == "r":
            return _replace(command[1], text, cursor)
        place = _move(command, count, text, cursor)
        if place is not None:
            return VimResult(text, _on_character(text, place))
        return self._edit(command, max(count, 1), text, cursor)

    def _operate(self, verb: str, target: str, count: int, text: str, cursor: int) -> VimResult:
        """Delete, change or copy what a motion passes, or whole lines where the verb is doubled."""
        if target == verb:
            return self._operate_on_lines(verb, count, text, cursor)
        if target in ("G", "gg"):
            begin, end = sorted((cursor, _move(target, count, text, cursor) or 0))
            return self._operate_on_lines(verb, text.count("\n", begin, end) + 1, text, begin)
        if verb == "c" and target == "w":  # as Vim does: the blanks behind the word stay
            target = "e"
        place = _move(target, count, text, cursor)
        if place is None:
            return VimResult(text, cursor)
        begin, end = sorted((cursor, place))
        end += target in ("e", "$") and text[end : end + 1] not in ("", "\n")
        self._register = text[begin:end]
        if verb == "y":
            return VimResult(text, begin)
        rest = text[:begin] + text[end:]
        if verb == "c":
            return self._insert(rest, begin)
        return VimResult(rest, _on_character(rest, begin))

    def _operate_on_lines(self, verb: str, count: int, text: str, cursor: int) -> VimResult:
        begin, end = _lines(text, cursor, count)
        self._register = text[begin:end].removesuffix("\n") + "\n"
        if verb == "y":
            return VimResult(text, cursor)
        if verb == "c":
            end -= text[begin:end].endswith("\n")
            return self._insert(text[:begin] + text[end:], begin)
        rest = text[:begin] + text[end:]
        if begin == len(rest):
            rest = rest.removesuffix("\n")  # the last line went: no empty one stays behind
        return VimResult(rest, _line_start(rest, min(begin, len(rest))))

    def _edit(self, command: str, count: int, text: str, cursor: int) -> VimResult:
        start, end = _line_start(text, cursor), _line_end(text, cursor)
        match command:
            case "i":
                return self._insert(text, cursor)
            case "a":
                return self._insert(text, min(cursor + 1, end))
            case "I":
                return self._insert(text, _first_letter(text, cursor))
            case "A":
                return self._insert(text, end)
            case "o":
                return self._insert(f"{text[:end]}\n{text[end:]}", end + 1)
            case "O":
                return self._insert(f"{text[:start]}\n{text[start:]}", start)
            case "x":
                return self._operate("d", "l", count, text, cursor)
            case "X":
                return self._operate("d", "h", count, text, cursor)
            case "s":
                return self._operate("c", "l", count, text, cursor)
            case "S":
                return self._operate("c", "c", count, text, cursor)
            case "D" | "C":
                return self._operate(command.lower(), "$", count, text, cursor)
            case "p" | "P":
                return self._put(text, cursor, after=command == "p")
            case "~":
                return _replace(text[cursor : cursor + 1].swapcase(), text, cursor, step=1)
            case "j" | "k":
                return _change_line(text, cursor, count if command == "j" else -count)
            case "u":
                return VimResult(text, cursor, "undo")
            case _:
                return VimResult(text, cursor)

    def _insert(self, text: str, cursor: int) -> VimResult:
        self.mode = "insert"
        return VimResult(text, cursor)

    def _put(self, text: str, cursor: int, *, after: bool) -> VimResult:
        held = self._register
        if not held.endswith("\n"):
            place = min(cursor + after, _line_end(text, cursor))
            return VimResult(text[:place] + held + text[place:], max(0, place + len(held) - 1))
        if after:
            place = _line_end(text, cursor)
            return VimResult(f"{text[:place]}\n{held[:-1]}{text[place:]}", place + 1)
        place = _line_start(text, cursor)
        return VimResult(text[:place] + held + text[place:], place)


def _split_count(typed: str) -> tuple[int, str]:
    """A leading count, 0 where there is none, and the rest; a leading 0 is a motion."""
    found = re.match(r"[1-9][0-9]{0,3}", typed)
    return (int(found.group()), typed[found.end() :]) if found else (0, typed)


def _replace(letter: str, text: str, cursor: int, *, step: int = 0) -> VimResult:
    if cursor >= _line_end(text, cursor):
        return VimResult(text, cursor)
    text = text[:cursor] + letter + text[cursor + 1 :]
    return VimResult(text, _on_character(text, cursor + step))


def _move(motion: str, count: int, text: str, cursor: int) -> int | None:
    """Where a motion leads; None where it is none, or one that changes the line."""
    if motion == "G":
        return _line(text, count or text.count("\n") + 1)
    if motion == "gg":
        return _line(text, count or 1)
    step = _MOTIONS.get(motion)
    return None if step is None else step(text, cursor, count or 1)


def _line(text: str, number: int) -> int:
    """Where a line begins, counted from 1; the last one where there are not so many."""
    before = text.split("\n")[: min(number - 1, text.count("\n"))]
    return sum(len(line) + 1 for line in before)


def _lines(text: str, cursor: int, count: int) -> tuple[int, int]:
    """Where a number of lines from the cursor's begin and end, the last newline included."""
    end = cursor
    for _ in range(min(count, text.count("\n", cursor) + 1)):
        end = min(_line_end(text, end) + 1, len(text))
    return _line_start(text, cursor), end


def _line_start(text: str, cursor: int) -> int:
    return text.rfind("\n", 0, cursor) + 1


def _line_end(text: str, cursor: int) -> int:
    end = text.find("\n", cursor)
    return len(text) if end < 0 else end


def _first_letter(text: str, cursor: int) -> int:
    start = _line_start(text, cursor)
    line = text[start : _line_end(text, cursor)]
    return start + len(line) - len(line.lstrip())


def _word_right(text: str, cursor: int, count: int) -> int:
    begins = [found.start() for found in _WORD.finditer(text) if found.start() > cursor]
    return begins[count - 1] if count <= len(begins) else len(text)


def _word_left(text: str, cursor: int, count: int) -> int:
    begins = [found.start() for found in _WORD.finditer(text) if found.start() < cursor]
    return begins[-count] if count <= len(begins) else 0


def _word_end(text: str, cursor: int, count: int) -> int:
    ends = [found.end() - 1 for found in _WORD.finditer(text) if found.end() - 1 > cursor]
    return ends[count - 1] if count <= len(ends) else max(len(text) - 1, 0)


_MOTIONS: dict[str, Callable[[str, int, int], int]] = {
    "h": lambda text, cursor, count: max(_line_start(text, cursor), cursor - count),
    "l": lambda text, cursor, count: min(_line_end(text, cursor), cursor + count),
    "0": lambda text, cursor, _: _line_start(text, cursor),
    "^": lambda text, cursor, _: _first_letter(text, cursor),
    "$": lambda text, cursor, _: max(_line_start(text, cursor), _line_end(text, cursor) - 1),
    "w": _word_right,
    "b": _word_left,
    "e": _word_end,
}


def _on_character(text: str, cursor: int) -> int:
    """The nearest place on a character of the line: in normal mode the cursor is never behind."""
    cursor = min(cursor, len(text))
    return min(cursor, max(_line_start(text, cursor), _line_end(text, cursor) - 1))


def _change_line(text: str, cursor: int, lines: int) -> VimResult:
    """Up or down; beyond the first and the last line the field's own keys take over."""
    number = text.count("\n", 0, cursor) + lines
    if not 0 <= number <= text.count("\n"):
        return VimResult(text, cursor, "down" if lines > 0 else "up")
    start = _line(text, number + 1)
    column = cursor - _line_start(text, cursor)
    return VimResult(text, _on_character(text, min(start + column, _line_end(text, start))))
