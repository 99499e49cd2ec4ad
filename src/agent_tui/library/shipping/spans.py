"""Sessions as OpenTelemetry spans, in OTLP's JSON, after its conventions for generative AI.

Names follow version 1.38 of the semantic conventions (the GenAI group is marked experimental):
``invoke_agent`` for a turn, ``chat`` for an answer of the model, ``execute_tool`` for a call. One
session is one trace. A log says when a line was written, so a span begins where the one before
it ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from typing import Any

from agent_tui.library.shipping.rows import Row

CONVENTIONS = "1.38.0"
SCHEMA_URL = f"https://opentelemetry.io/schemas/{CONVENTIONS}"
_MOST_NANOSECONDS = 1 << 63
Span = dict[str, Any]


def export_spans(rows: Iterable[Row]) -> dict[str, Any]:
    """The body of one OTLP request (``ExportTraceServiceRequest`` as JSON) for some rows."""
    sessions: dict[str, list[Row]] = {}
    for row in rows:
        sessions.setdefault(row.session_id, []).append(row)
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes({"service.name": found[0].agent})},
                "scopeSpans": [
                    {
                        "scope": {"name": "agent-tui"},
                        "schemaUrl": SCHEMA_URL,
                        "spans": list(_session_spans(session, found)),
                    }
                ],
            }
            for session, found in sessions.items()
        ]
    }


def split_request(request: dict[str, Any], most: int) -> Iterator[dict[str, Any]]:
    """The same spans in requests of about ``most`` bytes: collectors refuse a body that is larger.

    A span that is larger by itself goes alone.
    """
    part: list[dict[str, Any]] = []
    size = 0
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            chosen: list[Span] = []
            for span in scope["spans"]:
                length = len(json.dumps(span))
                if size and size + length > most:
                    yield {"resourceSpans": [*part, *_resource(resource, scope, chosen)]}
                    part, chosen, size = [], [], 0
                chosen.append(span)
                size += length
            part += _resource(resource, scope, chosen)
    if part:
        yield {"resourceSpans": part}


def _resource(
    resource: dict[str, Any], scope: dict[str, Any], spans: list[Span]
) -> list[dict[str, Any]]:
    return [{**resource, "scopeSpans": [{**scope, "spans": spans}]}] if spans else []


def _session_spans(session: str, rows: list[Row]) -> Iterator[Span]:
    trace = blake2b(session.encode(), digest_size=16).hexdigest()
    turn: Span | None = None
    before = 0
    calls: dict[str, tuple[Row, int, str]] = {}
    answer: Row | None = None
    said = (0, 0, "")
    for row in rows:
        now = _nanoseconds(row.at) or before
        begin = before or now
        parent = turn["spanId"] if turn else ""
        if answer is not None and row.kind in ("prompt", "reply"):
            yield _chat(trace, answer, *said)
            answer = None
        if row.kind == "prompt":
            if turn is not None:
                yield turn
            operation = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": row.agent}
            operation["gen_ai.input.messages"] = _messages(row)
            turn = _span(trace, row, "", f"invoke_agent {row.agent}", now, now, operation)
        elif row.kind == "reply":
            answer, said = row, (begin, now, parent)
        elif row.kind == "tool_call" and row.call_id:
            calls[row.call_id] = (row, now, parent)
        elif row.kind == "tool_result" and row.call_id in calls:
            call, started, _ = calls.pop(row.call_id)
            yield _span(trace, call, parent, _execution(call), started, now, _tool(call, row))
        elif row.kind == "compaction":
            yield _span(trace, row, parent, "compaction", begin, now, _compaction(row))
        elif answer is not None:
            answer = _with_usage(answer, row)
        if turn is not None:
            turn["endTimeUnixNano"] = str(max(now, int(turn["endTimeUnixNano"])))
        before = now
    if answer is not None:
        yield _chat(trace, answer, *said)
    for call, started, parent in calls.values():  # nobody answered: no end is known, nor a status
        yield _span(trace, call, parent, _execution(call), started, started, _tool(call, None))
    if turn is not None:
        yield turn


def _execution(call: Row) -> str:
    return f"execute_tool {call.tool}"


def _with_usage(answer: Row, row: Row) -> Row:
    """An answer with the tokens that a line of their own tells of it."""
    return replace(
        answer,
        model=answer.model or row.model,
        input_tokens=answer.input_tokens + row.input_tokens,
        output_tokens=answer.output_tokens + row.output_tokens,
        cost=answer.cost + row.cost,
    )


def _chat(trace: str, row: Row, begin: int, end: int, parent: str) -> Span:
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _provider_of(row.model),
        "gen_ai.request.model": row.model,
        "gen_ai.usage.input_tokens": row.input_tokens,
        "gen_ai.usage.output_tokens": row.output_tokens,
        "gen_ai.output.messages": _messages(row),
        "agent_tui.cost_usd": row.cost,
    }
    return _span(trace, row, parent, f"chat {row.model}".strip(), begin, end, told)


_PROVIDERS = {
    "claude": "anthropic",
    "gpt": "openai",
    "codex": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "devstral": "mistral_ai",
    "codestral": "mistral_ai",
    "deepseek": "deepseek",
    "grok": "x_ai",
    "kimi": "moonshot_ai",
}
"""The conventions' names of who made a model, by how the models' names begin."""


def _provider_of(model: str) -> str:
    """Who made a model; empty where its name does not tell."""
    name = model.lower().rpartition("/")[2]
    return next((maker for prefix, maker in _PROVIDERS.items() if name.startswith(prefix)), "")


def _messages(row: Row) -> str:
    """What was said, in the form of the conventions; empty where content does not go along."""
    if not row.content:
        return ""
    parts = [{"type": "text", "content": row.content}]
    return json.dumps([{"role": row.role, "parts": parts}], ensure_ascii=False)


def _tool(call: Row, result: Row | None) -> dict[str, Any]:
    found = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.call.id": call.call_id,
        "gen_ai.tool.call.result": result.content if result else "",
    }
    return found | ({"error.type": "tool_error"} if result and result.is_error else {})


def _compaction(row: Row) -> dict[str, Any]:
    return {
        "agent_tui.compaction.tokens_before": row.tokens_before,
        "agent_tui.compaction.tokens_after": row.tokens_after,
        "agent_tui.compaction.messages_dropped": row.messages_dropped,
    }


def _span(
    trace: str, row: Row, parent: str, name: str, begin: int, end: int, more: dict[str, Any]
) -> Span:
    common = {"gen_ai.conversation.id": row.session_id, "agent_tui.project": row.project}
    span: Span = {
        "traceId": trace,
        "spanId": blake2b(row.id.encode(), digest_size=8).hexdigest(),
        "name": name,
        "kind": 3 if name.startswith("chat") else 1,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(max(begin, end)),
        "attributes": _attributes(common | more),
        "status": {"code": 2} if "error.type" in more else {},
    }
    return span | ({"parentSpanId": parent} if parent else {})


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value != ""]


def _value(value: object) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": str(value)}


def _nanoseconds(at: str) -> int:
    """A time as spans say it; 0 for what is none, or none that a collector can hold."""
    try:
        found = int(datetime.fromisoformat(at).timestamp() * 1_000_000) * 1_000
    except (ValueError, OverflowError):
        return 0
    return found if 0 < found < _MOST_NANOSECONDS else 0
