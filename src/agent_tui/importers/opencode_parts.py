"""One message of an OpenCode session with its parts as records of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_tui.core.messages import (
    DiffDisplay,
    MediaPart,
    Part,
    TextPart,
    ThinkPart,
    ToolCall,
    UnknownPart,
)
from agent_tui.core.records import (
    AssistantMessage,
    Record,
    Stamp,
    ToolMessage,
    TurnEndRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.usage import Usage
from agent_tui.importers import fields

BOOKKEEPING = frozenset({"step-start", "step-finish", "snapshot", "patch", "retry", "agent"})
"""Parts that no model is sent."""


def stamp_of(info: dict[str, Any]) -> Stamp:
    """The id and time of a message."""
    at = fields.iso_time(fields.table(info, "time").get("created"))
    return Stamp(fields.text(info, "id") or None, at=at or None)


def model_of(info: dict[str, Any]) -> tuple[str, str]:
    """The provider and the model that a message names."""
    named = fields.table(info, "model")
    provider = fields.text(info, "providerID") or fields.text(named, "providerID")
    return provider, fields.text(info, "modelID") or fields.text(named, "modelID")


def user_records(info: dict[str, Any], parts: Sequence[dict[str, Any]]) -> list[Record]:
    """What a user message says; what OpenCode added itself is kept apart."""
    said: list[Part] = []
    added: list[Part] = []
    for part in parts:
        if part.get("type") == "compaction" or fields.text(part, "type") in BOOKKEEPING:
            continue
        (added if part.get("synthetic") is True else said).append(_part(part))
    stamp = stamp_of(info)
    records: list[Record] = []
    if not said and not added and (text := _summary_of(info)):
        said.append(TextPart(text))
    if said or not added:
        records.append(UserMessage(tuple(said), "human", stamp=stamp))
    if added:
        own = (
            stamp if not said else Stamp(f"{stamp.uuid}.added" if stamp.uuid else None, at=stamp.at)
        )
        records.append(UserMessage(tuple(added), "reminder", stamp=own))
    return records


def _summary_of(info: dict[str, Any]) -> str:
    """What old versions say of a message whose parts are not there."""
    summary = fields.table(info, "summary")
    return fields.text(summary, "body") or fields.text(summary, "title")


def answer_records(info: dict[str, Any], parts: Sequence[dict[str, Any]]) -> list[Record]:
    """An answer, step by step: each step is one call of the model with the results of its tools."""
    records: list[Record] = []
    steps = _steps(parts)
    for number, step in enumerate(steps):
        records += _step(info, step, number, is_last=number == len(steps) - 1)
    error = fields.table(info, "error")
    if error:
        told = fields.text(fields.table(error, "data"), "message") or fields.text(error, "name")
        end = "interrupted" if fields.text(error, "name") == "MessageAbortedError" else "failed"
        records.append(TurnEndRecord(end, told, stamp=Stamp(at=stamp_of(info).at)))
    return records


def _steps(parts: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    steps: list[list[dict[str, Any]]] = [[]]
    for part in parts:
        if part.get("type") == "step-start" and any(_speaks(p) for p in steps[-1]):
            steps.append([])
        steps[-1].append(part)
    return steps


def _speaks(part: dict[str, Any]) -> bool:
    return fields.text(part, "type") not in BOOKKEEPING


def _step(
    info: dict[str, Any], step: Sequence[dict[str, Any]], number: int, *, is_last: bool
) -> list[Record]:
    stamp = stamp_of(info)
    if number and stamp.uuid:
        stamp = Stamp(f"{stamp.uuid}.{number}", at=stamp.at)
    tools = [part for part in step if part.get("type") == "tool"]
    said = tuple(
        _part(part)
        for part in step
        if _speaks(part) and fields.text(part, "type") not in ("tool", "compaction")
    )
    calls = tuple(_call(part) for part in tools)
    records: list[Record] = [AssistantMessage(said, calls, model_of(info)[1] or None, stamp=stamp)]
    counts = [fields.table(part, "tokens") for part in step if part.get("type") == "step-finish"]
    told = fields.table(info, "tokens") if is_last else {}
    if usage := _usage(counts[-1] if counts else told, stamp.at):
        records.append(usage)
    records += [result for part in tools if (result := _result(part)) is not None]
    return records


def _call(part: dict[str, Any]) -> ToolCall:
    given = fields.table(part, "state").get("input")
    return ToolCall(_call_id(part), fields.text(part, "tool"), fields.arguments_text(given))


def _call_id(part: dict[str, Any]) -> str:
    return fields.text(part, "callID") or fields.text(part, "id")


def _result(part: dict[str, Any]) -> ToolMessage | None:
    state = fields.table(part, "state")
    status, times = fields.text(state, "status"), fields.table(state, "time")
    if status in ("pending", "running", ""):
        return None
    output = state.get("output")
    if times.get("compacted"):
        output = "[Old tool result content cleared]"
    if status == "error":
        output = fields.text(state, "error") or output
    facts = fields.table(state, "metadata")
    code, diff = facts.get("exit"), fields.text(facts, "diff")
    path = fields.text(fields.table(state, "input"), "filePath")
    at = fields.iso_time(times.get("end", times.get("start"))) or None
    return ToolMessage(
        tool_call_id=_call_id(part),
        content=fields.json_text(output or ""),
        is_error=status == "error" or (isinstance(code, int) and code != 0),
        display=DiffDisplay(path, diff) if diff else None,
        stamp=Stamp(fields.text(part, "id") or None, at=at),
    )


def _usage(tokens: dict[str, Any], at: str | None) -> UsageRecord | None:
    cache = fields.table(tokens, "cache")
    cached = fields.number(cache, "read")
    usage = Usage(
        input_tokens=fields.number(tokens, "input") + cached + fields.number(cache, "write"),
        output_tokens=fields.number(tokens, "output") + fields.number(tokens, "reasoning"),
        cached_tokens=cached,
        reasoning_tokens=fields.number(tokens, "reasoning"),
    )
    return UsageRecord(usage.total_tokens, usage, stamp=Stamp(at=at)) if usage != Usage() else None


def _part(part: dict[str, Any]) -> Part:
    match part.get("type"):
        case "text" if isinstance(part.get("text"), str):
            return TextPart(part["text"])
        case "reasoning" if isinstance(part.get("text"), str):
            return ThinkPart(part["text"])
        case "file" if fields.text(part, "mime").startswith("image/"):
            return MediaPart("image_url", fields.text(part, "url"))
        case "file":
            name = fields.text(part, "filename") or fields.text(part, "url")
            return TextPart(f"[file: {name}]")
        case _:
            return UnknownPart(part)
