"""Sessions of Gemini CLI: a journal that is replayed, or (older) one object with all messages.

In the journal the same id again replaces a message, ``$rewindTo`` drops one and all after it, and
``$set`` replaces the messages altogether, as a compression does. Every earlier state is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_tui.core.records import (
    CompactionRecord,
    Record,
    SessionHeader,
    Stamp,
    TitleRecord,
    UnknownRecord,
    UserMessage,
)
from agent_tui.core.summary import SessionSummary
from agent_tui.core.text import first_line
from agent_tui.importers import fields
from agent_tui.importers.conversation import Conversation
from agent_tui.importers.gemini_messages import message_id, records_of
from agent_tui.importers.heads import (
    read_ends_or_document,
    read_last_or_document,
    read_lines_or_document,
)
from agent_tui.importers.imported import ImportedSession, ImportedTail
from agent_tui.importers.importer import Head, Importer, Places, SessionRef
from agent_tui.importers.lines import Entries, read_small_text
from agent_tui.importers.listing import file_refs, shell_command, summary_of

GEMINI = "gemini"
_TYPES = frozenset({"user", "gemini", "info", "error", "warning"})


def is_gemini(head: Head) -> bool:
    """Whether it is Gemini's journal, or an object with its messages."""
    if head.document is not None and _is_document(head.document):
        return True
    return any(_is_header(value) or _is_change(value) for value in head.objects)


def _is_document(value: dict[str, Any]) -> bool:
    messages = fields.array(value, "messages") or fields.array(value, "history")
    if "projectHash" in value or "lastUpdated" in value:
        return isinstance(value.get("messages", value.get("history")), list)
    return bool(messages) and all(fields.text(message, "type") in _TYPES for message in messages)


def _is_header(value: dict[str, Any]) -> bool:
    return "projectHash" in value and "sessionId" in value


def _is_change(value: dict[str, Any]) -> bool:
    return isinstance(value.get("$rewindTo"), str) or isinstance(value.get("$set"), dict)


def read_session(ref: SessionRef) -> ImportedSession:
    """Replay the journal, or read the object; raises SessionError."""
    return _session_of(read_lines_or_document(ref.path))


def read_tail(ref: SessionRef, count: int) -> ImportedTail:
    """The last messages of a journal; of one object all of them."""
    lines = read_last_or_document(ref.path, count)
    if not lines.objects:
        return ImportedTail(read_session(ref).records, is_whole=True)
    return ImportedTail(_session_of(lines).records, lines.is_whole)


def _session_of(lines: Entries) -> ImportedSession:
    facts: dict[str, Any] = {}
    journal = _Journal(lines)
    for value, number in lines:
        if _is_document(value):
            facts |= value
            lines.book.show(number)
            journal.take_all([*fields.array(value, "messages"), *fields.array(value, "history")])
        elif _is_header(value) or set(value) <= {"$set"}:
            told = fields.table(value, "$set") or value
            facts |= told
            journal.set_facts(told, number)
        elif "$rewindTo" in value:
            journal.rewind(fields.text(value, "$rewindTo"), number)
        else:
            journal.take(value, number)
    session_id = fields.text(facts, "sessionId") or lines.path.stem
    start = fields.text(facts, "startTime") or fields.text(facts, "start_time")
    folders = [each for each in fields.array(facts, "directories") if isinstance(each, str)]
    cwd = next(iter(folders), "") or read_small_text(lines.path.parents[1] / ".project_root")
    header = SessionHeader(session_id, cwd, start, "")
    conversation = journal.replayed(header)
    if title := first_line(fields.text(facts, "summary")):
        conversation.add(TitleRecord(title))
    return conversation.finish(
        GEMINI, lines.path, damaged=lines.damaged, accounting=lines.book.close()
    )


@dataclass(slots=True)
class _Message:
    """One message as it stands, with the number of its line; -1 for one inside another line."""

    fields: dict[str, Any]
    number: int = -1

    @property
    def id(self) -> str:
        return message_id(self.fields)


