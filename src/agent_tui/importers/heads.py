"""The beginning of a file, read once for all importers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_tui.core.jsonl import MAX_LINE_BYTES
from agent_tui.importers.importer import Head
from agent_tui.importers.lines import (
    Entries,
    decode,
    open_log,
    read_document,
    read_ends,
    read_entries,
    read_last_entries,
)

_START_BYTES = 1 << 20
_LONGEST_START = 64 << 20
_LINES = 200
_PADDING = b"\xef\xbb\xbf\0 \t\r\n"
_MOST = f"{MAX_LINE_BYTES >> 20} MB"
SQLITE = b"SQLite format 3\0"


def read_head(path: Path) -> Head:
    """Look at a file or folder.

    Raises:
        SessionError, StorageError: it is missing or cannot be read.
    """
    if path.is_dir():
        return Head(path)
    with open_log(path, _LONGEST_START) as file:
        start = file.read(_START_BYTES)
        if start.startswith(SQLITE):
            return Head(path, start)
        if b"\n" not in start.lstrip(_PADDING):
            start += file.read(_LONGEST_START)  # one long line: a document, or a big first record
        objects = _first_objects(start)
        document = None
        if start.lstrip(_PADDING)[:1] == b"{" and not _begins_with_object(start):
            document = decode((start + file.read(_LONGEST_START)).strip(_PADDING))
            objects = () if document is not None else objects  # lines inside it are no records
        elif len(objects) == 1 and len(start) < _START_BYTES:
            document = objects[0]
    return Head(path, start[:_START_BYTES], objects, document)


def tell_too_long(path: Path) -> str:
    """What a file begins with that is too long to be read, in words; empty where nothing is.

    Raises:
        SessionError, StorageError: it is missing or cannot be read.
    """
    with open_log(path, MAX_LINE_BYTES + _START_BYTES) as file:
        start = file.read(MAX_LINE_BYTES + 1)
    first, newline, _ = start.lstrip(_PADDING).partition(b"\n")
    if len(start) <= MAX_LINE_BYTES or first[:1] != b"{":
        return ""
    if newline:  # a JSON document begins with a bracket on a line of its own, a log does not
        return f"a JSON object of more than {_MOST}" if first.strip() == b"{" else ""
    return f"a line of more than {_MOST}"


def _begins_with_object(start: bytes) -> bool:
    """Whether the first line is an object, and not only the beginning of one."""
    return decode(start.lstrip(_PADDING).partition(b"\n")[0].strip(_PADDING)) is not None


def read_lines_or_document(path: Path) -> Entries:
    """Every line of a file; a file that is one object over several lines is one record.

    Raises:
        SessionError, StorageError: it cannot be read.
    """
    return read_document(path) if _is_document(path) else read_entries(path)


def read_last_or_document(path: Path, count: int) -> Entries:
    """The last lines of a file; all of one object over several lines, of which none says much."""
    return read_document(path) if _is_document(path) else read_last_entries(path, count)


def read_ends_or_document(path: Path) -> Entries:
    """The first and last lines of a file; all of one object over several lines."""
    return read_document(path) if _is_document(path) else read_ends(path)


def _is_document(path: Path) -> bool:
    head = read_head(path)
    return head.document is not None and not _begins_with_object(head.start)


def _first_objects(start: bytes) -> tuple[dict[str, Any], ...]:
    lines = start.split(b"\n", _LINES)[:_LINES]
    found = (decode(content) for line in lines if (content := line.strip(_PADDING)))
    return tuple(value for value in found if value is not None)
