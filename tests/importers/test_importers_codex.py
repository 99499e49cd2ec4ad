"""Codex: everything is logged twice, turns are rolled back, a compaction says what it left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.messages import DiffDisplay, text_of, thinking_of
from agent_tui.core.records import (
    AssistantMessage,
    ModelRecord,
    Record,
    RevertRecord,
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    TurnEndRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.usage import Usage
from agent_tui.importers.imported import ImportedSession
from agent_tui.importers.registry import import_session
from agent_tui.library.search.line_text import read_object
from agent_tui.library.search.tallies import Tally
from tests.importers.foreign_files import (
    FORMATS,
    codex_event,
    codex_item,
    codex_line,
    codex_said,
    codex_session,
)
from tests.importers.session_files import unaccounted, write_lines


def load(tmp_path: Path, lines: list[Any]) -> ImportedSession:
    session = import_session(write_lines(tmp_path / "rollout-x.jsonl", lines))
    assert unaccounted(session.accounting) == 0
    assert session.accounting.read == len(lines)
    return session


def texts(records: tuple[Record, ...]) -> list[str]:
    kinds = (UserMessage, AssistantMessage, ToolMessage)
    return [text_of(record.content) for record in records if isinstance(record, kinds)]


def test_what_is_logged_twice_is_shown_once(tmp_path: Path) -> None:
    session = load(tmp_path, codex_session())
    context = "<environment_context>cwd</environment_context>"
    assert texts(session.records) == [context, "list files", "", "a.txt", "one file"]
    origins = [r.origin for r in session.records if isinstance(r, UserMessage)]
    assert origins == ["reminder", "human"]
    asked = next(r for r in session.records if isinstance(r, AssistantMessage))
    assert (thinking_of(asked.content), asked.tool_calls[0].name) == ("hm", "exec")
    assert asked.model == "gpt-x"
    (usage,) = (r for r in session.records if isinstance(r, UsageRecord))
    assert (usage.token_count, usage.usage) == (100, Usage(90, 10, 40))
    assert sum(session.accounting.skipped.values()) == 3
    assert ModelRecord("openai", "gpt-x", stamp=session.records[1].stamp) in session.records


def test_events_are_shown_where_nothing_else_tells_of_them(tmp_path: Path) -> None:
    session = load(
        tmp_path,
        [
            codex_line("session_meta", 0, id="1", cwd="/w"),
            codex_event("user_message", 1, message="hi"),
            codex_event("agent_reasoning", 2, text="hm"),
            codex_event("agent_message", 2, message="hello"),
        ],
    )
    assert texts(session.records) == ["hi", "hello"]


def test_a_rolled_back_turn_is_an_archive(tmp_path: Path) -> None:
    more = [codex_said("user", 5, "go on"), codex_said("assistant", 6, "gone")]
    back = codex_event("thread_rolled_back", 7, num_turns=1)
    session = load(tmp_path, [*codex_session(), *more, back, codex_said("user", 8, "instead")])
    assert texts(session.records)[-2:] == ["one file", "instead"]
    (archive,) = session.archives
    assert texts(archive.records)[-2:] == ["go on", "gone"]
    (revert,) = (r for r in session.records if isinstance(r, RevertRecord))
    assert (revert.archive, revert.reason) == (archive.number, "user")


def test_a_compaction_is_what_its_history_was_replaced_by(tmp_path: Path) -> None:
    def item(text: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": text}]
        return {"type": "message", "role": "user", "content": content}

    history = [item("list files"), item("SUMMARY: all done")]
    compacted = codex_line("compacted", 9, message="", replacement_history=history)
    session = load(tmp_path, [*codex_session(), compacted, codex_said("user", 10, "next")])
    (compaction,) = session.compactions
    assert compaction.summary == "SUMMARY: all done"
    assert texts(compaction.before)[-1] == "one file"
    assert sorted(texts(compaction.after)) == ["SUMMARY: all done", "list files"]
    assert texts(session.context)[-1] == "next"
    assert texts(session.records)[-3:] == ["one file", "SUMMARY: all done", "next"]


def test_a_fork_keeps_its_own_name_and_tells_its_parent(tmp_path: Path) -> None:
    own = codex_line("session_meta", 0, id="new", forked_from_id="old", cwd="/w")
    session = load(tmp_path, [own, *codex_session()])
    header = session.records[0]
    assert isinstance(header, SessionHeader)
    assert (session.session_id, header.parent) == ("new", {"session_id": "old"})
    assert session.accounting.skipped["header of a session that this one continues"] == 1


def test_patches_titles_and_ends_are_told(tmp_path: Path) -> None:
    patch = {"a.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n"}}
    output = '{"output":"boom","metadata":{"exit_code":1}}'
    session = load(
        tmp_path,
        [
            *codex_session(),
            codex_item("custom_tool_call", 5, name="apply_patch", input="*** Begin", call_id="c2"),
            codex_item("custom_tool_call_output", 5, call_id="c2", output=output),
            codex_event("patch_apply_end", 5, call_id="c2", changes=patch),
            codex_event("thread_name_updated", 6, thread_name="Mine"),
            codex_event("turn_aborted", 7, reason="interrupted"),
            codex_event("novelty", 8),
        ],
    )
    result = [r for r in session.records if isinstance(r, ToolMessage)][-1]
    assert (result.content, result.is_error) == ("boom", True)
    assert isinstance(result.display, DiffDisplay)
    assert "+b" in result.display.diff
    assert session.title == "Mine"
    assert any(isinstance(record, TitleRecord) for record in session.records)
    (end,) = (r for r in session.records if isinstance(r, TurnEndRecord))
    assert (end.end, end.reason) == ("interrupted", "interrupted")
    assert session.accounting.unknown == {"event_msg/novelty": 1}


def test_old_and_compressed_files_say_the_same(tmp_path: Path) -> None:
    new, old, packed = (tmp_path / name for name in ("new", "old", "packed"))
    for folder in (new, old, packed):
        folder.mkdir()
    one = import_session(FORMATS["codex"][1](new))
    two = import_session(FORMATS["codex old"][1](old))
    three = import_session(FORMATS["codex compressed"][1](packed))
    assert texts(one.records) == texts(two.records) == texts(three.records)
    assert two.session_id == "019e-0"
    assert SystemPrompt("be good") in two.records
    torn = packed / "rollout.jsonl.zst"
    whole = torn.read_bytes()
    torn.write_bytes(whole + whole[:-20])
    assert texts(import_session(torn).records) == texts(one.records)


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno", True),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 1\n", False),
        ("Chunk ID: ab\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno", True),
        ("Chunk ID: ab\nWall time: 0.1 seconds\nProcess running with session ID 7\n", False),
        ("the log says\nOutput:\nProcess exited with code 2\n", False),
        ('{"output":"no","metadata":{"exit_code":1}}', True),
        ({"content": "no", "success": False}, True),
    ],
)
def test_a_command_that_failed_is_told_however_it_is_written(
    tmp_path: Path, output: object, failed: bool
) -> None:
    lines = [
        *codex_session(),
        codex_item("function_call", 5, name="exec", arguments="{}", call_id="c2"),
        codex_item("function_call_output", 6, call_id="c2", output=output),
    ]
    session = import_session(write_lines(tmp_path / "rollout.jsonl", lines))
    assert [r.is_error for r in session.records if isinstance(r, ToolMessage)] == [False, failed]
    said = read_object(lines[-1])
    assert said is not None
    assert said.is_error == failed


def test_a_count_that_is_told_again_counts_once(tmp_path: Path) -> None:
    def count(second: int, total: int) -> dict[str, Any]:
        counts = {"input_tokens": 90, "output_tokens": 10, "total_tokens": 100}
        info = {"last_token_usage": counts, "total_token_usage": {"total_tokens": total}}
        return codex_event("token_count", second, info=info)

    lines = [*codex_session()[:2], count(1, 100), count(2, 100), count(3, 200)]
    session = import_session(write_lines(tmp_path / "rollout.jsonl", lines))
    assert sum(isinstance(record, UsageRecord) for record in session.records) == 2
    assert session.accounting.skipped == {"repeated token_count": 1}
    tally = Tally("2026-01-02", "")
    for line in lines:
        tally.add(line, None)
    assert [day[7:9] for day in tally.days()] == [(180, 20)]
