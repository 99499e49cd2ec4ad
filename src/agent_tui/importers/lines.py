"""Reading files that others write: line by line in bytes, never stopping at a bad one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from agent_tui.core.errors import (
    BadRecord,
    SessionError,
    SessionNotFound,
    SessionReadOnly,
    StorageError,
)
from agent_tui.core.jsonl import BOM, LineReader, bulk_decoder
from agent_tui.core.text import reveal

_SMALL_FILE = 4 << 20


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
            for _, _, line in LineReader(file.fileno()).lines():
                if line is None:
                    yield None
                elif content := line.strip(BOM + b"\0 \t\r\n"):
                    yield decode(content)
                elif b"\0" in line:
                    yield None
        except OSError as error:
            raise StorageError(
                f"{reveal(str(path))} cannot be read to its end: {error.strerror}."
            ) from error


def decode(line: bytes) -> dict[str, Any] | None:
    """One JSON object with finite numbers and bounded depth, or None."""
    try:
        return bulk_decoder()(line)
    except BadRecord:
        return None


def read_small_object(path: Path) -> dict[str, Any]:
    """The JSON object that a small side file holds; empty where it is missing or broken."""
    try:
        with open_to_read(path) as file:
            return decode(file.read(_SMALL_FILE)) or {}
    except (SessionError, StorageError, OSError):
        return {}
