"""Sessions of Mistral Vibe: a folder with messages line by line and the facts beside them.

A compaction or a rewind starts a new folder that names the one it came from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agent_tui.core.records import (
    ModelRecord,
    SessionHeader,
    Stamp,
    TitleRecord,
    UnknownRecord,
    UsageRecord,
)
from agent_tui.core.summary import SessionSummary
from agent_tui.core.text import first_line
from agent_tui.core.times import known_time
from agent_tui.importers import fields
from agent_tui.importers.conversation import Conversation
from agent_tui.importers.imported import ImportedSession, ImportedTail
from agent_tui.importers.importer import Head, Importer, Places, SessionRef
from agent_tui.importers.lines import (
    Entries,
    read_ends,
    read_entries,
    read_last_entries,
    read_small_object,
)
from agent_tui.importers.listing import file_refs, shell_command, summary_of
from agent_tui.importers.openai_messages import ROLES, message_of

VIBE = "vibe"


def is_vibe(head: Head) -> bool:
    """Whether lines are messages with Vibe's ids."""
    return any(
        isinstance(value.get("message_id"), str) and fields.text(value, "role") in ROLES
        for value in head.objects
    )


def read_session(ref: SessionRef) -> ImportedSession:
    """Read the messages and the facts beside them; raises SessionError."""
    return _session_of(read_entries(ref.path))


def read_tail(ref: SessionRef, count: int) -> ImportedTail:
    """The last messages."""
    lines = read_last_entries(ref.path, count)
    return ImportedTail(_session_of(lines).records, lines.is_whole)


def _session_of(lines: Entries) -> ImportedSession:
    facts = read_small_object(lines.path.parent / "meta.json")
    conversation = Conversation()
    conversation.add(_header(lines, facts))
    if model := fields.text(facts, "model"):
        conversation.add(ModelRecord("mistral", model))
    for value, number in lines:
        stamp = Stamp(fields.text(value, "message_id") or None)
        record = message_of(value, stamp)
        if record is None:
            role = fields.text(value, "role") or "no role"
            conversation.add(UnknownRecord(role, value, stamp))
            lines.book.leave_unknown(number, role)
        else:
            conversation.add(record)
            lines.book.show(number)
    if size := fields.number(fields.table(facts, "stats"), "context_tokens"):
        conversation.add(UsageRecord(size))
    if title := first_line(fields.text(facts, "title")):
        conversation.add(TitleRecord(title))
    return conversation.finish(
        VIBE, lines.path, damaged=lines.damaged, accounting=lines.book.close()
    )


def _header(lines: Entries, facts: dict[str, Any]) -> SessionHeader:
    parent = fields.text(facts, "parent_session_id")
    return SessionHeader(
        session_id=fields.text(facts, "session_id") or lines.path.parent.name,
        cwd=fields.text(fields.table(facts, "environment"), "working_directory"),
        created_at=fields.text(facts, "start_time"),
        version="",
        git_branch=fields.text(facts, "git_branch") or None,
        parent={"session_id": parent} if parent else None,
        stamp=Stamp(at=fields.text(facts, "start_time") or None),
    )


def _summarise(ref: SessionRef) -> SessionSummary:
    facts = read_small_object(ref.path.parent / "meta.json")
    session = _session_of(read_ends(ref.path))
    row = summary_of(ref, session.records, title=session.title)
    return replace(row, updated_at=known_time(fields.text(facts, "end_time")) or row.updated_at)


def _discover(places: Places) -> Iterator[SessionRef]:
    folder = places.folder(VIBE, ".vibe", "VIBE_HOME")
    return file_refs(VIBE, folder / "logs" / "session", "session_*/messages.jsonl")


def _resume(session_id: str, cwd: str) -> str:
    return shell_command(cwd, "vibe", "--resume", session_id)


VIBE_IMPORTER = Importer(
    source=VIBE,
    name="Mistral Vibe",
    recognise=is_vibe,
    read=read_session,
    summarise=_summarise,
    discover=_discover,
    read_tail=read_tail,
    resume=_resume,
)
