"""A session as one JSON document: every record in log order, as our log writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import Record, WorkspaceRecord

FORMAT = "agent-tui-session"
VERSION = 1
_SURROGATES = re.compile("[\ud800-\udfff]")


def export_json(records: Iterable[Record], title: str = "") -> Iterator[bytes]:
    """``{"format", "version", "title", "records": […]}``, one record a line."""
    begin = {"format": FORMAT, "version": VERSION, "title": title}
    yield _json(begin)[:-1] + b',"records":['
    lead = b"\n"
    for record in records:
        if isinstance(record, WorkspaceRecord):
            continue  # hashes of files, some of them secret
        yield lead + _json(record_fields(record))
        lead = b",\n"
    yield b"\n]}\n"


def _json(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return _SURROGATES.sub("\ufffd", text).encode()
