"""Vibe, OpenAI-style lines, the flat form that resembles pi's, ClawdCode, and kimi's times."""

from __future__ import annotations

import json
from pathlib import Path

from agent_tui.core.messages import text_of, thinking_of
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    Record,
    SessionHeader,
    SystemPrompt,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.importers.registry import import_session
from tests.importers.foreign_files import (
    FORMATS,
    clawdcode_session,
    flat_session,
    kimi_session,
    openai_session,
)
from tests.importers.session_files import unaccounted, write_lines

KINDS = (UserMessage, AssistantMessage, ToolMessage)


def texts(records: tuple[Record, ...]) -> list[str]:
    return [text_of(record.content) for record in records if isinstance(record, KINDS)]


def test_vibe_takes_its_facts_from_the_file_beside_it(tmp_path: Path) -> None:
    path = FORMATS["vibe"][1](tmp_path)
    facts = json.loads((tmp_path / "meta.json").read_text())
    facts |= {"parent_session_id": "V0", "git_branch": "main", "stats": {"context_tokens": 42}}
    (tmp_path / "meta.json").write_text(json.dumps(facts))
    session = import_session(tmp_path)
    header = session.records[0]
    assert isinstance(header, SessionHeader)
    assert (header.parent, header.git_branch) == ({"session_id": "V0"}, "main")
    assert (session.session_id, session.title, session.path) == ("V", "List", path)
    asked = next(r for r in session.records if isinstance(r, AssistantMessage))
    assert (thinking_of(asked.content), asked.tool_calls[0].arguments) == ("hm", '{"path": "."}')
    assert UsageRecord(42) in session.records
    (tmp_path / "meta.json").write_text("{torn")
    assert texts(import_session(path).records) == texts(session.records)


def test_openai_messages_may_be_lines_or_lists_in_objects(tmp_path: Path) -> None:
    lines = import_session(write_lines(tmp_path / "a", openai_session()))
    assert SystemPrompt("be good") in lines.records
    value = {"messages": openai_session()}
    one = import_session(write_lines(tmp_path / "b", [value]))
    (tmp_path / "c").write_text(json.dumps(value, indent=2))
    object_ = import_session(tmp_path / "c")
    assert texts(lines.records) == texts(one.records) == texts(object_.records)
    several = import_session(write_lines(tmp_path / "d", [value, value]))
    (child,) = several.children
    assert texts(child.records) == texts(several.records)
    assert several.accounting.shown == 2


def test_flat_lines_are_a_tree_with_an_active_path(tmp_path: Path) -> None:
    lines = flat_session()
    other = {**lines[4], "id": "6", "parentId": "4", "content": "on the other hand"}
    session = import_session(write_lines(tmp_path / "flat", [*lines, other]))
    assert texts(session.records) == ["list files", "Looking.", "", "a.txt", "on the other hand"]
    (branch,) = session.archives
    assert texts(branch.records)[-1] == "one file"
    asked = [r for r in session.records if isinstance(r, AssistantMessage)][1]
    assert (asked.tool_calls[0].id, asked.tool_calls[0].name) == ("c1", "ls")
    assert unaccounted(session.accounting) == 0


def test_clawdcode_calls_results_and_compactions_are_read(tmp_path: Path) -> None:
    session = import_session(write_lines(tmp_path / "C.jsonl", clawdcode_session()))
    assert texts(session.records) == ["list files", "", "a.txt", "one file", "so far"]
    assert texts(session.context) == ["so far"]
    (record,) = (r for r in session.records if isinstance(r, CompactionRecord))
    assert (record.trigger, record.pre_tokens, record.post_tokens) == ("manual", 100, 9)
    assert (session.cwd, session.session_id) == ("/w", "C")
    flat = [dict(line) for line in clawdcode_session()]
    flat[1] |= flat[1].pop("tool") | {"id": None, "tool_use_id": "c1"}
    flat[2] |= flat[2].pop("toolResult") | {"id": None, "tool_use_id": "c1"}
    read = import_session(write_lines(tmp_path / "E.jsonl", flat)).records
    calls = [call for r in read if isinstance(r, AssistantMessage) for call in r.tool_calls]
    assert [call.id for call in calls] == ["c1"]
    assert [r.tool_call_id for r in read if isinstance(r, ToolMessage)] == ["c1"]
    older = [
        {**line, "type": "system", "subtype": line["type"]} for line in clawdcode_session()[4:5]
    ]
    again = [*clawdcode_session()[:4], *older, *clawdcode_session()[5:]]
    assert import_session(write_lines(tmp_path / "D.jsonl", again)).compactions


def test_kimi_messages_get_the_times_of_the_wire_log(tmp_path: Path) -> None:
    def event(at: float, kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": at, "message": {"type": kind, "payload": payload}}

    write_lines(
        tmp_path / "wire.jsonl",
        [
            {"type": "metadata"},
            event(1, "TurnBegin", user_input="list files"),
            event(2, "StepBegin", n=1),
            event(3, "ToolCall", id="c1", function={"name": "Shell"}),
            event(4, "ToolResult", tool_call_id="c1"),
            event(5, "StepBegin", n=2),
            event(6, "ContentPart", type="text", text="one file"),
            event(7, "TurnEnd"),
        ],
    )
    session = import_session(write_lines(tmp_path / "context.jsonl", kimi_session()))
    times = [r.stamp.at for r in session.records if isinstance(r, KINDS)]
    assert times == [f"1970-01-01T00:00:0{second}.000Z" for second in (1, 3, 4, 6)]
