"""Gemini CLI: a journal is replayed, and every state that it went through can be seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_tui.core.messages import DiffDisplay, text_of, thinking_of
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    Record,
    ToolMessage,
    TurnEndRecord,
    UserMessage,
)
from agent_tui.importers.imported import ImportedSession
from agent_tui.importers.registry import import_session
from tests.importers.foreign_files import FORMATS, gemini_message, gemini_session
from tests.importers.session_files import unaccounted, write_lines


def load(tmp_path: Path, lines: list[Any]) -> ImportedSession:
    session = import_session(write_lines(tmp_path / "session.jsonl", lines))
    assert unaccounted(session.accounting) == 0
    assert session.accounting.read == len(lines)
    return session


def texts(records: tuple[Record, ...]) -> list[str]:
    kinds = (UserMessage, AssistantMessage, ToolMessage)
    return [text_of(record.content) for record in records if isinstance(record, kinds)]


def test_the_same_id_again_replaces_a_message(tmp_path: Path) -> None:
    session = load(tmp_path, gemini_session())
    assert texts(session.records) == ["list files", "", "a.txt", "one file"]
    asked = next(r for r in session.records if isinstance(r, AssistantMessage))
    assert thinking_of(asked.content) == "Plan\nlook"
    assert session.accounting.skipped == {"replaced by a later version of itself": 1}
    assert (session.session_id, session.title) == ("G", "list files")


def test_a_rewind_keeps_the_state_before_it(tmp_path: Path) -> None:
    again = gemini_message("m4", "user", "show it")
    session = load(tmp_path, [*gemini_session(), {"$rewindTo": "m2"}, again])
    assert texts(session.records) == ["list files", "show it"]
    (branch,) = session.archives
    assert (branch.reason, texts(branch.records)[-1]) == ("branch", "one file")


def test_a_compression_has_two_sides(tmp_path: Path) -> None:
    kept = gemini_session()[-1]
    summary = gemini_message("m8", "user", "<state_snapshot>so far</state_snapshot>")
    compressed = {"$set": {"messages": [summary, kept]}}
    last = gemini_message("m9", "user", "next")
    session = load(tmp_path, [*gemini_session(), compressed, last])
    (compaction,) = session.compactions
    assert texts(compaction.before) == ["list files", "", "a.txt", "one file"]
    assert texts(compaction.after) == ["<state_snapshot>so far</state_snapshot>", "one file"]
    assert texts(session.records)[-2:] == ["<state_snapshot>so far</state_snapshot>", "next"]
    (record,) = (r for r in session.records if isinstance(r, CompactionRecord))
    assert (record.kept, record.summarised) == (1, 3)


def test_messages_that_are_set_as_they_are_compress_nothing(tmp_path: Path) -> None:
    messages = [line for line in gemini_session() if "id" in line]
    same = {"$set": {"messages": [messages[0], *messages[2:]]}}
    assert load(tmp_path, [*gemini_session(), same]).compactions == ()


def test_notes_are_left_out_errors_and_diffs_are_shown(tmp_path: Path) -> None:
    shown = {"fileDiff": "@@ -1 +1 @@\n-a\n+b", "fileName": "a.py"}
    call = {"id": "t2", "name": "edit", "args": {}, "status": "error", "resultDisplay": shown}
    session = load(
        tmp_path,
        [
            *gemini_session(),
            gemini_message("n1", "info", "note"),
            gemini_message("n2", "error", "quota"),
            gemini_message("n3", "gemini", "", toolCalls=[call]),
            gemini_message("n4", "hologram", "?"),
        ],
    )
    assert session.accounting.skipped["note: info"] == 1
    assert session.accounting.unknown == {"hologram": 1}
    (end,) = (r for r in session.records if isinstance(r, TurnEndRecord))
    assert (end.end, end.reason) == ("failed", "quota")
    result = [r for r in session.records if isinstance(r, ToolMessage)][-1]
    assert (result.is_error, result.display) == (True, DiffDisplay("a.py", shown["fileDiff"]))


def test_an_object_says_the_same_as_the_journal(tmp_path: Path) -> None:
    session = import_session(FORMATS["gemini object"][1](tmp_path))
    assert texts(session.records) == ["list files", "", "a.txt", "one file"]
    assert session.accounting.read == 4  # the object and its messages
