"""Pieces of known secrets: what is left of one that the end of a line, a part or a field cuts.

A piece is told by a few characters of it: the text is looked at once in so many, and where those
are known it is compared with the secret to both sides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9_=~+-][A-Za-z0-9_=~+/.-]{19,}")
"""What a key looks like: a piece of a path or of a sentence tells little."""
_LONGEST_NEEDED = 16
"""Characters of a piece that are enough; of a short secret, half of it."""
_SHORTEST_REST, _NEAR = 3, 80
"""What is left of a secret is looked for so near to a piece of it."""
_PLACES = 4
"""Of few characters that a secret repeats, so many places are compared."""


class SecretPieces:
    """Finds pieces of secrets in text, in time that grows with the text only.

    Args:
        forms: the secrets, in every form in which a piece of them tells something.
    """

    def __init__(self, forms: Iterable[str]) -> None:
        chosen = [form for form in forms if _RANDOM.fullmatch(form)]
        self._needed = min((_needed(form) for form in chosen), default=0)
        self._step = (self._needed + 1) // 2
        self._known: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        for form in chosen:
            for place in range(len(form) - self._step + 1):
                known = self._known[form[place : place + self._step]]
                if len(known) < _PLACES:
                    known.append((form, place))

    def cut_out(self, text: str, mark: str) -> tuple[str, int]:
        """The text with a mark for each piece, and how many there were."""
        if not self._known or len(text) < self._needed:
            return text, 0
        kept: list[str] = []
        end = 0
        for start, stop in self._find(text):
            kept += [text[end : max(start, end)], mark]
            end = stop
        return ("".join(kept) + text[end:], len(kept) // 2) if kept else (text, 0)

    def _find(self, text: str) -> Iterator[tuple[int, int]]:
        step, known, end = self._step, self._known, 0
        for place in range(0, len(text) - step + 1, step):
            found = known.get(text[place : place + step], ())
            for form, inside in found if place >= end else ():
                start, stop = _extent(text, place, form, inside)
                if stop - start >= _needed(form):
                    for found_at in _with_rest(text, start, stop, form, inside - place, end):
                        yield found_at
                        end = found_at[1]
                    break


def _needed(form: str) -> int:
    return min(_LONGEST_NEEDED, len(form) // 2)


def _with_rest(
    text: str, start: int, stop: int, form: str, offset: int, end: int
) -> Iterator[tuple[int, int]]:
    """A piece with what it was cut from, where that stands near: too short to be told alone."""
    front, back = form[: start + offset], form[stop + offset :]
    if len(front) >= _SHORTEST_REST:
        near = text.rfind(front, max(end, start - len(front) - _NEAR), start)
        if near >= 0:
            yield near, near + len(front)
    yield start, stop
    if len(back) >= _SHORTEST_REST:
        near = text.find(back, stop, stop + len(back) + _NEAR)
        if near >= 0:
            yield near, near + len(back)


def _extent(text: str, place: int, form: str, inside: int) -> tuple[int, int]:
    """How far a text says the same as a secret, to both sides of where the two stand."""
    start, at = place, inside
    while start and at and text[start - 1] == form[at - 1]:
        start, at = start - 1, at - 1
    stop, at = place, inside
    while stop < len(text) and at < len(form) and text[stop] == form[at]:
        stop, at = stop + 1, at + 1
    return start, stop
