"""Sessions that are made up of records in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent_tui.core.records import Record
from agent_tui.history.sources.file_source import ImportedSource
from agent_tui.importers.imported import ImportedArchive, ImportedCompaction, ImportedSession


def source_of(
    records: Sequence[Record],
    *archives: Sequence[Record],
    compactions: tuple[ImportedCompaction, ...] = (),
    read_only: str = "",
) -> ImportedSource:
    """A session whose archives were left by reverts."""
    rotated = (ImportedArchive(n, "user", tuple(each)) for n, each in enumerate(archives, 1))
    found = ImportedSession(
        source="kimi",
        session_id="s1",
        cwd="/w",
        title="t",
        path=Path("/s/context.jsonl"),
        records=tuple(records),
        context=tuple(records),
        damaged=0,
        archives=tuple(rotated),
        compactions=compactions,
    )
    source = ImportedSource(found)
    source.read_only = read_only
    return source
