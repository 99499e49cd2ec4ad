"""An index of git's read without git: what it holds that ``git status`` does not tell."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TypeAlias

from agent_tui.core.dataclass import dataclass

_MOST_BYTES = 32 << 20
"""A larger one is left to git, beside what else it does."""

_FILE_MODES = frozenset({0o100644, 0o100755, 0o120000})
_OID_BYTES = {"sha1": 20, "sha256": 32}
_HEAD_BYTES, _STATUS_BYTES = 12, 40
_MODE_AT = 24
_SECOND = 1_000_000_000
_HIDING, _EXTENDED, _LENGTH = 0xC000, 0x4000, 0xFFF
"""Of an entry's flags: those of a hidden path, of more flags, and the length of its name."""


def newest_change(index: bytes, algorithm: str) -> int | None:
    """The second in which the status of an entry changed last, in an index that is plain.

    Plain is what has files and links alone, none of them hidden and none with attributes. None
    where it is not, or where that cannot be told: of a large index, or of another version. The
    format is that of gitformat-index(5), versions 2 and 3.
    """
    oid = _OID_BYTES.get(algorithm)
    if not oid or not _HEAD_BYTES + oid <= len(index) <= _MOST_BYTES:
        return None
    if b".gitattributes" in index:
        return None
    if index[:4] != b"DIRC" or index[4:8] not in (b"\0\0\0\2", b"\0\0\0\3"):
        return None
    count, place, end = int.from_bytes(index[8:12], "big"), _HEAD_BYTES, len(index) - oid
    head, newest = _STATUS_BYTES + oid + 2, 0
    read_entry = struct.Struct(f">I22xH{oid + 12}xH").unpack_from
    for _ in range(count):
        if place + head > end:
            return None
        seconds, mode, flags = read_entry(index, place)
        length = flags & _LENGTH
        if mode not in _FILE_MODES or flags & _HIDING or length == _LENGTH:
            return None
        if seconds > newest:
            newest = seconds
        place += (head + length + 8) & -8
    return newest


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or link as an index has it, from the top of the work tree."""

    path: bytes
    oid: str
    mode: str


TimedEntry: TypeAlias = tuple[bytes, int, int, int]
"""A path, the times of status and content in nanoseconds, and the place of the entry."""


def entries_since(index: bytes, algorithm: str, second: int) -> Iterator[TimedEntry]:
    """The files and links of which the status changed in a second or later.

    There is nothing of an index that is damaged or of another version: git says what is wrong
    with it. Tuples, because there may be as many as files.
    """
    oid = _OID_BYTES.get(algorithm)
    if not oid or len(index) < _HEAD_BYTES or index[:4] != b"DIRC":
        return
    version, count = int.from_bytes(index[4:8], "big"), int.from_bytes(index[8:12], "big")
    if version not in (2, 3, 4):
        return
    place, path, head, whole = _HEAD_BYTES, b"", _STATUS_BYTES + oid + 2, len(index)
    read_entry = struct.Struct(f">IIII8xI{oid + 12}xH").unpack_from
    for _ in range(count):
        if place + head > whole:
            return
        changed, changed_ns, written, written_ns, mode, flags = read_entry(index, place)
        start = place + head + (2 if flags & _EXTENDED else 0)
        length = flags & _LENGTH
        if version == 4:
            kept, start = _read_offset(index, start)
            end = index.find(b"\0", start)
            path = path[: len(path) - kept] + index[start:end]
            after = end + 1
        else:
            end = index.find(b"\0", start) if length == _LENGTH else start + length
            after = place + ((end - place + 8) & -8)
        if not start <= end < whole:
            return
        if changed >= second and mode in _FILE_MODES:
            name = path if version == 4 else index[start:end]
            yield name, changed * _SECOND + changed_ns, written * _SECOND + written_ns, place
        place = after


def entry_at(index: bytes, algorithm: str, place: int, path: bytes) -> Entry:
    """The entry of which ``entries_since`` told the place."""
    start = place + _STATUS_BYTES
    mode = int.from_bytes(index[place + _MODE_AT : place + _MODE_AT + 4], "big")
    return Entry(path, index[start : start + _OID_BYTES[algorithm]].hex(), f"{mode:o}")


def _read_offset(index: bytes, place: int) -> tuple[int, int]:
    """How many bytes of the name before an entry of version 4 leaves out, and where that ends."""
    value = -1
    for byte in index[place : place + 10]:
        value, place = ((value + 1) << 7) | (byte & 0x7F), place + 1
        if not byte & 0x80:
            break
    return value, place
