"""Sessions of OpenCode, wherever they are stored. A compaction hides what precedes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_tui.core.errors import AgentTuiError, SessionNotFound
from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    ModelRecord,
    Record,
    SessionHeader,
    Stamp,
    UnknownRecord,
    UserMessage,
)
from agent_tui.core.summary import SessionSummary
from agent_tui.core.text import first_line
from agent_tui.core.times import known_time
from agent_tui.importers import fields
from agent_tui.importers.accounting import AccountBook
from agent_tui.importers.conversation import Conversation
from agent_tui.importers.heads import SQLITE
from agent_tui.importers.imported import ImportedChild, ImportedSession, ImportedTail
from agent_tui.importers.importer import Head, Importer, Places, SessionRef
from agent_tui.importers.lines import read_small_object
from agent_tui.importers.listing import file_refs, shell_command, stamp_of, summary_of
from agent_tui.importers.opencode_parts import (
    BOOKKEEPING,
    answer_records,
    model_of,
    user_records,
)
from agent_tui.importers.opencode_parts import stamp_of as message_stamp
from agent_tui.importers.opencode_store import (
    StoredSession,
    file_name,
    is_opencode_database,
    list_database,
    open_database,
    read_database,
    read_export,
    read_folder,
)

OPENCODE = "opencode"


def is_opencode(head: Head) -> bool:
    """Whether it is OpenCode's database, an export, or a session of its storage folder."""
    if head.start.startswith(SQLITE):
        return is_opencode_database(head.path)
    value = head.document or {}
    return _is_export(value) or _is_info(value)


def _is_export(value: dict[str, Any]) -> bool:
    return isinstance(value.get("info"), dict) and isinstance(value.get("messages"), list)


def _is_info(value: dict[str, Any]) -> bool:
    return {"id", "projectID", "directory", "time"} <= value.keys()


def read_session(ref: SessionRef) -> ImportedSession:
    """Read a session from wherever it is; raises SessionError, StorageError."""
    return _session_of(_read_stored(ref.path, ref.key), ref)


def read_tail(ref: SessionRef, count: int) -> ImportedTail:
    """The last messages of a session in a database; all of one that is in files."""
    if _is_database(ref.path):
        stored = read_database(ref.path, ref.key, count)
    else:
        stored = _read_stored(ref.path, ref.key)
    return ImportedTail(_session_of(stored, ref).records, stored.is_whole)


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False


def _read_stored(path: Path, key: str) -> StoredSession:
    if _is_database(path):
        return read_database(path, key)
    if _is_info(read_small_object(path)):
        return read_folder(path)
    return read_export(path)


def _session_of(stored: StoredSession, ref: SessionRef) -> ImportedSession:
    info, book = stored.info, AccountBook()
    book.show(book.open())
    for _ in range(stored.damaged):
        book.damage(book.open())
    conversation = Conversation()
    conversation.add(_header(info, ref))
    reader = _Reader(conversation, book)
    reverted = fields.text(fields.table(info, "revert"), "messageID")
    place = -1
    for message, parts in stored.messages:
        if reverted and fields.text(message, "id") == reverted and place < 0:
            place = len(conversation.records)
        reader.take(message, parts)
    if place >= 0:
        conversation.rewind(place, "user", Stamp())
    for child, title in stored.children:
        place_of_child = f"{ref.path}#{child}" if ref.key or _is_database(ref.path) else ""
        path = place_of_child or str(ref.path.parent / f"{file_name(child)}.json")
        conversation.children.append(ImportedChild(child, title, path=path))
    return conversation.finish(
        OPENCODE,
        ref.path,
        title=first_line(fields.text(info, "title")),
        damaged=stored.damaged,
        accounting=book.close(),
    )


def _header(info: dict[str, Any], ref: SessionRef) -> SessionHeader:
    parent = fields.text(info, "parentID")
    created = fields.iso_time(fields.table(info, "time").get("created"))
    return SessionHeader(
        session_id=fields.text(info, "id") or ref.key or ref.path.stem,
        cwd=fields.text(info, "directory"),
        created_at=created,
        version=fields.text(info, "version"),
        parent={"session_id": parent} if parent else None,
        stamp=Stamp(at=created or None),
    )


