"""What is printed: JSON that is safe in a terminal too, and rows in columns."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from agent_tui.core.output import say, say_bytes
from agent_tui.core.text import clean

_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def to_json(value: object) -> str:
    """One line of JSON; dataclasses become objects, and no control character stays raw."""
    text = json.dumps(value, ensure_ascii=False, default=_fields)
    return text if text.isascii() else _UNSAFE.sub(lambda m: f"\\u{ord(m.group()):04x}", text)


def print_json(value: object) -> None:
    """Print one JSON value."""
    say(to_json(value))


def print_json_rows(rows: Sequence[object]) -> None:
    """Print dataclasses as one JSON list."""
    import msgspec

    try:
        print_encoded_rows(list(map(msgspec.json.Encoder().encode, rows)))
    except UnicodeEncodeError:  # half a character, which only the slower way can write
        print_json(rows)


def print_encoded_rows(rows: Sequence[bytes]) -> None:
    """Print JSON objects as one list; fit for tens of thousands of them."""
    say_bytes(b"[%s]\n" % _escaped(b", ".join(rows)))


def _escaped(line: bytes) -> bytes:
    if line.isascii() and b"\x7f" not in line:
        return line
    return _UNSAFE.sub(lambda m: f"\\u{ord(m.group()):04x}", line.decode()).encode()


def _fields(value: object) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        # Values within are asked for by themselves: asdict would copy each of them.
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return str(value)


def print_rows(rows: Iterable[tuple[object, ...]], empty: str) -> None:
    """Print rows as columns, two spaces apart; ``empty`` when there are none."""
    cells = [[clean(str(cell)).replace("\n", " ") for cell in row] for row in rows]
    if not cells:
        say(empty)
        return
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        say("  ".join(padded).rstrip())
