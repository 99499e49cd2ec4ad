"""Conversations in OpenAI's form: a message a line, or one object with a list of messages."""

from __future__ import annotations

from typing import Any

from agent_tui.core.records import SessionHeader, Stamp, UnknownRecord
from agent_tui.core.summary import SessionSummary
from agent_tui.importers import fields
from agent_tui.importers.conversation import Conversation, title_of
from agent_tui.importers.heads import (
    read_ends_or_document,
    read_last_or_document,
    read_lines_or_document,
)
from agent_tui.importers.imported import ImportedChild, ImportedSession, ImportedTail
from agent_tui.importers.importer import Head, Importer, SessionRef
from agent_tui.importers.lines import Entries
from agent_tui.importers.listing import summary_of
from agent_tui.importers.openai_messages import ROLES, message_of

OPENAI = "openai"


def is_openai(head: Head) -> bool:
    """Whether it is a message in OpenAI's form, or an object with a list of such."""
    if head.document is not None:
        return _holds_messages(head.document) or _is_message(head.document)
    return any(_is_message(value) or _holds_messages(value) for value in head.objects)


def _is_message(value: Any) -> bool:
    return fields.text(value, "role") in ROLES and ("content" in value or "tool_calls" in value)


def _holds_messages(value: dict[str, Any]) -> bool:
    messages = fields.array(value, "messages")
    return bool(messages) and all(_is_message(message) for message in messages)


def read_session(ref: SessionRef) -> ImportedSession:
    """Read a conversation; of several in one file the first, the others as children."""
    return _session_of(read_lines_or_document(ref.path))


def read_tail(ref: SessionRef, count: int) -> ImportedTail:
    """The last messages."""
    lines = read_last_or_document(ref.path, count)
    return ImportedTail(_session_of(lines).records, lines.is_whole and bool(lines.objects))


def _session_of(lines: Entries) -> ImportedSession:
    conversation = Conversation()
    conversation.add(SessionHeader(lines.path.stem, "", "", ""))
    taken = False
    for value, number in lines:
        if _holds_messages(value):
            lines.book.show(number)
            target = Conversation() if taken else conversation
            for message in value["messages"]:
                _take(target, message)
            if taken:
                name = f"{lines.path.stem}-{number + 1}"
                title = title_of(target.records)
                conversation.children.append(ImportedChild(name, title, tuple(target.records)))
            taken = True
        elif _take(conversation, value):
            lines.book.show(number)
        else:
            lines.book.leave_unknown(number, fields.text(value, "role") or "no message")
    return conversation.finish(
        OPENAI, lines.path, damaged=lines.damaged, accounting=lines.book.close()
    )


def _take(conversation: Conversation, value: dict[str, Any]) -> bool:
    at = fields.iso_time(value.get("timestamp", value.get("created_at")))
    stamp = Stamp(fields.text(value, "id") or None, at=at or None)
    record = message_of(value, stamp)
    if record is None:
        record = UnknownRecord(fields.text(value, "role") or "no message", value, stamp)
    conversation.add(record)
    return not isinstance(record, UnknownRecord)


def _summarise(ref: SessionRef) -> SessionSummary:
    session = _session_of(read_ends_or_document(ref.path))
    return summary_of(ref, session.records, title=session.title)


OPENAI_IMPORTER = Importer(
    source=OPENAI,
    name="OpenAI-style lines",
    recognise=is_openai,
    read=read_session,
    summarise=_summarise,
    read_tail=read_tail,
)
