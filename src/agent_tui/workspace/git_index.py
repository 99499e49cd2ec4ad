"""A small index of git's read without git: whether it holds what ``git status`` does not tell."""

from __future__ import annotations

_MOST_BYTES = 1 << 20
"""A larger one is read faster by git, beside what else it does."""

_FILE_MODES = frozenset({0o100644, 0o100755, 0o120000})
_OID_BYTES = {"sha1": 20, "sha256": 32}
_HEAD_BYTES, _STATUS_BYTES = 12, 40
_ASSUMED, _EXTENDED, _LENGTH = 0x8000, 0x4000, 0xFFF


def is_plain(index: bytes, algorithm: str) -> bool:
    """Whether there are files and links alone, none of them hidden and none with attributes.

    False where that cannot be told: of a large index, or of another version. The format is that of
    gitformat-index(5), versions 2 and 3.
    """
    oid = _OID_BYTES.get(algorithm)
    if not oid or not _HEAD_BYTES + oid <= len(index) <= _MOST_BYTES:
        return False
    if b".gitattributes" in index:
        return False
    if index[:4] != b"DIRC" or index[4:8] not in (b"\0\0\0\2", b"\0\0\0\3"):
        return False
    count, place, end = int.from_bytes(index[8:12], "big"), _HEAD_BYTES, len(index) - oid
    head = _STATUS_BYTES + oid + 2
    for _ in range(count):
        if place + head > end:
            return False
        flags = index[place + head - 2] << 8 | index[place + head - 1]
        mode = index[place + 26] << 8 | index[place + 27]
        length = flags & _LENGTH
        if mode not in _FILE_MODES or flags & (_ASSUMED | _EXTENDED) or length == _LENGTH:
            return False
        place += head + length + 8 - (head + length) % 8
    return True
