"""Exports: kimi's log loads with the same history, Markdown reads well and is safe to print."""

from __future__ import annotations

import json
from pathlib import Path

from agent_tui.context.compaction.summary_message import write_summary_message
from agent_tui.core.messages import MediaPart, TextPart, ThinkPart, ToolCall, UnknownPart
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    ModelRecord,
    Record,
    RevertRecord,
    SessionHeader,
    Stamp,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    TurnEndRecord,
    UnknownRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.summary_format import write_summary
from agent_tui.core.usage import Usage
from agent_tui.core.words import INTERRUPTED
from agent_tui.importers.imported import count_findings
from agent_tui.importers.registry import import_session
from agent_tui.library.exports.kimi import export_kimi
from agent_tui.library.exports.markdown import export_markdown

STAMP = Stamp("u1", None, "2026-01-01T00:00:00Z")
RECORDS: tuple[Record, ...] = (
    SessionHeader("s-1", "/w", "2026-01-01T00:00:00Z", "0.1.0", stamp=STAMP),
    SystemPrompt("be good", STAMP),
    ModelRecord("openai", "gpt", stamp=STAMP),
    TitleRecord("A talk", stamp=STAMP),
    CompactionRecord("manual", "last-messages", 900, 90, archive=1, stamp=STAMP),
    UserMessage("what came before", "compaction", stamp=STAMP),
    Checkpoint(3, turn=2, step=0, stamp=STAMP),
    UserMessage(
        (TextPart("look"), MediaPart("image_url", "data:image/png;base64,AA", "i")), turn=2
    ),
    AssistantMessage(
        (ThinkPart("hm", "sig"), TextPart("I see \u2028 \x1b[31m"), UnknownPart({"type": "x"})),
        (ToolCall("c1", "run_command", '{"command":"ls"}'),),
        model="gpt",
        turn=2,
    ),
    UsageRecord(120, Usage(100, 20), stamp=STAMP),
    ToolMessage("c1", "```\nfiles\n```", is_error=True, turn=2, stamp=STAMP),
    RevertRecord(2, "user", 4),
    TurnEndRecord("cancelled", "Interrupted.", 2, STAMP),
    UnknownRecord("_novel", {"role": "_novel"}),
    UnknownRecord("system", {"role": "system", "content": "mind the gap", "x": 1}),
)


def test_only_what_kimi_reads_is_written() -> None:
    lines = [json.loads(line) for line in export_kimi(RECORDS)]
    assert lines == [
        {"role": "_system_prompt", "content": "be good"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": write_summary("")[0].text},
                {"type": "text", "text": "what came before"},
            ],
        },
        {"role": "_checkpoint", "id": 3},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {
                    "type": "image_url",
                    "image_url": {"url": "data:image/png;base64,AA", "id": "i"},
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "think", "think": "hm", "encrypted": "sig"},
                {"type": "text", "text": "I see \u2028 \x1b[31m"},
                {"type": "text", "text": "[x]"},
            ],
            "tool_calls": [
                {
                    "type": "function",
                    "id": "c1",
                    "function": {"name": "run_command", "arguments": '{"command":"ls"}'},
                }
            ],
        },
        {"role": "_usage", "token_count": 120},
        {"role": "tool", "content": "```\nfiles\n```", "tool_call_id": "c1"},
        {"role": "system", "content": "mind the gap"},
    ]


def test_an_export_loads_with_the_same_history_checkpoints_and_tokens(tmp_path: Path) -> None:
    log = tmp_path / "context.jsonl"
    log.write_bytes(b"".join(export_kimi(RECORDS)))
    session = import_session(log)
    assert count_findings(session) | {"damaged": 0} == count_findings(session)
    assert (count_findings(session)["messages"], count_findings(session)["checkpoints"]) == (4, 1)
    assert count_findings(session)["token_count"] == 120
    again = tmp_path / "again.jsonl"
    again.write_bytes(b"".join(export_kimi(session.records)))
    assert again.read_bytes() == log.read_bytes()


def test_a_summary_of_ours_is_still_one_after_an_export(tmp_path: Path) -> None:
    parts = write_summary_message("what was done").content
    log = tmp_path / "context.jsonl"
    log.write_bytes(b"".join(export_kimi([UserMessage(parts, "compaction"), *RECORDS[6:]])))
    (compaction,) = import_session(log).compactions
    assert compaction.summary == "what was done"


def test_what_is_exported_can_be_sent_without_being_mended() -> None:
    calls = (ToolCall("a", "read_file", "{torn"), ToolCall("b", "read_file", "{}"))
    records: list[Record] = [
        ToolMessage("x", "without a call"),
        AssistantMessage("I look.", calls),
        UsageRecord(50),
        Checkpoint(4),
        UserMessage("and hurry", "steer"),
        ToolMessage("a", "late"),
        AssistantMessage("Done."),
    ]
    lines = [json.loads(line) for line in export_kimi(records)]
    assert [line["role"] for line in lines] == [
        "assistant", "_usage", "tool", "tool", "_checkpoint", "user", "assistant",
    ]  # fmt: skip
    assert lines[2] == {"role": "tool", "content": "late", "tool_call_id": "a"}
    assert lines[3] == {"role": "tool", "content": INTERRUPTED, "tool_call_id": "b"}
    assert [call["function"]["arguments"] for call in lines[0]["tool_calls"]] == ["{}", "{}"]


def test_a_token_count_is_added_where_the_records_do_not_say_it() -> None:
    assert list(export_kimi(RECORDS, 120)) == list(export_kimi(RECORDS))
    assert list(export_kimi(RECORDS, 130))[-1] == b'{"role":"_usage","token_count":130}\n'
    assert list(export_kimi((), 0)) == [b'{"role":"_usage","token_count":0}\n']


def test_half_a_surrogate_pair_does_not_break_an_export() -> None:
    (line,) = export_kimi([UserMessage("half \ud83d")])
    assert json.loads(line)["content"] == "half \ufffd"


def test_markdown_tells_who_said_what() -> None:
    text = b"".join(export_markdown(RECORDS)).decode()
    assert text.startswith("# A talk\n\n")
    order = [
        *("*Compacted 900 → 90 tokens.*", "## Summary of what came before", "## You"),
        *("[image: data:image/png;base64]", "## Agent", "<summary>Thinking</summary>"),
        *("**run_command**", '"command": "ls"', "Result of run_command (failed)"),
        *("````\n```\nfiles\n```\n````", "*Reverted to checkpoint 4.*", "*Interrupted.*"),
    ]
    places = [text.find(piece) for piece in order]
    assert -1 not in places
    assert places == sorted(places)
    assert "\x1b" not in text
