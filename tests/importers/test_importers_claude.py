"""Claude Code: answers of many lines, branches that are none, real rewinds, both compactions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.messages import DiffDisplay, MediaPart, TextPart, ThinkPart, text_of
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    Record,
    ToolMessage,
    UnknownRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.history.found_record import FoundLine, find_record
from agent_tui.importers.imported import ImportedSession
from agent_tui.importers.registry import import_session, resume_command
from tests.importers.foreign_files import (
    called,
    claude_answer,
    claude_line,
    claude_session,
    claude_user,
    returned,
    said,
)
from tests.importers.session_files import unaccounted, write_lines


def load(tmp_path: Path, lines: list[Any]) -> ImportedSession:
    session = import_session(write_lines(tmp_path / "S.jsonl", lines))
    assert unaccounted(session.accounting) == 0
    assert session.accounting.read == len(lines)
    return session


def texts(records: tuple[Record, ...]) -> list[str]:
    kinds = (UserMessage, AssistantMessage, ToolMessage)
    return [text_of(record.content) for record in records if isinstance(record, kinds)]


def test_the_lines_of_one_answer_are_one_message_with_the_largest_usage(tmp_path: Path) -> None:
    session = load(tmp_path, claude_session())
    assert texts(session.records) == ["fix the bug", "Looking.", "ok", "no", "Done."]
    first, last = (r for r in session.records if isinstance(r, AssistantMessage))
    assert [call.id for call in first.tool_calls] == ["t1", "t2"]
    assert (first.model, last.tool_calls) == ("m", ())
    usage = [r.token_count for r in session.records if isinstance(r, UsageRecord)]
    assert usage == [3 + 9 + 31, 3 + 9 + 4]
    assert session.accounting.skipped == {
        "attachment: skill_listing": 1,
        "last-prompt": 1,
        "permission-mode": 1,
        "progress": 1,
    }


def test_what_hangs_beside_each_other_is_no_branch(tmp_path: Path) -> None:
    replayed = claude_user("v1", "u1", 1, "fix the bug!")
    session = load(tmp_path, [*claude_session(), replayed])
    assert session.archives == ()


def test_a_prompt_that_answers_the_same_message_later_is_a_rewind(tmp_path: Path) -> None:
    lines = claude_session()[:-1]
    attachment = claude_line("attachment", "x2", "a4", 7, attachment={"type": "task_reminder"})
    session = load(
        tmp_path,
        [
            *lines,
            claude_user("u2", "a4", 8, "go left"),
            claude_answer("a5", "u2", 9, "msg_3", said("left")),
            attachment,
            claude_user("u3", "x2", 10, "go right"),
            claude_answer("a6", "u3", 11, "msg_4", said("right")),
        ],
    )
    assert texts(session.records)[-2:] == ["go right", "right"]
    (branch,) = session.archives
    assert branch.reason == "branch"
    assert texts(branch.records) == [*texts(session.records)[:5], "go left", "left"]


def test_the_last_prompt_tells_which_branch_is_the_present(tmp_path: Path) -> None:
    begin = [claude_user("u1", None, 1, "begin"), claude_answer("a1", "u1", 2, "m1", said("ok"))]
    sides = [claude_user("u2", "a1", 3, "left"), claude_user("u3", "a1", 4, "right")]
    told = {"type": "last-prompt", "sessionId": "S", "leafUuid": "u2"}
    assert texts(load(tmp_path, [*begin, *sides, told]).records)[-1] == "left"
    answer = claude_answer("a3", "u3", 5, "m3", said("on the right"))
    session = load(tmp_path, [*begin, *sides, told, answer])
    assert texts(session.records)[-1] == "on the right"


def boundary(parent: str, **more: Any) -> dict[str, Any]:
    told = {"trigger": "auto", "preTokens": 900, **more}
    line = claude_line("system", "b1", None, 20, subtype="compact_boundary", compactMetadata=told)
    return {**line, "logicalParentUuid": parent}


def test_a_compaction_has_two_sides_and_hides_nothing(tmp_path: Path) -> None:
    summary = claude_user("s1", "b1", 20, "so far", isCompactSummary=True)
    after = claude_answer("a5", "s1", 21, "msg_3", said("on"), tokens=7)
    session = load(tmp_path, [*claude_session()[:-1], boundary("a4"), summary, after])
    (compaction,) = session.compactions
    assert texts(compaction.before) == ["fix the bug", "Looking.", "ok", "no", "Done."]
    assert texts(compaction.after) == ["so far"]
    assert (compaction.summary, compaction.tokens_before) == ("so far", 900)
    assert texts(session.context) == ["so far", "on"]
    assert texts(session.records) == [*texts(compaction.before), "so far", "on"]
    (record,) = (r for r in session.records if isinstance(r, CompactionRecord))
    assert (record.trigger, record.post_tokens, record.summarised) == ("auto", 12, 5)


def test_messages_that_a_compaction_preserved_stay_in_the_context(tmp_path: Path) -> None:
    preserved = {"preservedSegment": {"headUuid": "r2", "tailUuid": "a4"}, "postTokens": 50}
    summary = claude_user("s1", "b1", 20, "so far", isCompactSummary=True)
    session = load(tmp_path, [*claude_session()[:-1], boundary("a4", **preserved), summary])
    assert texts(session.context) == ["no", "Done.", "so far"]
    (compaction,) = session.compactions
    assert compaction.summary == "so far"
    (record,) = (r for r in session.records if isinstance(r, CompactionRecord))
    assert (record.kept, record.post_tokens) == (2, 50)


def test_subagents_are_children_wherever_they_are_written(tmp_path: Path) -> None:
    side = [
        claude_user("c1", None, 3, "look around", isSidechain=True),
        claude_answer("c2", "c1", 4, "msg_9", said("seen"), isSidechain=True),
    ]
    started = claude_user("r3", "a4", 9, [returned("t3")], toolUseResult={"agentId": "77"})
    folder = tmp_path / "S" / "subagents"
    folder.mkdir(parents=True)
    own = [{**line, "agentId": "77"} for line in side]
    agent = write_lines(folder / "agent-77.jsonl", own)
    session = load(tmp_path, [*claude_session()[:-1], started, *side])
    inline, file = session.children
    assert (texts(inline.records), inline.title) == (["look around", "seen"], "look around")
    assert (file.path, file.title, file.tool_call_id) == (str(agent), "look around", "t3")
    assert "seen" not in texts(session.records)
    alone = import_session(agent)
    assert (texts(alone.records), alone.session_id) == (["look around", "seen"], "agent-77")


def test_subagents_stand_in_the_order_of_their_calls(tmp_path: Path) -> None:
    folder = tmp_path / "S" / "subagents"
    folder.mkdir(parents=True)
    for agent in ("11", "22", "33"):
        line = claude_user("c1", None, 3, f"ask {agent}", isSidechain=True, agentId=agent)
        write_lines(folder / f"agent-{agent}.jsonl", [line])
    told = [
        claude_user(f"r{agent}", "a4", 9, [returned(f"t{agent}")], toolUseResult={"agentId": agent})
        for agent in ("33", "22")
    ]
    session = load(tmp_path, [*claude_session()[:-1], *told])
    assert [child.session_id for child in session.children] == ["11", "33", "22"]


def test_only_the_session_of_a_person_can_be_resumed_by_its_agent(tmp_path: Path) -> None:
    session = load(tmp_path, claude_session())
    line = claude_user("c1", None, 3, "look", isSidechain=True, agentId="77")
    agent = write_lines(tmp_path / "agent-77.jsonl", [line])
    assert resume_command(session) == "cd /w && claude --resume S"
    assert resume_command(import_session(agent)) == ""


def test_edits_show_their_change_and_refusals_are_told_apart(tmp_path: Path) -> None:
    hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}
    patch = {"filePath": "x.py", "structuredPatch": [hunk]}
    new = {"filePath": "n.py", "type": "create", "content": "one\ntwo", "structuredPatch": []}
    refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected"
    session = load(
        tmp_path,
        [
            claude_user("u1", None, 1, "edit"),
            claude_answer("a1", "u1", 2, "m1", called("t1"), called("t2"), called("t3")),
            claude_user("r1", "a1", 3, [returned("t1")], toolUseResult=patch),
            claude_user("r2", "a1", 3, [returned("t2")], toolUseResult=new),
            claude_user("r3", "a1", 3, [returned("t3", refusal)], toolUseResult="Error"),
        ],
    )
    edit, create, refused = (r for r in session.records if isinstance(r, ToolMessage))
    assert edit.display == DiffDisplay("x.py", "--- a/x.py\n+++ b/x.py\n@@ -1,1 +1,1 @@\n-a\n+b")
    assert isinstance(create.display, DiffDisplay)
    assert create.display.diff.endswith("+one\n+two")
    assert (refused.rejected, refused.display) == (True, None)


def test_titles_origins_and_thinking_are_told(tmp_path: Path) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    queued = {"type": "queued_command", "prompt": "and B", "commandMode": "prompt"}
    session = load(
        tmp_path,
        [
            {"type": "summary", "summary": "Of another", "leafUuid": "gone"},
            {"type": "summary", "summary": "Of this", "leafUuid": "a1"},
            claude_user("u0", None, 1, "Caveat: The messages below were generated", isMeta=True),
            claude_user("u1", "u0", 1, [said("<ide_opened_file>x</ide_opened_file>"), said("A")]),
            claude_line("attachment", "q1", "u1", 2, attachment=queued),
            claude_answer("a1", "q1", 3, "m1", thinking, said("ok")),
            claude_user("i1", "a1", 4, [said("[Request interrupted by user]")]),
        ],
    )
    assert session.title == "Of this"
    assert session.accounting.skipped == {"title of another session": 1}
    users = [r.origin for r in session.records if isinstance(r, UserMessage)]
    assert users == ["reminder", "human", "steer", "reminder"]
    (answer,) = (r for r in session.records if isinstance(r, AssistantMessage))
    assert answer.content[0] == ThinkPart("hm", "sig")
    named = {"type": "custom-title", "sessionId": "S", "customTitle": "Mine"}
    renamed = {"type": "ai-title", "sessionId": "S", "aiTitle": "Its"}
    assert load(tmp_path, [*claude_session(), named, renamed]).title == "Mine"


def test_a_line_that_was_logged_again_is_shown_once(tmp_path: Path) -> None:
    lines = claude_session()
    session = load(tmp_path, [*lines[:-1], lines[1], lines[3], lines[-1]])
    assert session.accounting.skipped["repeated line"] == 2
    assert texts(session.records).count("fix the bug") == 1


@pytest.mark.parametrize("content", [None, 3, "x", ["x"], [{"type": "image"}]])
def test_contents_of_any_shape_are_kept(tmp_path: Path, content: object) -> None:
    session = load(tmp_path, [*claude_session(), claude_user("u9", "a4", 30, content)])
    assert isinstance(session.records[-1], UserMessage)


@pytest.mark.parametrize(
    ("attachment", "shown"),
    [
        (
            {
                "type": "file",
                "filename": "/w/a.txt",
                "displayPath": "a.txt",
                "content": {"type": "text", "file": {"filePath": "/w/a.txt", "content": "tide"}},
            },
            "a.txt\ntide",
        ),
        ({"type": "edited_text_file", "filename": "/w/a.txt", "snippet": "1 tide"}, "1 tide"),
        ({"type": "compact_file_reference", "filename": "/w/a.txt", "displayPath": "a"}, "a"),
        (
            {"type": "nested_memory", "path": "/w/CLAUDE.md", "content": {"content": "Be brief"}},
            "/w/CLAUDE.md\nBe brief",
        ),
        (
            {
                "type": "selected_lines_in_ide",
                "filename": "/w/a.txt",
                "lineStart": 3,
                "lineEnd": 4,
                "content": "tide",
            },
            "/w/a.txt:3-4\ntide",
        ),
        ({"type": "directory", "path": "/w/src", "content": "one.py"}, "/w/src\none.py"),
        ({"type": "opened_file_in_ide", "filename": ["odd"]}, "a file"),
    ],
)
def test_a_file_that_the_model_was_shown_is_a_quiet_message(
    tmp_path: Path, attachment: dict[str, Any], shown: str
) -> None:
    lines = claude_session()
    lines.insert(3, claude_line("attachment", "x2", "u1", 1, attachment=attachment))
    session = import_session(write_lines(tmp_path / "S.jsonl", lines))
    found = next(record for record in session.records if record.stamp.uuid == "x2")
    assert isinstance(found, UserMessage)
    assert found.origin == "reminder"
    assert shown in text_of(found.content)
    assert unaccounted(session.accounting) == 0
    assert find_record(session.records, FoundLine(found.stamp.at or "", shown)) is not None


def test_a_copy_that_repeats_its_original_is_named_as_its_file(tmp_path: Path) -> None:
    own = claude_user("u9", "a4", 9, "more")
    path = write_lines(tmp_path / "T.jsonl", [*claude_session(), {**own, "sessionId": "T"}])
    session = import_session(path)
    assert (session.session_id, resume_command(session)) == ("T", "cd /w && claude --resume T")


def test_a_picture_that_the_model_was_shown_is_one(tmp_path: Path) -> None:
    lines = claude_session()
    file = {"base64": "aGk=", "type": "image/webp"}
    told = {"type": "file", "filename": "a.webp", "content": {"type": "image", "file": file}}
    lines.insert(3, claude_line("attachment", "x2", "u1", 1, attachment=told))
    session = import_session(write_lines(tmp_path / "S.jsonl", lines))
    found = next(record for record in session.records if record.stamp.uuid == "x2")
    assert isinstance(found, UserMessage)
    url = "data:image/webp;base64,aGk="
    assert found.content == (TextPart("a.webp"), MediaPart("image_url", url))


def test_an_attachment_of_an_unknown_kind_is_kept_raw(tmp_path: Path) -> None:
    lines = claude_session()
    novelty = {"type": "novelty", "content": "what nobody knows yet"}
    lines.insert(3, claude_line("attachment", "x2", "u1", 1, attachment=novelty))
    session = import_session(write_lines(tmp_path / "S.jsonl", lines))
    assert session.accounting.unknown == {"attachment": 1}
    assert session.accounting.skipped["attachment: skill_listing"] == 1
    (kept,) = [r for r in session.records if isinstance(r, UnknownRecord)]
    assert kept.fields["attachment"] == novelty
