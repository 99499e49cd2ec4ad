"""Making foreign text safe to show: no control sequence and no bidi trick reaches the terminal."""

from __future__ import annotations

import re

_HIDDEN = (
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f"
)
_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_UNSAFE = re.compile(f"[{_CONTROL}\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_INVISIBLE = re.compile(f"[{_CONTROL}\u2028\u2029\ud800-\udfff{_HIDDEN}]")


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


def reveal(text: str) -> str:
    """Like clean, with every invisible character shown as ``<U+200B>``: for approvals and names."""
    return _INVISIBLE.sub(_visible, text.replace("\r\n", "\n"))


def first_line(text: str, width: int = 80) -> str:
    """The first line that says something, cleaned and cut to ``width`` characters."""
    for line in text.lstrip()[: width * 8].splitlines():
        if line.strip():
            line = clean(line.strip()).replace("\t", " ")
            return line if len(line) <= width else line[: width - 1] + "…"
    return ""
