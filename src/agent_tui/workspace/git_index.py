"""An index of git's read without git: what it holds that ``git status`` does not tell."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from agent_tui.core.dataclass import dataclass

_MOST_BYTES = 1 << 20
"""A larger one is read faster by git, beside what else it does."""

_FILE_MODES = frozenset({0o100644, 0o100755, 0o120000})
_OID_BYTES = {"sha1": 20, "sha256": 32}
_HEAD_BYTES, _STATUS_BYTES = 12, 40
_TIMES = struct.Struct(">IIII")
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


def differing_entries(
    index: bytes,
    algorithm: str,
    second: int,
    differs: Callable[[bytes, int, int], bool],
) -> Iterator[Entry]:
    """The entries whose status changed in a second or later, and of which ``differs`` is true.

    That is asked with the path and the times of status and content, in nanoseconds. There is
    nothing of an index that is damaged or of another version: git says what is wrong with it.
    """
    oid = _OID_BYTES.get(algorithm)
    if not oid or len(index) < _HEAD_BYTES or index[:4] != b"DIRC":
        return
    version, count = int.from_bytes(index[4:8], "big"), int.from_bytes(index[8:12], "big")
    if version not in (2, 3, 4):
        return
    place, path, head, whole = _HEAD_BYTES, b"", _STATUS_BYTES + oid + 2, len(index)
    read_entry = struct.Struct(f">I20xI{oid + 12}xH").unpack_from
    for _ in range(count):
        if place + head > whole:
            return
        seconds, mode, flags = read_entry(index, place)
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
        if seconds >= second and mode in _FILE_MODES:
            name = path if version == 4 else index[start:end]
            _, nanoseconds, written, written_nanoseconds = _TIMES.unpack_from(index, place)
            changed_at = seconds * _SECOND + nanoseconds
            if differs(name, changed_at, written * _SECOND + written_nanoseconds):
                object_name = index[place + _STATUS_BYTES : place + _STATUS_BYTES + oid].hex()
                yield Entry(name, object_name, f"{mode:o}")
        place = after


def _read_offset(index: bytes, place: int) -> tuple[int, int]:
    """How many bytes of the name before an entry of version 4 leaves out, and where that ends."""
    value = -1
    for byte in index[place : place + 10]:
        value, place = ((value + 1) << 7) | (byte & 0x7F), place + 1
        if not byte & 0x80:
            break
    return value, place
