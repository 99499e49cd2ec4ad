"""Making foreign text safe to show: no control sequence and no bidi trick reaches the terminal.

Also the patterns by which text is read, which cost nothing before the first frame, and how what
was typed is found in many texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any


class _LatePattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._made_of = pattern, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._made_of), name)
        setattr(self, name, value)  # from now on as fast as the expression's own
        return value


def late_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What ``re.compile`` gives, compiled when it is first used; mistakes show only then."""
    late: Any = _LatePattern(pattern, flags)
    return late  # type: ignore[no-any-return]


# Unicode's Default_Ignorable_Code_Point, which a terminal draws as nothing or as a blank.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Blanks that are not the space bar's.
_BLANK = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
# Hangul vowels and finals take no room of their own; they belong behind another jamo.
_JAMO = "(?<![\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7ff])[\u1161-\u11ff\ud7b0-\ud7ff]"
_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_UNSAFE = late_pattern(f"[{_CONTROL}\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_INVISIBLE = late_pattern(f"[{_CONTROL}\\u2028\\u2029\\ud800-\\udfff{_IGNORABLE}{_BLANK}]|{_JAMO}")
_BEGIN_MARK = late_pattern(r"^\s*(?:#{1,6}\s+|[-+*]\s+)+")
_EMPHASIS = late_pattern(
    r"(?<![\w*/.])(\*{1,3})(?=[^\s*./,])(.+?)(?<=[^\s*/])\1(?![\w*/]|\.\w)",
)
# Those of which a cut took the other end.
_LONE_STARS = late_pattern(r"(?<![\w*/.])\*\*(?=[\w\"'(])|(?<=[\w.,:;!?)\"'])\*\*(?![\w*/.])")


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"<U+{code:04X}>"


def clean(text: str) -> str:
    """The text with control characters and bidi controls made visible; tab and newline stay.

    Carriage returns before a newline are dropped, so that Windows text reads as usual.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_visible, text)


def without_marks(line: str) -> str:
    """A line of Markdown without the marks of headings, lists and code, and of what is emphasised.

    Stars of a pattern of files, of a product or of a power stay, and so do underscores.
    """
    line = _BEGIN_MARK.sub("", line).replace("`", "")
    if "*" not in line:
        return line
    return _LONE_STARS.sub("", _EMPHASIS.sub(r"\2", line))


def reveal(text: str) -> str:
    """Like clean, with every invisible character shown as ``<U+200B>``: for approvals and names.

    Blanks other than the space bar's, and characters that a terminal leaves out, count as such.
    """
    if text.isascii() and text.isprintable():
        return text
    return _INVISIBLE.sub(_visible, text.replace("\r\n", "\n"))


def hides_characters(text: str) -> bool:
    """Whether a text holds characters that nobody could see as they are."""
    if text.isascii() and text.isprintable():
        return False
    return _INVISIBLE.search(text.replace("\r\n", "\n")) is not None


def first_line(text: str, width: int = 80) -> str:
    """The first line that says something, cleaned and cut to ``width`` characters."""
    for line in text.lstrip()[: width * 8].splitlines():
        if line.strip():
            line = clean(line.strip()).replace("\t", " ")
            return line if len(line) <= width else line[: width - 1] + "…"
    return ""


def format_count(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: ``1 message``, ``1,204 messages``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def find_letters(words: Sequence[str], texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of the texts that hold the letters of each word in this order, others between.

    Each with its reach: the characters from the first letter of a word to its last, over all words.
    """
    places: Sequence[int] = range(len(texts)) if all(words) else ()
    for word in words:
        # What is between two letters is never the second: nothing is tried twice, however long.
        letters = "".join(f"[^{letter}]*+{letter}" for letter in map(re.escape, word))
        match = re.compile(letters).match
        places = [place for place in places if match(texts[place])]
    for place in places:
        yield place, sum(_reach(word, texts[place]) for word in words)


def _reach(word: str, text: str) -> int:
    """How far the letters of a word lie apart, where the last of them first stands behind all."""
    end = 0
    for letter in word:
        end = text.index(letter, end) + 1
    start = end
    for letter in reversed(word):
        start = text.rindex(letter, 0, start)
    return end - start
