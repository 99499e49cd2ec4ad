"""Sessions in kimi's layout, and in ours opened by path: a live log with rotated logs beside it.

kimi rotates ``context.jsonl`` to ``context_1.jsonl``, ``context_2.jsonl`` …, and writes neither why
nor who really spoke; both are worked out here. Our own ``context.jsonl.1`` … say it themselves.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from agent_tui.core.errors import BadRecord, SessionError, StorageError
from agent_tui.core.messages import text_of
from agent_tui.core.record_parsing import parse_record
from agent_tui.core.records import (
    MESSAGE_ROLES,
    CompactionRecord,
    Record,
    RevertRecord,
    SessionHeader,
    TitleRecord,
    UnknownRecord,
    UserMessage,
    is_prompt,
)
from agent_tui.core.summary import OURS, SessionSummary
from agent_tui.core.summary_format import read_summary
from agent_tui.core.text import first_line
from agent_tui.importers import fields
from agent_tui.importers.accounting import Accounting, add_up
from agent_tui.importers.active_path import follow_heads
from agent_tui.importers.damage import is_damage, put_damage
from agent_tui.importers.imported import (
    ImportedArchive,
    ImportedCompaction,
    ImportedSession,
    ImportedTail,
    Records,
)
from agent_tui.importers.importer import Head, Importer, Places, SessionRef
from agent_tui.importers.kimi_origins import infer_origins
from agent_tui.importers.kimi_rotations import explain_rotation
from agent_tui.importers.kimi_times import put_times, read_times
from agent_tui.importers.lines import (
    Entries,
    read_ends,
    read_entries,
    read_last_entries,
    read_small_object,
)
from agent_tui.importers.listing import file_refs, shell_command, summary_of

KIMI = "kimi"
_BOOKKEEPING = ("_session", "_system_prompt", "_checkpoint", "_usage")
_ELSEWHERE = ("system", "developer", "function")
_FOREIGN = frozenset({"type", "id", "message_id", "sessionID", "sessionId"})
_OURS = re.compile(r"(?P<base>.+\.jsonl)\.(?P<number>\d{1,9})")
_THEIRS = re.compile(r"(?P<base>.+)_(?P<number>\d{1,9})\.jsonl")


def is_kimi(head: Head) -> bool:
    """Whether lines look like records of kimi, or of ours: told by their roles."""
    roles = {fields.text(value, "role") for value in head.objects}
    if not roles.isdisjoint(_BOOKKEEPING):
        return True
    return roles.isdisjoint(_ELSEWHERE) and any(_is_record(value) for value in head.objects)


def _is_ours(head: Head) -> bool:
    return any(value.get("role") == "_session" for value in head.objects)


def _is_record(value: dict[str, Any]) -> bool:
    role = value.get("role")
    if role in MESSAGE_ROLES:
        return "content" in value and not _FOREIGN & value.keys()
    return role in _BOOKKEEPING


@dataclass(frozen=True)
class _Log:
    """One log file; the live one has no number. ``shown`` has a row where lines are damaged."""

    number: int | None
    path: Path
    shown: Records
    damaged: int
    size_bytes: int
    accounting: Accounting

    @cached_property
    def records(self) -> Records:
        if not self.damaged:
            return self.shown
        return tuple(record for record in self.shown if not is_damage(record))


def read_session(ref: SessionRef) -> ImportedSession:
    """Read a log, live or rotated, with the logs that were rotated before it.

    Raises:
        SessionError: the log itself cannot be read; rotated logs that cannot are left out.
    """
    path = ref.path
    live = _read_log(path, None)
    ours = any(isinstance(record, SessionHeader) for record in live.records)
    logs = [*_older_logs(path), live]
    reasons: dict[int, str] = {}
    if not ours:
        times = read_times(path.parent / "wire.jsonl")
        logs = [replace(log, shown=put_times(log.shown, times)) for log in logs]
        logs = _explain_rotations(logs, reasons)
    for record in (record for log in logs for record in log.records):
        if isinstance(record, CompactionRecord):
            reasons[record.archive] = "compaction"
        elif isinstance(record, RevertRecord):
            reasons[record.archive] = record.reason
    live = logs[-1]
    session_id, cwd, title = _identity(path, live.records)
    return ImportedSession(
        source=OURS if ours else KIMI,
        session_id=session_id,
        cwd=cwd,
        title=title,
        path=path,
        records=live.records,
        context=live.records,
        damaged=live.damaged,
        archives=tuple(
            ImportedArchive(
                log.number,
                reasons.get(log.number, "unknown"),
                log.records,
                log.damaged,
                str(log.path),
                log.size_bytes,
                log.shown,
            )
            for log in logs
            if log.number is not None
        ),
        compactions=tuple(_compactions(logs)),
        accounting=add_up(log.accounting for log in logs),
        shown=live.shown,
    )


def _read_log(path: Path, number: int | None) -> _Log:
    entries = read_entries(path)
    told = tuple(infer_origins(follow_heads(_rows_of(entries))))
    size = path.stat().st_size
    return _Log(number, path, told, entries.damaged, size, entries.book.close())


def _records_of(entries: Entries) -> list[Record]:
    return [record for record in _rows_of(entries) if not is_damage(record)]


def _rows_of(entries: Entries) -> list[Record]:
    """The records, with one row in the place of damaged lines that follow each other."""
    records: dict[int, Record] = {}
    for value, number in entries:
        try:
            record = parse_record(value)
        except BadRecord:
            entries.damage(number)
            continue
        records[number] = record
        if isinstance(record, UnknownRecord):
            entries.book.leave_unknown(number, record.role)
        else:
            entries.book.show(number)
    return put_damage(records, entries.damaged_numbers)


def read_tail(ref: SessionRef, count: int) -> ImportedTail:
    """The last records of the live log."""
    entries = read_last_entries(ref.path, count)
    return ImportedTail(tuple(infer_origins(_records_of(entries))), entries.is_whole)


def _summarise(ref: SessionRef) -> SessionSummary:
    told = tuple(infer_origins(_records_of(read_ends(ref.path))))
    session_id, cwd, title = _identity(ref.path, told)
    archives = len(rotations_of(ref.path))
    return summary_of(ref, told, session_id=session_id, cwd=cwd, title=title, archives=archives)


def _discover(places: Places) -> Iterator[SessionRef]:
    folder = places.folder(KIMI, ".kimi", "KIMI_SHARE_DIR")
    return file_refs(KIMI, folder / "sessions", "*/*/context.jsonl")


def _resume(session_id: str, cwd: str) -> str:
    return shell_command(cwd, "kimi", "--session", session_id)


def _older_logs(path: Path) -> list[_Log]:
    """The logs rotated before this one, oldest first: N only grows, file times say nothing."""
    logs = []
    for number, older in sorted(rotations_of(path).items()):
        try:
            logs.append(_read_log(older, number))
        except (SessionError, StorageError, OSError):
            continue
    return logs


def rotations_of(path: Path) -> dict[int, Path]:
    """The logs that were rotated away before the one at a path, by number. Reads the folder."""
    base, before = path.name, None
    for pattern in (_OURS, _THEIRS):
        if found := pattern.fullmatch(path.name):
            base = found["base"] if pattern is _OURS else f"{found['base']}.jsonl"
            before = int(found["number"])
            break
    for pattern, wanted in ((_OURS, base), (_THEIRS, base.removesuffix(".jsonl"))):
        rotations = {
            int(found["number"]): other
            for other in path.parent.iterdir()
            if (found := pattern.fullmatch(other.name)) and found["base"] == wanted
        }
        if rotations:
            return {n: p for n, p in rotations.items() if before is None or n < before}
    return {}


def _explain_rotations(logs: Sequence[_Log], reasons: dict[int, str]) -> list[_Log]:
    explained = list(logs)
    for index in range(1, len(explained)):
        before, after = explained[index - 1], explained[index]
        assert before.number is not None
        reason, shown = explain_rotation(before.number, before.records, after.shown)
        reasons[before.number] = reason
        explained[index] = replace(after, shown=shown)
    first = explained[0]
    explained[0] = replace(first, shown=explain_rotation(0, (), first.shown)[1])
    return explained


def _compactions(logs: Sequence[_Log]) -> Iterator[ImportedCompaction]:
    """Each compaction once: the log that first tells of it is what came after."""
    by_number = {log.number: log.records for log in logs}
    told: set[tuple[int, str]] = set()
    for log in logs:
        for position, record in enumerate(log.records):
            if not isinstance(record, CompactionRecord):
                continue
            summary = _summary_after(log.records, position)
            key = (record.archive, "" if record.archive else summary)
            if key in told:
                continue
            told.add(key)
            before = by_number.get(record.archive, ())
            yield ImportedCompaction(
                record.archive, before, log.records, summary, record.pre_tokens
            )


def _summary_after(records: Records, position: int) -> str:
    for record in records[position:]:
        if isinstance(record, UserMessage) and record.origin == "compaction":
            return read_summary(record.content).summary
    return ""


def _identity(path: Path, records: Records) -> tuple[str, str, str]:
    """Session id, working folder and title, from the log or from the files that kimi keeps."""
    folder = path.resolve().parent
    session_id, cwd = folder.name, _find_cwd(folder)
    title = str(read_small_object(folder / "state.json").get("custom_title") or "")
    for record in records:
        if isinstance(record, SessionHeader):
            session_id, cwd = record.session_id, record.cwd
        elif isinstance(record, TitleRecord):
            title = record.title
    return session_id, cwd, title or _first_prompt(records)


def _first_prompt(records: Records) -> str:
    for record in records:
        if is_prompt(record):
            return first_line(text_of(record.content))
    return ""


def _find_cwd(folder: Path) -> str:
    """The known project whose hash is the name of the session's parent folder."""
    if len(folder.parents) < 3:
        return ""
    known = read_small_object(folder.parents[2] / "kimi.json").get("work_dirs")
    for entry in known if isinstance(known, list) else ():
        path = entry.get("path") if isinstance(entry, dict) else None
        if isinstance(path, str):
            digest = hashlib.md5(path.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
            if folder.parent.name in (digest, f"{entry.get('kaos')}_{digest}"):
                return path
    return ""


KIMI_IMPORTER = Importer(
    source=KIMI,
    name="kimi",
    recognise=is_kimi,
    read=read_session,
    summarise=_summarise,
    discover=_discover,
    read_tail=read_tail,
    resume=_resume,
)
OUR_IMPORTER = Importer(
    source=OURS,
    name="agent-tui",
    recognise=_is_ours,
    read=read_session,
    summarise=_summarise,
    read_tail=read_tail,
)