class _Reader:
    """Turns messages into records, one after another."""

    def __init__(self, conversation: Conversation, book: AccountBook) -> None:
        self._conversation = conversation
        self._book = book
        self._model = ""
        self._compacting: dict[str, Any] | None = None
        self._places: dict[str, Record] = {}

    def take(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        """The next message."""
        if not info:
            return
        number = self._book.open()
        for part in parts:
            self._account(part)
        role = fields.text(info, "role")
        if role == "user":
            self._user(info, parts)
        elif role == "assistant":
            self._answer(info, parts)
        else:
            self._conversation.add(UnknownRecord(role or "no role", info, message_stamp(info)))
            self._book.leave_unknown(number, role or "no role")
            return
        self._book.show(number)

    def _account(self, part: dict[str, Any]) -> None:
        number, kind = self._book.open(), fields.text(part, "type")
        if kind in ("step-start", "snapshot", "patch", "retry", "agent"):
            self._book.skip(number, f"part: {kind}")
        elif kind in ("text", "reasoning", "tool", "file", "compaction", "step-finish"):
            self._book.show(number)
        else:
            self._book.leave_unknown(number, f"part: {kind or 'no type'}")

    def _user(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        compaction = next((part for part in parts if part.get("type") == "compaction"), None)
        if compaction is not None:
            self._compacting = compaction
            if not any(fields.text(p, "type") not in (*BOOKKEEPING, "compaction") for p in parts):
                return
        self._add(info, user_records(info, parts))

    def _answer(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        self._tell_model(info)
        if info.get("summary") is not True:
            asked = next((part for part in parts if part.get("type") == "compaction"), None)
            self._compacting = asked or self._compacting
            self._add(info, answer_records(info, parts))
            return
        told, self._compacting = self._compacting or {}, None
        stamp = message_stamp(info)
        said = [r for r in answer_records(info, parts) if isinstance(r, AssistantMessage)]
        summary = UserMessage("".join(text_of(r.content) for r in said), "compaction", stamp=stamp)
        trigger = "" if "auto" not in told else "auto" if told["auto"] is True else "manual"
        record = CompactionRecord(trigger, "", 0, 0, 0, stamp=Stamp(at=stamp.at))
        self._conversation.compact(record, (summary,), self._kept(told))

    def _kept(self, told: dict[str, Any]) -> tuple[Record, ...]:
        """The messages at the end that newer versions keep beside the summary."""
        first = self._places.get(fields.text(told, "tail_start_id"))
        context = self._conversation.context
        place = next((i for i, record in enumerate(context) if record is first), len(context))
        kinds = (UserMessage, AssistantMessage)
        tail = context[place:]
        return tuple(tail) if tail and isinstance(tail[0], kinds) else ()

    def _tell_model(self, info: dict[str, Any]) -> None:
        provider, model = model_of(info)
        if model and model != self._model:
            self._model = model
            self._conversation.add(
                ModelRecord(provider, model, stamp=Stamp(at=message_stamp(info).at))
            )

    def _add(self, info: dict[str, Any], records: list[Record]) -> None:
        if records:
            self._places[fields.text(info, "id")] = records[0]
        self._conversation.add(*records)


def _summarise(ref: SessionRef) -> SessionSummary:
    if _is_database(ref.path):
        with open_database(ref.path) as database:
            infos = {fields.text(i, "id"): i for i in list_database(database)}
        info = infos.get(ref.key, {}) if ref.key else next(iter(infos.values()), {})
        if not info:
            raise SessionNotFound(f"There is no session {ref.key} in {ref.path}.")
    else:
        found = read_small_object(ref.path)
        info = found if _is_info(found) else _read_stored(ref.path, ref.key).info
    updated = known_time(fields.iso_time(fields.table(info, "time").get("updated")))
    row = summary_of(ref, [_header(info, ref)], title=fields.text(info, "title"))
    return replace(row, updated_at=updated or row.updated_at)


def _discover(places: Places) -> Iterator[SessionRef]:
    folder = places.folder(OPENCODE, ".local/share/opencode", "XDG_DATA_HOME", "opencode")
    database = folder / "opencode.db"
    if database.is_file():
        yield from _rows(database)
        return
    for ref in file_refs(OPENCODE, folder / "storage" / "session", "*/*.json"):
        if not fields.text(read_small_object(ref.path), "parentID"):
            yield ref


def _rows(database: Path) -> Iterator[SessionRef]:
    try:
        with open_database(database) as connection:
            infos = list_database(connection)
    except AgentTuiError:
        yield SessionRef(OPENCODE, database, stamp=stamp_of(database))
        return
    _, _, inode = stamp_of(database)
    for info in infos:
        if fields.text(info, "parentID"):
            continue
        updated = fields.table(info, "time").get("updated")
        at = updated * 1_000_000 if isinstance(updated, int) else 0
        yield SessionRef(OPENCODE, database, fields.text(info, "id"), (0, at, inode))


def _resume(session_id: str, cwd: str) -> str:
    return shell_command(cwd, "opencode", "--session", session_id)


OPENCODE_IMPORTER = Importer(
    source=OPENCODE,
    name="OpenCode",
    recognise=is_opencode,
    read=read_session,
    summarise=_summarise,
    discover=_discover,
    read_tail=read_tail,
    resume=_resume,
)
