"""Making foreign text safe to show: no control sequence and no bidi trick reaches the terminal."""

from __future__ import annotations

import re

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
_UNSAFE = re.compile(f"[{_CONTROL}\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_INVISIBLE = re.compile(f"[{_CONTROL}\\u2028\\u2029\\ud800-\\udfff{_IGNORABLE}{_BLANK}]|{_JAMO}")


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
    """A line of Markdown without the marks of a heading, of code and of what is strong."""
    return line.lstrip("#").lstrip().replace("**", "").replace("`", "")


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
