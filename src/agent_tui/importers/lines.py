"""Reading files that others write: line by line in bytes, never stopping at a bad one."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from agent_tui.core.errors import SessionError, SessionNotFound, SessionReadOnly, StorageError
from agent_tui.core.text import reveal

LONGEST_LINE = 64 << 20
_SMALL_FILE = 4 << 20
_DEEPEST = 100


def open_to_read(path: Path) -> BinaryIO:
    """Open a regular file.

    Raises:
        SessionNotFound: there is none.
        SessionError: it is a folder, pipe or device, or cannot be read now.
    """
    shown = reveal(str(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise SessionNotFound(f"There is no file {shown}.") from error
    except PermissionError as error:
        raise SessionReadOnly(f"{shown} may not be read: permission was denied.") from error
    except OSError as error:
        raise StorageError(f"{shown} cannot be read: {error.strerror}.") from error
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise SessionError(f"{shown} is not a regular file: a session log was expected.")


def read_objects(path: Path) -> Iterator[dict[str, Any] | None]:
    """The JSON object of each line that is not blank; None for a line that is not one.

    A torn last line counts only if it parses whole; NULs and a byte order mark around an object
    are tolerated, a line of nothing but NULs is not blank.
    """
    with open_to_read(path) as file:
        try:
            for line in _lines(file):
                if line is None:
                    yield None
                elif content := line.strip(b"\xef\xbb\xbf\0 \t\r\n"):
                    yield decode(content)
                elif b"\0" in line:
                    yield None
        except OSError as error:
            raise StorageError(
                f"{reveal(str(path))} cannot be read to its end: {error.strerror}."
            ) from error


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Lines in bytes; None for one that is too long to be held."""
    while line := file.readline(LONGEST_LINE):
        if len(line) < LONGEST_LINE or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE)
        yield None


def decode(line: bytes) -> dict[str, Any] | None:
    """One JSON object with finite numbers and bounded depth, or None."""
    import msgspec

    try:
        value = msgspec.json.decode(line)
    except RecursionError:
        return None
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = _decode_half_pairs(line)
    if not isinstance(value, dict) or _is_too_deep(line, value):
        return None
    return value


def _decode_half_pairs(line: bytes) -> object:
    """JavaScript writes half an emoji as a lone surrogate, which strict readers refuse."""
    if rb"\u" not in line:
        return None
    try:
        return json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return None


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is too large")
    return number


def _is_too_deep(line: bytes, value: Any) -> bool:
    if line.count(b"{") + line.count(b"[") <= _DEEPEST:
        return False
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def read_small_object(path: Path) -> dict[str, Any]:
    """The JSON object that a small side file holds; empty where it is missing or broken."""
    try:
        with open_to_read(path) as file:
            return decode(file.read(_SMALL_FILE)) or {}
    except (SessionError, StorageError, OSError):
        return {}
