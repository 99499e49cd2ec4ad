"""The checkpoints and captures of a log, read without loading the rest of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_tui.core.errors import BadRecord
from agent_tui.core.jsonl import LineReader, decode_line
from agent_tui.core.record_parsing import parse_record
from agent_tui.core.records import Checkpoint, WorkspaceRecord
from agent_tui.sessions.disk import reading

_SIGNS = (b'"_workspace"', b'"_checkpoint"')


def read_marks(path: Path) -> list[Checkpoint | WorkspaceRecord]:
    """The checkpoints and captures of a log, in its order; damaged lines are passed over.

    Raises:
        SessionNotFound, SessionReadOnly, StorageError: it cannot be read now.
    """
    with reading(path) as (descriptor, _):
        return list(_marks(LineReader(descriptor)))


def _marks(reader: LineReader) -> Iterator[Checkpoint | WorkspaceRecord]:
    for _, _, line in reader.lines():
        if line is None or not any(sign in line[:4096] for sign in _SIGNS):
            continue
        try:
            record = parse_record(decode_line(line))
        except BadRecord:
            continue
        if isinstance(record, Checkpoint | WorkspaceRecord):
            yield record
