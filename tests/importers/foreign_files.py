"""One small session of every format, written by code: what the importers are tried on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import zstandard

from tests.importers.session_files import (
    answer,
    checkpoint,
    pi_answer,
    pi_header,
    pi_user,
    result,
    system,
    usage,
    user,
    write_lines,
)

AT = "2026-01-02T03:04:{:02}Z"


def claude_line(
    kind: str, uuid: str, parent: str | None, second: int, **more: Any
) -> dict[str, Any]:
    """One line of Claude Code in its envelope."""
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "S",
        "timestamp": AT.format(second),
        "cwd": "/w",
        "gitBranch": "main",
        "version": "2.1.39",
        "isSidechain": False,
        **more,
    }


def claude_user(
    uuid: str, parent: str | None, second: int, content: Any, **more: Any
) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return claude_line("user", uuid, parent, second, message=message, **more)


def claude_answer(
    uuid: str, parent: str | None, second: int, id_: str, *blocks: Any, tokens: int = 0, **more: Any
) -> dict[str, Any]:
    message: dict[str, Any] = {
        "id": id_,
        "role": "assistant",
        "content": list(blocks),
        "model": "m",
    }
    if tokens:
        message["usage"] = {
            "input_tokens": 3,
            "cache_read_input_tokens": 9,
            "output_tokens": tokens,
        }
    return claude_line("assistant", uuid, parent, second, message=message, **more)


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def called(id_: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def returned(id_: str, text: str = "ok") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": text}


def claude_session() -> list[dict[str, Any]]:
    """A prompt, an answer of three lines with two parallel calls, and what hangs beside them."""
    return [
        {"type": "permission-mode", "permissionMode": "default", "sessionId": "S"},
        claude_user("u1", None, 1, "fix the bug"),
        claude_line("attachment", "x1", "u1", 1, attachment={"type": "skill_listing"}),
        claude_answer("a1", "u1", 2, "msg_1", said("Looking."), tokens=5),
        claude_answer("a2", "a1", 3, "msg_1", called("t1", file="a.py"), tokens=8),
        claude_line("progress", "p1", "a2", 3, data={"type": "hook_progress"}),
        claude_user("r1", "a2", 4, [returned("t1")]),
        claude_answer("a3", "a2", 4, "msg_1", called("t2"), tokens=31),
        claude_user("r2", "a3", 5, [returned("t2", "no")]),
        claude_answer("a4", "r2", 6, "msg_2", said("Done."), tokens=4),
        {"type": "last-prompt", "sessionId": "S", "leafUuid": "a4"},
    ]


def codex_line(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT.format(second), "type": kind, "payload": payload}


def codex_item(kind: str, second: int, **item: Any) -> dict[str, Any]:
    return codex_line("response_item", second, **{"type": kind, **item})


def codex_said(role: str, second: int, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return codex_item("message", second, role=role, content=[{"type": kind, "text": text}])


def codex_event(kind: str, second: int, **event: Any) -> dict[str, Any]:
    return codex_line("event_msg", second, **{"type": kind, **event})


def codex_session() -> list[dict[str, Any]]:
    """A header, a turn that is logged twice, a call with its result, and a count."""
    counts = {
        "input_tokens": 90,
        "cached_input_tokens": 40,
        "output_tokens": 10,
        "total_tokens": 100,
    }
    return [
        codex_line("session_meta", 0, id="019e-1", cwd="/w", cli_version="0.140.0"),
        codex_line("turn_context", 0, cwd="/w", model="gpt-x"),
        codex_said("user", 1, "<environment_context>cwd</environment_context>"),
        codex_said("user", 1, "list files"),
        codex_event("user_message", 1, message="list files"),
        codex_item("reasoning", 2, summary=[{"type": "summary_text", "text": "hm"}]),
        codex_event("agent_reasoning", 2, text="hm"),
        codex_item("function_call", 2, name="exec", arguments='{"cmd":"ls"}', call_id="c1"),
        codex_item("function_call_output", 3, call_id="c1", output="a.txt"),
        codex_event("token_count", 3, info={"last_token_usage": counts}),
        codex_said("assistant", 4, "one file"),
        codex_event("agent_message", 4, message="one file"),
    ]


def gemini_message(id_: str, kind: str, text: Any, **more: Any) -> dict[str, Any]:
    return {"id": id_, "timestamp": AT.format(1), "type": kind, "content": text, **more}


def gemini_session() -> list[dict[str, Any]]:
    """A journal: a header, a prompt, an answer that is replaced by one with a call."""
    response = {"functionResponse": {"response": {"output": "a.txt"}}}
    call = {"id": "t1", "name": "ls", "args": {}, "status": "success", "result": [response]}
    tokens = {"input": 90, "output": 10, "total": 100}
    thoughts = [{"subject": "Plan", "description": "look"}]
    return [
        {"sessionId": "G", "projectHash": "ab", "startTime": AT.format(0), "kind": "main"},
        gemini_message("m1", "user", [{"text": "list files"}]),
        gemini_message("m2", "gemini", "", model="g"),
        gemini_message("m2", "gemini", "", model="g", toolCalls=[call], thoughts=thoughts),
        {"$set": {"lastUpdated": AT.format(2)}},
        gemini_message("m3", "gemini", "one file", tokens=tokens),
    ]


def opencode_session() -> dict[str, Any]:
    """An export: a prompt, and an answer of two steps with a call."""
    state = {"status": "completed", "input": {"command": "ls"}, "output": "a.txt"}
    tokens = {"input": 90, "output": 10, "cache": {"read": 5, "write": 0}}
    created = {"created": 1_767_000_000_000}
    return {
        "info": {
            "id": "ses_1",
            "projectID": "p",
            "directory": "/w",
            "title": "List",
            "time": created,
        },
        "messages": [
            {
                "info": {"id": "msg_1", "role": "user", "time": created},
                "parts": [{"id": "prt_1", "type": "text", "text": "list files"}],
            },
            {
                "info": {"id": "msg_2", "role": "assistant", "time": created, "modelID": "m"},
                "parts": [
                    {"id": "prt_2", "type": "step-start"},
                    {"id": "prt_3", "type": "reasoning", "text": "hm"},
                    {"id": "prt_4", "type": "tool", "callID": "c1", "tool": "bash", "state": state},
                    {"id": "prt_5", "type": "step-finish", "tokens": tokens},
                    {"id": "prt_6", "type": "step-start"},
                    {"id": "prt_7", "type": "text", "text": "one file"},
                ],
            },
        ],
    }


def write_opencode_database(path: Path, *sessions: dict[str, Any]) -> Path:
    """A database with OpenCode's tables."""
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "create table session (id text, parent_id text, project_id text, directory text,"
            " title text, version text, revert text, time_created int, time_updated int);"
            "create table message (id text, session_id text, time_created int, data text);"
            "create table part (id text, message_id text, session_id text, data text);"
        )
        for number, session in enumerate(sessions):
            info = session["info"]
            row = (info["id"], info.get("parentID"), "p", "/w", info["title"], "1", None, 1, number)
            database.execute("insert into session values (?,?,?,?,?,?,?,?,?)", row)
            for at, message in enumerate(session["messages"]):
                own = message["info"]
                told = json.dumps({k: v for k, v in own.items() if k != "id"})
                ids = (own["id"], info["id"], at, told)
                database.execute("insert into message values (?,?,?,?)", ids)
                for part in message["parts"]:
                    told = json.dumps({k: v for k, v in part.items() if k != "id"})
                    ids = (part["id"], own["id"], info["id"], told)
                    database.execute("insert into part values (?,?,?,?)", ids)
    database.close()
    return path


