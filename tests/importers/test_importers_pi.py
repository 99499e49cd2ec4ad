"""Sessions of pi: linear and tree-shaped files, with both sides of every compaction."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agent_tui.core.messages import MediaPart, ToolCall, UnknownPart, text_of, thinking_of
from agent_tui.core.records import (
    AssistantMessage,
    BranchSummary,
    CompactionRecord,
    LabelRecord,
    ModelRecord,
    Record,
    SessionHeader,
    ToolMessage,
    UnknownRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.usage import Usage
from agent_tui.importers.registry import import_session
from tests.importers.session_files import (
    numbers_of,
    pi_answer,
    pi_entry,
    pi_header,
    pi_user,
    write_lines,
)


def said(records: tuple[Record, ...]) -> list[str]:
    kinds = (UserMessage, AssistantMessage, ToolMessage)
    return [text_of(record.content) for record in records if isinstance(record, kinds)]


def test_a_linear_file_is_read_in_order(tmp_path: Path) -> None:
    call = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "ls é"}}
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    file = write_lines(
        tmp_path / "s.jsonl",
        [
            pi_header(None) | {"provider": "p", "modelId": "m1"},
            pi_user("hello"),
            pi_entry("message", None, None, message={"role": "assistant", "content": [call]}),
            pi_entry(
                *("message", None, None),
                message={
                    "role": "toolResult",
                    "toolCallId": "t1",
                    "isError": True,
                    "content": [{"type": "text", "text": "no"}, image],
                },
            ),
            pi_answer("done", tokens=10),
            pi_entry(
                *("message", None, None),
                message={"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 2},
            ),
            pi_entry("model_change", None, None, provider="p", modelId="m2"),
            pi_entry("thinking_level_change", None, None, thinkingLevel="low"),
            pi_entry("novelty", None, None, x=1),
        ],
    )
    session = import_session(file)
    assert (session.source, session.session_id, session.cwd) == ("pi", "pi-1", "/w")
    assert session.title == "hello"
    assert said(session.records) == [
        *("hello", "", "no", "done", "Ran `ls`\n```\na\n```\n\nCommand exited with code 2")
    ]
    kinds = {type(record): record for record in session.records}
    header, calling, failed = session.records[0], session.records[3], session.records[4]
    assert isinstance(header, SessionHeader)
    assert isinstance(calling, AssistantMessage)
    assert calling.tool_calls == (ToolCall("t1", "bash", '{"command": "ls é"}'),)
    assert isinstance(failed, ToolMessage)
    assert failed.is_error
    assert failed.content[-1] == MediaPart("image_url", "data:image/png;base64,AAAA")
    assert isinstance(usage := kinds[UsageRecord], UsageRecord)
    assert (usage.token_count, usage.usage) == (13, Usage(12, 1, 2, 0))
    assert isinstance(model := kinds[ModelRecord], ModelRecord)
    assert model.model == "m2"
    assert isinstance(kinds[UnknownRecord], UnknownRecord)
    assert session.accounting.unknown == {"novelty": 1}
    assert session.accounting.skipped == {"thinking_level_change": 1}
    assert session.context == session.records


def test_thinking_signatures_and_errors_are_kept(tmp_path: Path) -> None:
    failed = {"role": "assistant", "content": [], "errorMessage": "aborted"}
    file = write_lines(
        tmp_path / "s.jsonl",
        [pi_header(), pi_answer("a", "1"), pi_entry("message", "2", "1", message=failed)],
    )
    session = import_session(file)
    answer, stopped = (r for r in session.records if isinstance(r, AssistantMessage))
    assert thinking_of(answer.content) == "hm"
    assert stopped.content == (UnknownPart({"type": "error", "message": "aborted"}),)


@pytest.mark.parametrize("tree", [False, True])
def test_both_sides_of_every_compaction_are_worked_out(tmp_path: Path, tree: bool) -> None:
    texts = ["q1", "a1", "q2", "a2", "C1", "q3", "C2", "q4"]
    kept = {"C1": "q2", "C2": "a2"}
    entries = [pi_header(3 if tree else None)]
    for number, text in enumerate(texts):
        id_ = f"id-{text}" if tree else None
        parent = f"id-{texts[number - 1]}" if number else None
        if text in kept:
            begins = (
                {"firstKeptEntryId": f"id-{kept[text]}"}
                if tree
                else {"firstKeptEntryIndex": texts.index(kept[text]) + 1}
            )
            fields = {"summary": f"S{text[1]}", "tokensBefore": 100 + number, **begins}
            entries.append(pi_entry("compaction", id_, parent, **fields))
        elif text.startswith("q"):
            entries.append(pi_user(text, id_, parent))
        else:
            entries.append(pi_answer(text, id_, parent, tokens=5))
    session = import_session(write_lines(tmp_path / "s.jsonl", entries))
    assert said(session.records) == ["q1", "a1", "q2", "a2", "S1", "q3", "S2", "q4"]
    assert said(session.context) == ["S2", "a2", "q3", "q4"]
    first, second = session.compactions
    assert (said(first.before), said(first.after)) == (
        ["q1", "a1", "q2", "a2"],
        ["S1", "q2", "a2"],
    )
    assert (said(second.before), said(second.after)) == (
        ["S1", "q2", "a2", "q3"],
        ["S2", "a2", "q3"],
    )
    assert (first.summary, first.tokens_before, first.archive) == ("S1", 104, 1)
    marks = [record for record in session.records if isinstance(record, CompactionRecord)]
    assert [(mark.archive, mark.kept, mark.summarised) for mark in marks] == [(1, 2, 2), (2, 2, 2)]
    assert numbers_of(session)["compactions"] == 2


def test_the_context_is_smaller_as_soon_as_it_was_compacted(tmp_path: Path) -> None:
    entries = [
        pi_header(3),
        pi_user("q1", "1"),
        pi_answer("a1", "2", "1", tokens=900),
        pi_entry("compaction", "3", "2", summary="S", tokensBefore=900, firstKeptEntryId="2"),
        pi_user("q2", "4", "3"),
        pi_answer("a2", "5", "4", tokens=70),
    ]
    session = import_session(write_lines(tmp_path / "s.jsonl", entries))
    counts = [(r.token_count, r.estimated) for r in session.records if isinstance(r, UsageRecord)]
    assert counts == [(903, False), (72, True), (73, False)]


def test_the_active_path_ends_at_the_last_entry_and_other_branches_are_kept(
    tmp_path: Path,
) -> None:
    session = import_session(
        write_lines(
            tmp_path / "s.jsonl",
            [
                pi_header(),
                pi_user("root", "1"),
                pi_answer("left", "2", "1"),
                pi_user("deeper", "3", "2"),
                pi_entry("branch_summary", "4", "1", fromId="3", summary="went left"),
                pi_answer("right", "5", "4"),
                pi_entry("label", "6", "5", targetId="1", label="start"),
                pi_entry("novelty", "7", "6", x=1),
            ],
        )
    )
    assert said(session.records) == ["root", "right"]
    assert [type(record) for record in session.records[2:]] == [
        *(BranchSummary, AssistantMessage, LabelRecord, UnknownRecord)
    ]
    (branch,) = session.archives
    assert branch.reason == "branch"
    assert said(branch.records) == ["root", "left", "deeper"]


def test_cycles_orphans_and_disorder_cannot_hang_or_lose_anything(tmp_path: Path) -> None:
    cycle = [pi_header(), pi_user("a", "1", "2"), pi_user("b", "2", "1")]
    assert said(import_session(write_lines(tmp_path / "c.jsonl", cycle)).records) == ["a", "b"]
    orphan = [pi_header(), pi_user("a", "1"), "torn {", pi_user("b", "3", "gone")]
    session = import_session(write_lines(tmp_path / "o.jsonl", orphan))
    assert (said(session.records), session.damaged) == (["a", "b"], 1)
    late = [pi_header(), pi_user("b", "2", "1"), pi_user("a", "1"), pi_user("c", "3", "2")]
    assert said(import_session(write_lines(tmp_path / "l.jsonl", late)).records) == ["a", "b", "c"]
    twice = [pi_header(), pi_user("a", "1"), pi_user("a", "1"), pi_user("b", "2", "1")]
    assert said(import_session(write_lines(tmp_path / "t.jsonl", twice)).records)[-2:] == ["a", "b"]


def test_a_file_of_nothing_but_branches_is_read_in_linear_time(tmp_path: Path) -> None:
    roots = [pi_user("x", str(number)) for number in range(20_000)]
    comb = [pi_user("y", f"c{n}", f"c{n - 2}" if n > 1 else None) for n in range(5_000)]
    entries = [pi_header(), *roots, *comb, pi_user("z", "z")]
    began = time.process_time()
    session = import_session(write_lines(tmp_path / "s.jsonl", entries))
    assert time.process_time() - began < 5
    assert said(session.records) == ["z"]
    assert len(session.archives) == 50


@pytest.mark.parametrize(
    "message",
    [
        None,
        3,
        {},
        {"role": "user"},
        {"role": "user", "content": 3},
        {"role": "x", "content": []},
        {"role": "assistant", "content": [{"type": "toolCall"}]},
        {"role": "assistant", "content": [{"type": "toolCall", "id": [], "name": "ls"}]},
        {"role": "assistant", "content": [{"type": "toolCall", "id": "c1", "name": 3}]},
        {"role": "toolResult", "toolCallId": ["c1"], "content": "a.txt"},
        {"role": "user", "content": [{"type": "text", "text": 3}]},
    ],
)
def test_entries_of_a_wrong_shape_are_kept_as_unknown(tmp_path: Path, message: object) -> None:
    entries = [pi_header(), pi_user("ok", "1"), pi_entry("message", "2", "1", message=message)]
    session = import_session(write_lines(tmp_path / "s.jsonl", entries))
    assert isinstance(session.records[-1], UnknownRecord)
    assert said(session.records) == ["ok"]
