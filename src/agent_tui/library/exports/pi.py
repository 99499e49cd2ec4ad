"""A session as a file that pi opens: version 3, one entry a line, each naming its parent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from agent_tui.core.messages import Content, MediaPart, TextPart, ThinkPart, ToolCall, text_of
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    LabelRecord,
    ModelRecord,
    Record,
    SessionHeader,
    TitleRecord,
    ToolMessage,
    UserMessage,
)
from agent_tui.library.exports.kimi import repaired_records

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


def export_pi(records: Iterable[Record], session_id: str = "", title: str = "") -> Iterator[bytes]:
    """The lines of a pi session with the same conversation, compactions, labels and name."""
    return _Writer(list(repaired_records(records)), session_id, title).lines()


class _Writer:
    def __init__(self, records: Sequence[Record], session_id: str, title: str) -> None:
        self._records = records
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
            case UserMessage(content):
                if record.origin == "compaction" and self._follows_compaction(place):
                    return
                yield self._entry("message", {"message": self._said("user", content)}, uuid)
            case AssistantMessage():
                yield self._entry("message", {"message": self._answer(record)}, uuid)
            case ToolMessage():
                yield self._entry("message", {"message": self._result(record)}, uuid)
            case ModelRecord(provider, model):
                self._model = (provider or "unknown", model)
                fields = {"provider": self._model[0], "modelId": model}
                yield self._entry("model_change", fields, uuid)
            case CompactionRecord():
                yield self._entry("compaction", self._compaction(record, place), uuid)
            case LabelRecord(target, label):
                if (known := self._ids.get(target)) is not None:
                    yield self._entry("label", {"targetId": known, "label": label or None}, uuid)
            case TitleRecord(title):
                self._title = title
            case _:
                return

    def _follows_compaction(self, place: int) -> bool:
        before = self._records[place - 1] if place else None
        return isinstance(before, CompactionRecord)

    def _compaction(self, record: CompactionRecord, place: int) -> dict[str, Any]:
        """What pi keeps: the summary; in our logs everything behind it was kept."""
        after = self._records[place + 1] if place + 1 < len(self._records) else None
        is_summary = isinstance(after, UserMessage) and after.origin == "compaction"
        summary = text_of(after.content) if is_summary and isinstance(after, UserMessage) else ""
        return {
            "summary": summary,
            "firstKeptEntryId": f"{self._number + 2:08x}",
            "tokensBefore": record.pre_tokens,
        }

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