def write_opencode_folder(root: Path, session: dict[str, Any]) -> Path:
    """The storage folder of older versions; returns the session's file."""
    info = session["info"]
    files: dict[Path, Any] = {root / "session" / "p" / f"{info['id']}.json": info}
    for message in session["messages"]:
        own = message["info"]
        files[root / "message" / info["id"] / f"{own['id']}.json"] = own
        for part in message["parts"]:
            files[root / "part" / own["id"] / f"{part['id']}.json"] = part
    for path, value in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")
    return next(iter(files))


def vibe_session() -> list[dict[str, Any]]:
    call = {"id": "c1", "index": 0, "function": {"name": "ls", "arguments": {"path": "."}}}
    return [
        {"role": "user", "content": "list files", "message_id": "1"},
        {
            "role": "assistant",
            "content": "",
            "reasoning_content": "hm",
            "tool_calls": [call],
            "message_id": "2",
        },
        {"role": "tool", "content": "a.txt", "tool_call_id": "c1", "message_id": "3"},
        {"role": "assistant", "content": "one file", "message_id": "4"},
    ]


def openai_session() -> list[dict[str, Any]]:
    function = {"name": "ls", "arguments": "{}"}
    call = {"id": "c1", "type": "function", "function": function}
    return [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": "list files"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "a.txt", "tool_call_id": "c1"},
        {"role": "assistant", "content": "one file"},
    ]


def flat_session() -> list[dict[str, Any]]:
    def line(kind: str, id_: str, parent: str | None, **more: Any) -> dict[str, Any]:
        return {"type": kind, "id": id_, "parentId": parent, "timestamp": AT.format(1), **more}

    return [
        line("user", "1", None, content="list files"),
        line("assistant", "2", "1", content="Looking."),
        line("tool", "3", "2", name="ls", toolCallId="c1", input={"path": "."}),
        line("tool_result", "4", "3", toolCallId="c1", content="a.txt"),
        line("assistant", "5", "4", content="one file"),
    ]


