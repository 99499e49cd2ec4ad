"""A session as a file that pi opens: version 3, one entry a line, each naming its parent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, assert_never

from agent_tui.core.messages import Content, MediaPart, TextPart, ThinkPart, ToolCall, text_of
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    LabelRecord,
    Message,
    ModelRecord,
    Record,
    SessionHeader,
    TitleRecord,
    ToolMessage,
    UsageRecord,
    UserMessage,
    is_message,
)
from agent_tui.importers.imported import ImportedCompaction
from agent_tui.library.exports.kimi import repaired_records
from agent_tui.sessions.sent_messages import repaired_messages

_SURROGATES = re.compile("[\ud800-\udfff]")
_NO_TIME = "1970-01-01T00:00:00.000Z"
_NO_USAGE = {
    "input": 0,
    "output": 0,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 0,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
}
_ZIP = re.compile(r"data:([\w/+.-]+);base64,(.*)", re.DOTALL)


def export_pi(
    records: Iterable[Record],
    session_id: str = "",
    title: str = "",
    compactions: Iterable[ImportedCompaction] = (),
) -> Iterator[bytes]:
    """The lines of a pi session with the same conversation, compactions, labels and name.

    ``compactions`` say what of the messages before each stayed in the context, where the records
    do not repeat it.
    """
    sides = {each.archive: each for each in compactions}
    return _Writer(list(repaired_records(records)), session_id, title, sides).lines()


@dataclass(frozen=True, slots=True)
class _Compacted:
    """What took the place of a context.

    Attributes:
        summary: the message that tells what was there, where one does.
        first_kept: the entry from which on all that was said stayed.
        again: what stayed of the messages, where it is no end of what was said before.
    """

    summary: Record | None
    first_kept: str
    again: Sequence[Message]


class _Writer:
    def __init__(
        self,
        records: Sequence[Record],
        session_id: str,
        title: str,
        sides: Mapping[int, ImportedCompaction],
    ) -> None:
        self._records = records
        self._sides = sides
        self._summaries: set[int] = set()
        self._said_before: list[tuple[Record, str]] = []
        self._header = next((r for r in records if isinstance(r, SessionHeader)), None)
        self._id = session_id or (self._header.session_id if self._header else "session")
        self._title = title
        self._parent: str | None = None
        self._number = 0
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._model = ("unknown", "unknown")
        self._at = (self._header.created_at if self._header else "") or _NO_TIME

    def lines(self) -> Iterator[bytes]:
        cwd = self._header.cwd if self._header else ""
        header = {"type": "session", "version": 3, "id": self._id, "timestamp": self._at}
        yield _line({**header, "cwd": cwd})
        for place, record in enumerate(self._records):
            self._at = record.stamp.at or self._at
            yield from self._entries(record, place)
        if self._title:
            yield self._entry("session_info", {"name": self._title})

    def _entries(self, record: Record, place: int) -> Iterator[bytes]:
        uuid = record.stamp.uuid or ""
        match record:
            case UserMessage() | AssistantMessage() | ToolMessage():
                if id(record) not in self._summaries:
                    yield self._message(record)
            case ModelRecord(provider, model):
                self._model = (provider or "unknown", model)
                fields = {"provider": self._model[0], "modelId": model}
                yield self._entry("model_change", fields, uuid)
            case CompactionRecord():
                found = self._compacted(record, place)
                summary = found.summary.content if isinstance(found.summary, UserMessage) else ""
                told = {"summary": text_of(summary), "firstKeptEntryId": found.first_kept}
                count = {"tokensBefore": record.pre_tokens}
                yield self._entry("compaction", {**told, **count}, uuid)
                for message in found.again:
                    yield self._message(message)
            case LabelRecord(target, label):
                if (known := self._ids.get(target)) is not None:
                    yield self._entry("label", {"targetId": known, "label": label or None}, uuid)
            case TitleRecord(title):
                self._title = title
            case _:
                return

    def _message(self, record: Message) -> bytes:
        match record:
            case UserMessage(content):
                said = self._said("user", content)
            case AssistantMessage():
                said = self._answer(record)
            case ToolMessage():
                said = self._result(record)
            case _:
                assert_never(record)
        line = self._entry("message", {"message": said}, record.stamp.uuid or "")
        self._said_before.append((record, f"{self._number:08x}"))
        return line

    def _compacted(self, record: CompactionRecord, place: int) -> _Compacted:
        """In our logs what stayed stands behind the summary; elsewhere only before it."""
        behind = [r for r in self._records[place + 1 :] if not isinstance(r, UsageRecord)]
        side = self._sides.get(record.archive)
        summary = next(
            (r for r in (side.after if side else behind[:1]) if _is_summary(r)),
            None,
        )
        if summary is not None:
            self._summaries.add(id(summary))
        told = {_key(r) for r in behind} | {_key(summary)}
        kept = [r for r in (side.after if side else ()) if is_message(r) and _key(r) not in told]
        if (first_kept := self._where_said(kept)) is not None:
            return _Compacted(summary, first_kept, ())
        return _Compacted(summary, f"{self._number + 2:08x}", repaired_messages(kept))

    def _where_said(self, kept: Sequence[Message]) -> str | None:
        """The entry from which on just these messages were said; None where there is none."""
        keys = {_key(r) for r in kept}
        places = [place for place, (r, _) in enumerate(self._said_before) if _key(r) in keys]
        end = self._said_before[places[0] :] if places else []
        answers = (r for r, _ in end if isinstance(r, ToolMessage) and r.interrupted)
        mended = {_key(r) for r in answers}  # the end of a call that nobody answered
        if end and {_key(r) for r, _ in end} - mended == keys - mended:
            return end[0][1]
        return None

    def _said(self, role: str, content: Content) -> dict[str, Any]:
        return {"role": role, "content": _parts(content), "timestamp": _milliseconds(self._at)}

    def _answer(self, record: AssistantMessage) -> dict[str, Any]:
        self._names |= {call.id: call.name for call in record.tool_calls}
        calls = [_call(call) for call in record.tool_calls]
        return {
            "role": "assistant",
            "content": [*_parts(record.content), *calls],
            "api": "openai-completions",
            "provider": self._model[0],
            "model": record.model or self._model[1],
            "usage": _NO_USAGE,
            "stopReason": "toolUse" if calls else "stop",
            "timestamp": _milliseconds(self._at),
        }

    def _result(self, record: ToolMessage) -> dict[str, Any]:
        return {
            "role": "toolResult",
            "toolCallId": record.tool_call_id,
            "toolName": self._names.get(record.tool_call_id, "tool"),
            "content": _parts(record.content),
            "isError": record.is_error,
            "timestamp": _milliseconds(self._at),
        }

    def _entry(self, kind: str, fields: dict[str, Any], uuid: str = "") -> bytes:
        self._number += 1
        name = f"{self._number:08x}"
        if uuid:
            self._ids[uuid] = name
        parent, self._parent = self._parent, name
        entry = {"type": kind, "id": name, "parentId": parent, "timestamp": self._at}
        return _line({**entry, **fields})


def _is_summary(record: Record) -> bool:
    return isinstance(record, UserMessage) and record.origin == "compaction"


def _key(record: Record | None) -> object:
    """The same for a message and its repaired copy, however often it was read."""
    match record:
        case UserMessage() | AssistantMessage() | ToolMessage():
            call = record.tool_call_id if isinstance(record, ToolMessage) else ""
            said = text_of(record.content)
            return record.stamp.uuid or (type(record), record.stamp.at, call, said)
        case _:
            return id(record)


def _parts(content: Content) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    found: list[dict[str, Any]] = []
    for part in content:
        match part:
            case TextPart(text):
                found.append({"type": "text", "text": text})
            case ThinkPart(think):
                found.append({"type": "thinking", "thinking": think})
            case MediaPart("image_url", url) if picture := _ZIP.fullmatch(url):
                found.append({"type": "image", "data": picture[2], "mimeType": picture[1]})
            case _:
                found.append({"type": "text", "text": "[a part that pi does not support]"})
    return found


def _call(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = {"arguments": call.arguments}
    if not isinstance(arguments, dict):
        arguments = {"arguments": arguments}
    return {"type": "toolCall", "id": call.id, "name": call.name, "arguments": arguments}


def _milliseconds(at: str) -> int:
    try:
        return int(datetime.fromisoformat(at).timestamp() * 1000)
    except ValueError:
        return 0


def _line(fields: dict[str, Any]) -> bytes:
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATES.sub("\ufffd", text).encode() + b"\n"
