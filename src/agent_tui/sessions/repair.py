"""A clean copy of a damaged log as a new session; the original is only read.

Every byte is accounted for: it is copied as it is, or listed in the report with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from agent_tui.core.dataclass import dataclass
from agent_tui.core.jsonl import BOM, LineReader, encode
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import (
    CompactionRecord,
    Record,
    RevertRecord,
    SessionHeader,
    Stamp,
)
from agent_tui.sessions.disk import reading
from agent_tui.sessions.lineage import bequeathed_archives
from agent_tui.sessions.log import Piece, Span
from agent_tui.sessions.log_writer import stamped, utc_now
from agent_tui.sessions.replay import Damage, parse_item

_PADDING = b" \t\r\0"
_EXCERPT = 80


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Bytes of the original that the copy does not have."""

    offset: int
    length: int
    reason: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What a clean copy took over and what it left out.

    Attributes:
        session_id: the new session.
        folder: where it is.
        records: how many records were copied.
        bytes_kept: how many bytes of the original were copied, as they were.
        left_out: everything else, in file order.
    """

    session_id: str
    folder: Path
    records: int
    bytes_kept: int
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class CleanCopy:
    """The good records of a log as pieces of it, and what lies between them.

    Attributes:
        acts: those records that name an archive.
    """

    header: SessionHeader | None
    acts: tuple[Record, ...]
    spans: tuple[tuple[int, int], ...]
    left_out: tuple[LeftOut, ...]


def plan_clean_copy(descriptor: int) -> CleanCopy:
    """Sort every byte of an open log into what a clean copy keeps and what it leaves out.

    The header counts as left out: a new session gets a header of its own.
    """
    return _sort_lines(LineReader(descriptor).lines())


def is_sound(source: Path) -> bool:
    """Whether a clean copy of a log would hold every line of it except the header."""
    with reading(source) as (descriptor, _):
        copy = plan_clean_copy(descriptor)
    return copy.header is not None and len(copy.left_out) == 1


def _sort_lines(lines: Iterable[tuple[int, int, bytes | None]]) -> CleanCopy:
    header: SessionHeader | None = None
    acts: list[Record] = []
    spans: list[tuple[int, int]] = []
    left_out: list[LeftOut] = []
    for offset, length, line in lines:
        item = parse_item(line, offset, length)
        if item is None:
            left_out.append(LeftOut(offset, length, "a blank line"))
        elif isinstance(item, Damage):
            shown = (line or b"")[:_EXCERPT].decode(errors="replace")
            left_out.append(LeftOut(offset, length, item.reason, shown))
        elif isinstance(item.record, SessionHeader):
            header = header or item.record
            left_out.append(LeftOut(offset, length, "the header; the copy has its own"))
        else:
            start, end = _object_within(line or b"", offset)
            if start > offset:
                left_out.append(LeftOut(offset, start - offset, "padding before a record"))
            spans.append((start, end - start))
            if isinstance(item.record, CompactionRecord | RevertRecord):
                acts.append(item.record)
            padding = offset + length - end - (length > len(line or b""))
            if padding:
                left_out.append(LeftOut(end, padding, "padding after a record"))
    return CleanCopy(header, tuple(acts), tuple(spans), tuple(left_out))


def _object_within(line: bytes, offset: int) -> tuple[int, int]:
    bom = len(BOM) if offset == 0 and line.startswith(BOM) else 0
    body = line[bom:]
    start = bom + len(body) - len(body.lstrip(_PADDING))
    return offset + start, offset + bom + len(body.rstrip(_PADDING))


def clean_header(copy: CleanCopy, session_id: str, source: Path) -> SessionHeader:
    """The header of a clean copy: the original's, under a new id that names where it came from."""
    at, original_id = utc_now(), source.parent.name
    parent: dict[str, object] = {"session_id": original_id, "repaired_from": str(source)}
    if archives := bequeathed_archives(copy.header, original_id, copy.acts):
        parent["archives"] = archives
    original = copy.header or SessionHeader(session_id, "", at, "")
    return replace(original, session_id=session_id, created_at=at, parent=parent)


def copy_pieces(copy: CleanCopy, header: SessionHeader, descriptor: int) -> Iterator[Piece]:
    """The bytes of the clean copy: a new header, then every good record as it was."""
    root = copy.header.stamp.uuid if copy.header else None
    first = stamped(replace(header, stamp=Stamp(root)), None, utc_now())
    yield encode(record_fields(first))
    for offset, length in copy.spans:
        yield Span(descriptor, offset, length)
        yield b"\n"


def report_copy(copy: CleanCopy, header: SessionHeader, folder: Path) -> RepairReport:
    """The report that goes with a clean copy."""
    kept = sum(length for _, length in copy.spans)
    return RepairReport(header.session_id, folder, len(copy.spans), kept, copy.left_out)