def clawdcode_session() -> list[dict[str, Any]]:
    def line(kind: str, id_: str, parent: str | None, **more: Any) -> dict[str, Any]:
        envelope = {"sessionId": "C", "cwd": "/w", "gitBranch": "main", "version": "0.1.0"}
        ids = {"uuid": id_, "parentUuid": parent, "timestamp": AT.format(1)}
        return {**ids, "type": kind, **envelope, **more}

    tokens = {"input_tokens": 90, "output_tokens": 10}
    bare = {"role": "assistant", "content": ""}
    summary = {"role": "user", "content": "so far"}
    return [
        line("user", "1", None, message={"role": "user", "content": "list files"}),
        line("tool_use", "2", "1", message=bare, tool={"id": "c1", "name": "ls", "input": {}}),
        line("tool_result", "3", "2", message=bare, toolResult={"id": "c1", "output": "a.txt"}),
        line(
            "assistant",
            "4",
            "3",
            message={"role": "assistant", "content": "one file", "model": "m", "usage": tokens},
        ),
        line(
            "compact_boundary",
            "5",
            "4",
            message={"role": "system", "content": "=="},
            compactMetadata={"trigger": "manual", "preTokens": 100, "postTokens": 9},
        ),
        line("user", "6", "5", isCompactSummary=True, message=summary),
    ]


def kimi_session() -> list[dict[str, Any]]:
    return [
        *(system(), checkpoint(0), user("list files"), checkpoint(1), answer("", "c1"), usage(90)),
        *(result("c1", "a.txt"), answer("one file"), usage(100)),
    ]


def pi_session() -> list[dict[str, Any]]:
    call = {"type": "toolCall", "id": "c1", "name": "ls", "arguments": {}}
    asked = pi_answer("", "2", "1", tokens=90)
    asked["message"]["content"] = [call]
    told = {"role": "toolResult", "toolCallId": "c1", "content": [said("a.txt")]}
    entry = {"type": "message", "id": "3", "parentId": "2", "message": told}
    return [pi_header(), pi_user("list files", "1"), asked, entry, pi_answer("one file", "4", "3")]


def _write_zst(folder: Path) -> Path:
    text = "".join(json.dumps(line) + "\n" for line in codex_session())
    path = folder / "rollout.jsonl.zst"
    path.write_bytes(zstandard.compress(text.encode()))
    return path


def _write_old_codex(folder: Path) -> Path:
    items = [line["payload"] for line in codex_session() if line["type"] == "response_item"]
    header = {"id": "019e-0", "timestamp": AT.format(0), "instructions": "be good"}
    return write_lines(folder / "rollout.jsonl", [header, {"record_type": "state"}, *items])


def _write_gemini_object(folder: Path) -> Path:
    header, *rest = gemini_session()
    messages = [line for line in rest[2:] if "id" in line]
    value = {**header, "messages": [rest[0], *messages]}
    path = folder / "session.json"
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def _write_vibe(folder: Path) -> Path:
    facts = {"session_id": "V", "title": "List", "environment": {"working_directory": "/w"}}
    (folder / "meta.json").write_text(json.dumps(facts), encoding="utf-8")
    return write_lines(folder / "messages.jsonl", vibe_session())


def _write_export(folder: Path) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps(opencode_session(), indent=1), encoding="utf-8")
    return path


def _lines(name: str, make: Callable[[], list[dict[str, Any]]]) -> Callable[[Path], Path]:
    return lambda folder: write_lines(folder / name, make())


FORMATS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "claude": ("claude-code", _lines("S.jsonl", claude_session)),
    "codex": ("codex", _lines("rollout.jsonl", codex_session)),
    "codex compressed": ("codex", _write_zst),
    "codex old": ("codex", _write_old_codex),
    "gemini journal": ("gemini", _lines("session.jsonl", gemini_session)),
    "gemini object": ("gemini", _write_gemini_object),
    "kimi": ("kimi", _lines("context.jsonl", kimi_session)),
    "pi": ("pi", _lines("pi.jsonl", pi_session)),
    "opencode database": (
        "opencode",
        lambda folder: write_opencode_database(folder / "opencode.db", opencode_session()),
    ),
    "opencode folder": (
        "opencode",
        lambda folder: write_opencode_folder(folder / "storage", opencode_session()),
    ),
    "opencode export": ("opencode", _write_export),
    "vibe": ("vibe", _write_vibe),
    "openai": ("openai", _lines("chat.jsonl", openai_session)),
    "flat": ("pi-like", _lines("flat.jsonl", flat_session)),
    "clawdcode": ("clawdcode", _lines("C.jsonl", clawdcode_session)),
}
"""By name: the importer that must take it, and what writes it into a folder."""
