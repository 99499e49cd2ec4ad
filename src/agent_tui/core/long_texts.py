"""JSON of values that hold very long texts, written in slices.

One call that encodes ten megabytes keeps every other thread waiting until it is done, the one that
draws the screen too; between two slices they get their turn.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

LONG_CHARS = 262_144
"""Texts that are longer are taken out of the value and encoded by themselves."""
_SLICE_CHARS = 65_536
_MARK = f"long text {os.urandom(12).hex()} "
"""Nobody can have written it into a value."""

Encode: TypeAlias = Callable[[Any], bytes]


def lift_long_texts(value: Any) -> tuple[Any, dict[str, str]]:
    """The value with a mark in place of each long text, and the texts by their marks.

    The value itself, and no texts, where it holds none.
    """
    if not _has_long(value):
        return value, {}
    texts: dict[str, str] = {}
    numbers = itertools.count()

    def lift(value: Any) -> Any:
        if isinstance(value, str):
            if len(value) > LONG_CHARS:
                mark = f"{_MARK}{next(numbers)};"
                texts[mark] = value
                return mark
            return value
        if isinstance(value, Mapping):
            return {key: lift(held) for key, held in value.items()}
        if isinstance(value, list | tuple):
            return [lift(held) for held in value]
        return value

    return lift(value), texts


def put_back(encoded: bytes, texts: Mapping[str, str], encode: Encode) -> list[bytes]:
    """The pieces of the JSON in which the long texts stand in the places of their marks."""
    pieces: list[bytes] = []
    for mark, text in texts.items():  # in the order in which they were taken out
        before, _, encoded = encoded.partition(encode(mark))
        pieces += [before, b'"', *_encode_text(text, encode), b'"']
    return [*pieces, encoded]


def _encode_text(text: str, encode: Encode) -> list[bytes]:
    return [
        encode(text[start : start + _SLICE_CHARS])[1:-1]
        for start in range(0, len(text), _SLICE_CHARS)
    ]


def _has_long(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > LONG_CHARS
    if isinstance(value, Mapping):
        return any(map(_has_long, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_long, value))
    return False
