"""A session of any agent is continued as one of ours: with messages that a provider accepts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent_tui.core.errors import SessionError
from agent_tui.core.messages import TextPart, ThinkPart, ToolCall, UnknownPart, text_of
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    ToolMessage,
    UserMessage,
)
from agent_tui.importers import resume
from agent_tui.importers.imported import ImportedSession
from agent_tui.importers.registry import import_session
from agent_tui.importers.resume import find_message
from tests.importers.foreign_files import (
    FORMATS,
    claude_answer,
    claude_session,
    claude_user,
    said,
)
from tests.importers.session_files import (
    SUMMARY,
    answer,
    pi_answer,
    pi_entry,
    pi_header,
    pi_user,
    system,
    user,
    write_lines,
)
from tests.importers.test_importers_claude import boundary

KINDS = (UserMessage, AssistantMessage, ToolMessage)


def records_to_resume(session: ImportedSession, place: int | None = None) -> tuple[Record, ...]:
    last = len(session.records) - 1 if place is None else place
    return resume.records_to_resume(session.records, session.compactions, last)


def context_at(session: ImportedSession, place: int) -> tuple[Record, ...]:
    return resume.context_at(session.records, session.compactions, place)


def texts(records: tuple[Record, ...]) -> list[str]:
    return [text_of(record.content) for record in records if isinstance(record, KINDS)]


def check_acceptable(records: tuple[Record, ...]) -> None:
    """What every provider asks of a conversation."""
    open_calls: list[str] = []
    seen: set[str] = set()
    for record in records:
        assert isinstance(record, (*KINDS, Checkpoint))
        if isinstance(record, ToolMessage):
            assert open_calls.pop(0) == record.tool_call_id
            continue
        assert not open_calls
        if isinstance(record, AssistantMessage):
            assert record.content or record.tool_calls
            open_calls = [call.id for call in record.tool_calls]
            assert seen.isdisjoint(open_calls)
            seen.update(open_calls)
            assert all(isinstance(json.loads(c.arguments), dict) for c in record.tool_calls)
        if not isinstance(record, Checkpoint) and not isinstance(record.content, str):
            assert not any(isinstance(p, ThinkPart | UnknownPart) for p in record.content)
    assert not open_calls


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_continued_at_every_message(name: str, tmp_path: Path) -> None:
    session = import_session(FORMATS[name][1](tmp_path))
    for place, record in enumerate(session.records):
        if isinstance(record, KINDS):
            resumed = records_to_resume(session, place)
            check_acceptable(resumed)
            assert not isinstance(record, UserMessage) or texts(resumed)[-1] == texts((record,))[0]
    last = records_to_resume(session)
    prompts = sum(isinstance(r, UserMessage) and r.origin == "import" for r in last)
    assert sum(isinstance(record, Checkpoint) for record in last) == prompts
    origins = {record.origin for record in last if isinstance(record, UserMessage)}
    assert origins <= {"import", "compaction", "reminder", "checkpoint", "dmail", "agent"}


def damaged(session: ImportedSession, *records: Record) -> ImportedSession:
    return replace(session, records=records, context=records, compactions=())


def test_calls_are_repaired(tmp_path: Path) -> None:
    session = import_session(FORMATS["pi"][1](tmp_path))
    calls = (
        ToolCall("a", "na me!", "not json"),
        ToolCall("a", "twice", "{}"),
        ToolCall("", "", ""),
    )
    thinking = (ThinkPart("hm", "sig"), TextPart("so"))
    resumed = records_to_resume(
        damaged(
            session,
            ToolMessage("lost", "no call before it"),
            UserMessage("go", "human"),
            AssistantMessage(thinking, calls, model="m"),
            UserMessage("wait", "steer"),
            ToolMessage("a", "late"),
            AssistantMessage((ThinkPart("only thought"),)),
            AssistantMessage("error", model="<synthetic>"),
            AssistantMessage("", (ToolCall("a", "again", "{}"),)),
        )
    )
    check_acceptable(resumed)
    assert texts(resumed)[:4] == ["go", "so", "late", texts(resumed)[3]]
    assert texts(resumed)[4:] == ["wait", "", texts(resumed)[3]]
    first = next(r for r in resumed if isinstance(r, AssistantMessage))
    assert [(c.id, c.name, c.arguments) for c in first.tool_calls] == [
        ("a", "na_me_", "{}"),
        ("call", "tool", "{}"),
    ]
    interrupted = [r for r in resumed if isinstance(r, ToolMessage) and r.interrupted]
    assert [result.tool_call_id for result in interrupted] == ["call", "a_2"]


def test_a_session_without_a_prompt_cannot_be_continued(tmp_path: Path) -> None:
    session = import_session(FORMATS["pi"][1](tmp_path))
    with pytest.raises(SessionError, match="no prompt up to this point"):
        records_to_resume(damaged(session, AssistantMessage("hello")))


def test_behind_a_compaction_only_what_it_left_is_continued(tmp_path: Path) -> None:
    summary = claude_user("s1", "b1", 20, "so far", isCompactSummary=True)
    after = [claude_answer("a5", "s1", 21, "msg_3", said("on")), claude_user("u9", "a5", 22, "?")]
    lines = [*claude_session()[:-1], boundary("a4"), summary, *after]
    session = import_session(write_lines(tmp_path / "S.jsonl", lines))
    assert texts(records_to_resume(session)) == ["so far", "on", "?"]
    before = find_message(session.records, "5")
    assert texts(records_to_resume(session, before))[0] == "fix the bug"


def test_what_a_compaction_kept_is_continued_too(tmp_path: Path) -> None:
    entries = [
        pi_header(),
        *(pi_user("q1", "1"), pi_answer("a1", "2", "1"), pi_user("q2", "3", "2")),
        pi_entry("compaction", "4", "3", summary="S", tokensBefore=9, firstKeptEntryId="3"),
        *(pi_answer("a2", "5", "4"), pi_user("q3", "6", "5")),
    ]
    session = import_session(write_lines(tmp_path / "pi.jsonl", entries))
    last = len(session.records) - 1
    assert texts(context_at(session, last)) == texts(session.context) == ["S", "q2", "a2", "q3"]
    assert texts(context_at(session, find_message(session.records, "3"))) == ["q1", "a1", "q2"]
    write_lines(tmp_path / "context_1.jsonl", [system(), user("do"), answer("one"), answer("two")])
    rest = [answer("two"), user("more"), answer("three")]
    kimi = import_session(
        write_lines(tmp_path / "context.jsonl", [system(), user(SUMMARY, "S"), *rest])
    )
    whole = texts(context_at(kimi, len(kimi.records) - 1))
    assert whole[1:] == ["two", "more", "three"]
    assert texts(context_at(kimi, find_message(kimi.records, "3"))) == whole[:3]


def test_a_message_is_found_by_its_number_or_its_id(tmp_path: Path) -> None:
    session = import_session(write_lines(tmp_path / "S.jsonl", claude_session()))
    assert session.records[find_message(session.records, "1")].stamp.uuid == "u1"
    assert session.records[find_message(session.records, "a4")].stamp.uuid == "a4"
    for at in ("0", "99", "zz", "a", ""):
        with pytest.raises(SessionError):
            find_message(session.records, at)
