"""Small sessions of other agents, written for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent_tui.importers.accounting import Accounting
from agent_tui.importers.imported import ImportedSession, count_findings

SUMMARY = "<system>Previous context has been compacted. Here is the compaction output:</system>"
DMAIL = "<system>You just got a D-Mail from your future self. D-Mail content:\n\nstop</system>"


def write_lines(path: Path, values: Iterable[object]) -> Path:
    """Write JSON values, or strings as they are, one a line."""
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def unaccounted(sums: Accounting) -> int:
    """How many records of a file have no fate: always 0."""
    fates = (sums.shown, sums.damaged, *sums.unknown.values(), *sums.skipped.values())
    return sums.read - sum(fates)


def numbers_of(session: ImportedSession) -> dict[str, int]:
    """What was found, without names and without the accounting, which must add up."""
    assert unaccounted(session.accounting) == 0
    found = count_findings(session)
    names = ("messages", "checkpoints", "token_count", "compactions", "damaged", "archives")
    return {name: found[name] for name in names}


def system(prompt: str = "be good") -> dict[str, Any]:
    return {"role": "_system_prompt", "content": prompt}


def checkpoint(number: int) -> dict[str, Any]:
    return {"role": "_checkpoint", "id": number}


def usage(count: int) -> dict[str, Any]:
    return {"role": "_usage", "token_count": count}


def user(*texts: str) -> dict[str, Any]:
    if len(texts) == 1:
        return {"role": "user", "content": texts[0]}
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def answer(text: str, *calls: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        fields["tool_calls"] = [
            {"type": "function", "id": call, "function": {"name": "Shell", "arguments": "{}"}}
            for call in calls
        ]
    return fields


def result(call: str, text: str = "done") -> dict[str, Any]:
    return {"role": "tool", "content": text, "tool_call_id": call}


def pi_header(version: int | None = 3) -> dict[str, Any]:
    header = {"type": "session", "id": "pi-1", "timestamp": "2025-01-01T10:00:00Z", "cwd": "/w"}
    return header if version is None else {**header, "version": version}


def pi_entry(kind: str, id_: str | None, parent: str | None, **fields: Any) -> dict[str, Any]:
    entry = {"type": kind, "timestamp": "2025-01-01T10:00:01Z", **fields}
    return entry if id_ is None else {**entry, "id": id_, "parentId": parent}


def pi_user(text: str, id_: str | None = None, parent: str | None = None) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return pi_entry("message", id_, parent, message={"role": "user", "content": content})


def pi_answer(
    text: str, id_: str | None = None, parent: str | None = None, tokens: int = 0
) -> dict[str, Any]:
    content = [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
        {"type": "text", "text": text},
    ]
    counts = {"input": tokens, "output": 1, "cacheRead": 2, "totalTokens": tokens + 3}
    message: dict[str, Any] = {"role": "assistant", "content": content, "model": "m"}
    if tokens:
        message["usage"] = counts
    return pi_entry("message", id_, parent, message=message)
