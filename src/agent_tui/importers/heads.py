"""The beginning of a file, read once for all importers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_tui.importers.importer import Head
from agent_tui.importers.lines import decode, open_to_read

_START_BYTES = 1 << 20
_LONGEST_START = 64 << 20
_LINES = 200
_PADDING = b"\xef\xbb\xbf\0 \t\r\n"
SQLITE = b"SQLite format 3\0"


def read_head(path: Path) -> Head:
    """Look at a file or folder.

    Raises:
        SessionError, StorageError: it is missing or cannot be read.
    """
    if path.is_dir():
        return Head(path)
    with open_to_read(path) as file:
        start = file.read(_START_BYTES)
        if start.startswith(SQLITE):
            return Head(path, start)
        if b"\n" not in start.lstrip(_PADDING):
            start += file.read(_LONGEST_START)  # one long line: a document, or a big first record
        objects = _first_objects(start)
        document = None
        if not objects and start.lstrip(_PADDING)[:1] == b"{":
            document = decode((start + file.read(_LONGEST_START)).strip(_PADDING))
        elif len(objects) == 1 and len(start) < _START_BYTES:
            document = objects[0]
    return Head(path, start[:_START_BYTES], objects, document)


def _first_objects(start: bytes) -> tuple[dict[str, Any], ...]:
    lines = start.split(b"\n", _LINES)[:_LINES]
    found = (decode(content) for line in lines if (content := line.strip(_PADDING)))
    return tuple(value for value in found if value is not None)
