"""A key that cannot be shown by accident, and the cleaning of texts that may echo it."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

_MARK = "[key]"
_WINDOW = 12
_SHORTEST = 6
_SPREAD_WINDOW = 10
_MASKED = re.compile(r"[\w-]*(?:\*{3,}|•{3,}|x{6,})[\w-]*", re.IGNORECASE)


class Secret:
    """Holds a key; its repr and str show nothing of it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Secret(…)"

    def reveal(self) -> str:
        """The key itself: for the request's header only."""
        return self._value

    def redact(self, text: str) -> str:
        """The text with the key, its longer pieces and its usual encodings replaced.

        What a server masked itself (``sk-ab****yz``) goes too: it shows both ends of the key.
        A word such as ``none``, given to servers that want no key, is no secret.
        """
        if len(self._value) < _SHORTEST:
            return text
        for form in encoded_forms(self._value):
            text = _replace_pieces(text, form)
        for order in (self._value, self._value[::-1]):
            text = _replace_spread(text, order)
        return _MASKED.sub(_MARK, text)


def encoded_forms(key: str) -> list[str]:
    """The key as plain text, and as it looks inside URLs, JSON, HTML, base64 and hex."""
    raw = key.encode("utf-8", "surrogatepass")
    forms = {
        key,
        key[::-1],
        quote(key, safe="", errors="replace"),
        quote_plus(key, errors="replace"),
        json.dumps(key)[1:-1],
        repr(key)[1:-1],
        html.escape(key),
        "".join(f"\\u{ord(character):04x}" for character in key),
        "".join(f"%{byte:02X}" for byte in raw),
        "".join(f"&#{ord(character)};" for character in key),
        raw.hex(),
        " ".join(f"{byte:02x}" for byte in raw),
        ", ".join(str(byte) for byte in raw),
    }
    for shift in range(3):
        forms.update(base64_forms(raw, shift))
    return sorted(forms, key=len, reverse=True)


def base64_forms(raw: bytes, shift: int) -> set[str]:
    """Base64 of the key after ``shift`` other bytes, without the characters those also touch."""
    first = {0: 0, 1: 2, 2: 3}[shift]
    whole = 4 * ((shift + len(raw)) // 3)
    encoded = base64.b64encode(bytes(shift) + raw).decode("ascii")[first:whole]
    return {encoded, encoded.replace("+", "-").replace("/", "_")} - {""}


def _replace_pieces(text: str, secret: str) -> str:
    """The text without any run of the secret that is long enough to mean something."""
    size = min(len(secret), _WINDOW)
    lowered, wanted = text.lower(), secret.lower()
    if len(lowered) != len(text) or len(wanted) != len(secret):
        lowered, wanted = text, secret
    covered = bytearray(len(text))
    for start in range(len(wanted) - size + 1):
        piece = wanted[start : start + size]
        at = lowered.find(piece)
        while at >= 0:
            covered[at : at + size] = b"\x01" * size
            at = lowered.find(piece, at + 1)
    return _mark(text, covered)


def _replace_spread(text: str, secret: str) -> str:
    """The text without the secret where spaces or signs stand between its letters."""
    wanted = "".join(filter(str.isalnum, secret)).lower()
    places = [place for place, sign in enumerate(text) if sign.isalnum()]
    letters = "".join(text[place].lower()[:1] for place in places)
    size = _SPREAD_WINDOW
    covered = bytearray(len(text))
    for start in range(len(wanted) - size + 1):
        piece = wanted[start : start + size]
        at = letters.find(piece)
        while at >= 0:
            first, last = places[at], places[at + size - 1]
            covered[first : last + 1] = b"\x01" * (last + 1 - first)
            at = letters.find(piece, at + 1)
    return _mark(text, covered)


def _mark(text: str, covered: bytearray) -> str:
    """The text with a mark in place of each run that is covered."""
    if not any(covered):
        return text
    kept, inside = [], False
    for character, hidden in zip(text, covered, strict=True):
        if not hidden:
            kept.append(character)
        elif not inside:
            kept.append(_MARK)
        inside = bool(hidden)
    return "".join(kept)
