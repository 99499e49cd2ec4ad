"""Bytes to lines to JSON objects and back: no content can raise, hang or hide another line.

A good line is UTF-8 and holds one JSON object with finite numbers, bounded depth and bounded size.
Lines end at the newline byte only: U+2028 and its like are ordinary characters of a JSON string.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from agent_tui.core.errors import BadRecord
from agent_tui.core.long_texts import lift_long_texts, put_back

MAX_DEPTH = 100
MAX_LINE_BYTES = 64 << 20
MAX_VALUES = 2_000_000
"""Values in one line: each takes far more memory than the two bytes in which it can be written."""

_LONG_TO_COUNT = 3_000
"""Bytes from which on brackets are not counted."""

BLOCK = 1 << 20
BOM = b"\xef\xbb\xbf"
_PADDING = " \t\r\n\0"


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise BadRecord(f"the number {text[:20]} is beyond what a float holds")
    return number


def _refuse_constant(text: str) -> None:
    raise BadRecord(f"{text} is not a JSON number")


_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def _refuse_many(line: bytes) -> None:
    """Raise BadRecord for a line that would become more values than memory should hold."""
    if len(line) <= MAX_VALUES or _count_values(line) <= MAX_VALUES:
        return
    if _count_values(_STRING.sub(b"", line)) > MAX_VALUES:  # elsewhere they are marks in a text
        raise BadRecord(f"more than {MAX_VALUES:,} values in one line")


def _count_values(line: bytes) -> int:
    return line.count(b",") + line.count(b"[") + line.count(b"{")


_decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse_constant)
_scan: Callable[[str, int], tuple[Any, int]] = vars(_decoder)["scan_once"]
_plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_escaped = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def decode_line(line: bytes) -> dict[str, Any]:
    """The JSON object of one line; NULs and blanks around it are tolerated.

    Raises:
        BadRecord: the line is not one well-behaved JSON object; the message says why.
    """
    _refuse_many(line)
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise BadRecord(f"not UTF-8 from byte {error.start} on") from error
    if text[:1] != "{" or text[-1:] != "}":
        text = text.strip(_PADDING)
    try:
        value, end = _scan(text, 0)
    except StopIteration as stop:
        raise BadRecord(f"not JSON from character {stop.value} on") from stop
    except json.JSONDecodeError as error:
        message = error.msg.removesuffix(" at")  # some of the parser's messages end in it
        raise BadRecord(f"not JSON: {message} at character {error.pos}") from error
    except ValueError as error:  # the interpreter bounds the digits of a whole number
        raise BadRecord(f"a whole number that is too long: {error}") from error
    except RecursionError as error:
        raise BadRecord(f"nested deeper than {MAX_DEPTH} levels") from error
    if end != len(text):
        raise BadRecord(f"something follows the object at character {end}")
    if type(value) is not dict:
        raise BadRecord("a JSON value that is not an object")
    if _may_be_deeper(line) and _is_deeper(value):
        raise BadRecord(f"nested deeper than {MAX_DEPTH} levels")
    return value


Decode: TypeAlias = Callable[[bytes], dict[str, Any]]


@cache
def bulk_decoder() -> Decode:
    """decode_line for a great many lines: three times as fast, and loaded only when asked for.

    What the fast parser refuses goes to decode_line, which has the last word and the reason.
    """
    import msgspec

    decode = msgspec.json.Decoder(dict[str, Any]).decode
    refusals = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

    def decode_fast(line: bytes) -> dict[str, Any]:
        _refuse_many(line)
        try:
            value = decode(line)
        except refusals:
            return decode_line(line)
        if _may_be_deeper(line) and _is_deeper(value):
            raise BadRecord(f"nested deeper than {MAX_DEPTH} levels")
        return value

    return decode_fast


def _may_be_deeper(line: bytes) -> bool:
    """Whether to look: in a long line it takes longer to count the brackets than to look."""
    size = len(line)
    return size > 2 * MAX_DEPTH and (
        size > _LONG_TO_COUNT or line.count(b"{") + line.count(b"[") > MAX_DEPTH
    )


def _is_deeper(value: dict[str, Any]) -> bool:
    """Whether it has more levels than a line may; level by level, so that none is too deep."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below = []
        for node in level:
            for child in node.values() if type(node) is dict else node:
                if type(child) is dict or type(child) is list:
                    below.append(child)
        if not below:
            return False
        level = below
    return True


def encode(fields: Mapping[str, Any]) -> bytes:
    """One line, with its newline, that decode_line reads back as the same object.

    Raises:
        BadRecord: the object could not be read back: too long, too deep, too full, or not JSON.
    """
    try:
        bare, texts = lift_long_texts(fields)
        line = _encode_value(bare)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadRecord(f"a record that JSON cannot hold: {error}") from error
    # Texts are neither deep nor full, so what there is to refuse is in the line without them.
    pieces = [*put_back(line, texts, _encode_value), b"\n"]
    size = sum(map(len, pieces))
    if size > MAX_LINE_BYTES:
        raise BadRecord(
            f"a record of {size - 1:,} bytes; the longest that a log takes is {MAX_LINE_BYTES:,}"
        )
    if line.count(b"{") + line.count(b"[") > MAX_DEPTH:  # deep, or only full of brackets?
        decode_line(line)
    _refuse_many(line)
    return b"".join(pieces)


def _encode_value(value: Any) -> bytes:
    try:
        return _plain(value).encode()
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8 form, but it has an escape
        return _escaped(value).encode()


class LineReader:
    """Walks the lines of an open file from an offset, in blocks, never holding more than one line.

    Attributes:
        offset: where reading stands; after the walk, the number of bytes seen.
    """

    def __init__(self, descriptor: int, offset: int = 0) -> None:
        self.descriptor = descriptor
        self.offset = offset

    def blocks(self) -> Iterator[bytes]:
        """The bytes from ``offset`` to the end of the file, block by block."""
        while block := os.pread(self.descriptor, BLOCK, self.offset):
            self.offset += len(block)
            yield block

    def lines(self) -> Iterator[tuple[int, int, bytes | None]]:
        """Each line as (offset, length, bytes without the newline); the length counts the newline.

        Only the file's unfinished end, if there is one, has no newline to count. A line longer
        than MAX_LINE_BYTES comes as None, so that it costs no memory.
        """
        start = self.offset
        held: list[bytes] = []
        size = 0
        for block in self.blocks():
            *ended, rest = block.split(b"\n")
            for piece in ended:
                if size:
                    held.append(piece)
                    size += len(piece)
                    yield start, size + 1, b"".join(held) if size <= MAX_LINE_BYTES else None
                    start += size + 1
                    held, size = [], 0
                else:
                    length = len(piece) + 1
                    yield start, length, piece
                    start += length
            if rest:
                size += len(rest)
                held = [*held, rest] if size <= MAX_LINE_BYTES else []
        if size:
            yield start, size, b"".join(held) if size <= MAX_LINE_BYTES else None