@dataclass(slots=True)
class _Journal:
    """The states that a journal goes through.

    A state that a rewind ended is kept as it was; compressions are kept in order.
    """

    lines: Entries
    messages: list[_Message] = field(default_factory=list)
    _left: list[list[_Message]] = field(default_factory=list)
    _compressions: list[tuple[list[_Message], list[_Message]]] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def take_all(self, messages: Sequence[Any]) -> None:
        """The messages of one object."""
        for message in messages:
            number = self.lines.book.open()
            if isinstance(message, dict):
                self.take(message, number)
            else:
                self.lines.damage(number)

    def take(self, value: dict[str, Any], number: int) -> None:
        """A line that is a message, or something that is not known."""
        told = records_of(value)
        if told is None:
            self.lines.book.leave_unknown(number, fields.text(value, "type") or "no type")
        elif told:
            self.lines.book.show(number)
        else:
            self.lines.book.skip(number, f"note: {fields.text(value, 'type')}")
        self._put(_Message(value, number))

    def _put(self, message: _Message) -> None:
        place = self._places.get(message.id) if message.id else None
        if place is None:
            if message.id:
                self._places[message.id] = len(self.messages)
            self.messages.append(message)
            return
        if (replaced := self.messages[place].number) >= 0:
            self.lines.book.skip(replaced, "replaced by a later version of itself")
        self.messages[place] = message

    def rewind(self, target: str, number: int) -> None:
        """Drop a message and all after it."""
        self.lines.book.show(number)
        place = self._places.get(target)
        if place is None:
            if not self.lines.is_whole:
                self.messages = []  # what it goes back to stands before the part that was read
                self._number_places()
                return
            self.lines.book.skip(number, "rewind to an unknown message")
            return
        self._left.append(list(self.messages))
        self.messages = self.messages[:place]
        self._number_places()

    def set_facts(self, told: dict[str, Any], number: int) -> None:
        """New facts; messages among them take the place of all there are."""
        self.lines.book.show(number)
        messages = [_Message(m) for m in fields.array(told, "messages") if isinstance(m, dict)]
        if "messages" not in told or not isinstance(told["messages"], list):
            return
        before = self.messages
        by_id = {message.id: message for message in before if message.id}
        after = [by_id.get(message.id, message) for message in messages]
        if [message.id for message in after[: len(before)]] != [m.id for m in before]:
            self._compressions.append((before, after))
        self.messages = list(after)
        self._number_places()

    def _number_places(self) -> None:
        self._places = {m.id: place for place, m in enumerate(self.messages) if m.id}

    def replayed(self, header: SessionHeader) -> Conversation:
        """The conversation, with what was left by rewinds and both sides of each compression."""
        conversation = Conversation()
        conversation.add(header)
        shown: dict[int, tuple[Record, ...]] = {}
        for before, after in self._compressions:
            self._add(conversation, before, shown)
            kept = [message for message in after if id(message) in shown]
            new = [message for message in after if id(message) not in shown]
            told = _as_summary(self._records(new, shown))
            stamp = Stamp(at=told[0].stamp.at if told else None)
            record = CompactionRecord("", "", 0, 0, 0, stamp=stamp)
            stays = tuple(record for message in kept for record in shown[id(message)])
            conversation.compact(record, tuple(told), stays)
        self._add(conversation, self.messages, shown)
        for state in self._left:
            conversation.add_branch([header, *self._records(state, {})])
        return conversation

    def _add(
        self,
        conversation: Conversation,
        messages: Sequence[_Message],
        shown: dict[int, tuple[Record, ...]],
    ) -> None:
        new = [message for message in messages if id(message) not in shown]
        conversation.add(*self._records(new, shown))

    def _records(
        self, messages: Sequence[_Message], shown: dict[int, tuple[Record, ...]]
    ) -> list[Record]:
        found: list[Record] = []
        for message in messages:
            records = records_of(message.fields)
            if records is None:
                kind = fields.text(message.fields, "type") or "no type"
                records = (UnknownRecord(kind, message.fields, Stamp(message.id or None)),)
            shown[id(message)] = records
            found += records
        return found


def _as_summary(records: list[Record]) -> list[Record]:
    """The first message of what took the place of others is the summary."""
    for index, record in enumerate(records):
        if isinstance(record, UserMessage):
            summary = UserMessage(record.content, "compaction", stamp=record.stamp)
            return [*records[:index], summary, *records[index + 1 :]]
    return records


def _summarise(ref: SessionRef) -> SessionSummary:
    lines = read_ends_or_document(ref.path)
    if not lines.objects:
        lines = read_lines_or_document(ref.path)
    session = _session_of(lines)
    return summary_of(ref, session.records, session_id=session.session_id, title=session.title)


def _discover(places: Places) -> Iterator[SessionRef]:
    folder = places.folder(GEMINI, ".gemini", "GEMINI_CLI_HOME", ".gemini") / "tmp"
    return file_refs(GEMINI, folder, "*/chats/session-*.jsonl", "*/chats/session-*.json")


def _resume(session_id: str, cwd: str) -> str:
    return shell_command(cwd, "gemini", "--resume", session_id)


GEMINI_IMPORTER = Importer(
    source=GEMINI,
    name="Gemini CLI",
    recognise=is_gemini,
    read=read_session,
    summarise=_summarise,
    discover=_discover,
    read_tail=read_tail,
    resume=_resume,
)
