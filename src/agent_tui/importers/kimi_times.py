"""When things were said in a kimi session: its context has no times, the wire log beside it has."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_tui.core.errors import SessionError, StorageError
from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.importers.fields import iso_time, text_of_parts
from agent_tui.importers.imported import Records
from agent_tui.importers.lines import read_objects

Key = tuple[str, str]
Times = Mapping[Key, tuple[str, ...]]


def read_times(path: Path) -> Times:
    """The times of everything that a wire log tells of; empty where there is none to read."""
    found: dict[Key, list[str]] = defaultdict(list)
    said, calls, at = "", list[str](), ""
    try:
        for value in read_objects(path):
            message = value.get("message") if value is not None else None
            if value is None or not isinstance(message, dict):
                continue
            kind, payload = message.get("type"), message.get("payload")
            payload = payload if isinstance(payload, dict) else {}
            if kind in _STEP_ENDS and at:
                found[_answer_key(said, calls)].append(at)
                said, calls, at = "", [], ""
            now = iso_time(value.get("timestamp"))
            if kind in ("TurnBegin", "SteerInput"):
                found["user", text_of_parts(payload.get("user_input"))].append(now)
            elif kind == "ToolResult":
                found["tool", str(payload.get("tool_call_id"))].append(now)
            elif kind == "ContentPart":
                at = at or now
                said += _text(payload)
            elif kind == "ToolCall":
                at = at or now
                calls.append(str(payload.get("id")))
    except (SessionError, StorageError, OSError):
        pass
    if at:
        found[_answer_key(said, calls)].append(at)
    return {key: tuple(times) for key, times in found.items()}


_STEP_ENDS = ("TurnBegin", "StepBegin", "TurnEnd", "CompactionBegin", "StepInterrupted")


def _text(payload: dict[str, Any]) -> str:
    return str(payload.get("text") or "") if payload.get("type") == "text" else ""


def _answer_key(said: str, calls: Iterable[str]) -> Key:
    ids = ",".join(calls)
    return ("calls", ids) if ids else ("answer", said)


def _key_of(record: Record) -> Key | None:
    match record:
        case UserMessage():
            return "user", text_of(record.content)
        case AssistantMessage():
            return _answer_key(text_of(record.content), (call.id for call in record.tool_calls))
        case ToolMessage():
            return "tool", record.tool_call_id
        case _:
            return None


def put_times(records: Records, times: Times) -> Records:
    """The records with the times at which they were said; bookkeeping takes the last one known."""
    return tuple(_timed(records, times))


def _timed(records: Records, times: Times) -> Iterator[Record]:
    left = {key: deque(found) for key, found in times.items()}
    last: str | None = None
    for record in records:
        key = _key_of(record)
        known = left.get(key) if key else None
        at = known.popleft() if known else None
        if at or (last and isinstance(record, Checkpoint | UsageRecord)):
            last = at or last
            if record.stamp.at is None:
                record = replace(record, stamp=replace(record.stamp, at=last))
        yield record
