"""One row of the session list, read from the head and the tail of a log, never from all of it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from agent_tui.core.errors import AgentTuiError, BadRecord
from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    ModelRecord,
    Record,
    SessionHeader,
    TitleRecord,
    UserMessage,
    parse_record,
)
from agent_tui.core.summary import SessionGlance
from agent_tui.core.text import first_line
from agent_tui.sessions.archive import LIVE, finished_archives
from agent_tui.sessions.disk import open_regular, spoken_errors
from agent_tui.sessions.jsonl import decode_line

HEAD_BYTES = 16 << 10
TAIL_BYTES = 48 << 10
_NOT_A_PROMPT = {"checkpoint", "compaction", "reminder", "dmail"}


def glance_at(folder: Path) -> SessionGlance:
    """What the session list shows of one session; an unreadable one says so in its title."""
    try:
        return _read_glance(folder)
    except AgentTuiError as error:
        return SessionGlance(
            session_id=folder.name,
            folder=str(folder),
            title=f"unreadable: {error}",
            cwd="",
            created_at="",
            updated_at="",
            size_bytes=0,
            archives=0,
        )


def _read_glance(folder: Path) -> SessionGlance:
    path = folder / LIVE
    with spoken_errors("Reading", path):
        descriptor, status = open_regular(path)
        try:
            size = status.st_size
            head = os.pread(descriptor, HEAD_BYTES, 0)
            tail = b""
            if size > HEAD_BYTES:
                start = max(HEAD_BYTES, size - TAIL_BYTES)
                tail = os.pread(descriptor, size - start, start)
        finally:
            os.close(descriptor)
        archives = len(finished_archives(folder))
    first, last = _records(head), _records(tail)
    both = [*first, *last]
    header = next((record for record in first if isinstance(record, SessionHeader)), None)
    titles = [record.title for record in both if isinstance(record, TitleRecord)]
    models = [record.model for record in both if isinstance(record, ModelRecord)]
    prompt = next((text for record in both if (text := _prompt(record))), "")
    written = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    times = [record.stamp.at for record in both if record.stamp.at]
    updated_at = times[-1] if times else written.replace("+00:00", "Z")
    return SessionGlance(
        session_id=header.session_id if header else folder.name,
        folder=str(folder),
        title=(titles[-1] if titles else "") or first_line(prompt),
        cwd=header.cwd if header else "",
        created_at=header.created_at if header else updated_at,
        updated_at=updated_at,
        size_bytes=size,
        archives=archives,
        first_prompt=first_line(prompt, 200),
        model=models[-1] if models else "",
    )


def _records(data: bytes) -> list[Record]:
    """The records whose lines are whole in a cut-out of a log."""
    records = []
    for line in data.split(b"\n"):
        try:
            records.append(parse_record(decode_line(line)))
        except BadRecord:
            continue
    return records


def _prompt(record: Record) -> str:
    if isinstance(record, UserMessage) and record.origin not in _NOT_A_PROMPT:
        return text_of(record.content)
    return ""
