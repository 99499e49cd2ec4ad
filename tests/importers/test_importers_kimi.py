"""Logs in kimi's layout and in ours: what was said, by whom, and why a log was rotated."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    CompactionRecord,
    RevertRecord,
    UnknownRecord,
    UserMessage,
)
from agent_tui.importers.imported import ImportedSession
from agent_tui.importers.registry import import_session
from tests.importers.session_files import (
    DMAIL,
    SUMMARY,
    answer,
    checkpoint,
    numbers_of,
    result,
    system,
    usage,
    user,
    write_lines,
)


def origins(session: ImportedSession) -> list[tuple[str | None, str]]:
    messages = [record for record in session.records if isinstance(record, UserMessage)]
    return [(message.origin, text_of(message.content)[:24]) for message in messages]


def test_a_plain_log_is_counted_and_read(tmp_path: Path) -> None:
    log = write_lines(
        tmp_path / "context.jsonl",
        [
            *(system(), checkpoint(0), user("list files"), checkpoint(1), usage(50)),
            *(answer("", "c1"), usage(52), result("c1"), checkpoint(2), answer("two files")),
            usage(60),
        ],
    )
    session = import_session(log)
    assert numbers_of(session) == {
        "messages": 4,
        "checkpoints": 3,
        "token_count": 60,
        "compactions": 0,
        "damaged": 0,
        "archives": 0,
    }
    assert session.source == "kimi"
    assert session.title == "list files"
    assert import_session(tmp_path) == session


def test_who_spoke_is_told_from_what_kimi_writes(tmp_path: Path) -> None:
    log = write_lines(
        tmp_path / "context.jsonl",
        [
            *(checkpoint(0), user("<system>CHECKPOINT 0</system>"), user("first"), checkpoint(1)),
            *(answer("", "c1"), result("c1"), user("also do B"), checkpoint(2), answer("done")),
            *(checkpoint(3), user("second"), user(DMAIL), user("<system-reminder>x")),
            *(user(SUMMARY, "so far"), user("kept prompt"), answer("kept"), user("kept too")),
        ],
    )
    assert [origin for origin, _ in origins(import_session(log))] == [
        *("checkpoint", "human", "steer", "human", "dmail", "reminder"),
        *("compaction", "human", "human"),
    ]


def test_a_compaction_is_seen_from_both_sides(tmp_path: Path) -> None:
    head = [system(), checkpoint(0)]
    kept = [answer("one", "c1"), result("c1")]
    write_lines(
        tmp_path / "context_1.jsonl",
        [*head, user("do it"), usage(900), answer("zero"), *kept, usage(950)],
    )
    live = write_lines(
        tmp_path / "context.jsonl",
        [*head, user(SUMMARY, "so far"), *kept, usage(70), checkpoint(1), answer("final")],
    )
    session = import_session(live)
    (compaction,) = session.compactions
    (archive,) = session.archives
    assert (archive.number, archive.reason) == (1, "compaction")
    assert compaction.before == archive.records
    assert compaction.after == session.records
    assert compaction.summary == "so far"
    assert compaction.tokens_before == 950
    records = [record for record in session.records if isinstance(record, CompactionRecord)]
    assert records == [
        CompactionRecord("", "", pre_tokens=950, post_tokens=70, archive=1, kept=2, summarised=2)
    ]


def test_rotations_are_ordered_by_number_and_read_as_a_chain(tmp_path: Path) -> None:
    first = [system(), checkpoint(0), user("do it"), checkpoint(1), answer("one")]
    second = [system(), user(SUMMARY, "S1"), answer("one"), answer("two")]
    third = [system(), user(SUMMARY, "S2"), answer("two"), user("x"), answer("three")]
    for number in range(1, 10):
        write_lines(tmp_path / f"context_{number}.jsonl", [*first, answer(str(number))])
    write_lines(tmp_path / "context_10.jsonl", second)
    write_lines(tmp_path / "context_2.jsonl.bak", ["junk"])
    session = import_session(write_lines(tmp_path / "context.jsonl", third))
    assert [archive.number for archive in session.archives] == list(range(1, 11))
    assert [(c.archive, c.summary) for c in session.compactions] == [(9, "S1"), (10, "S2")]
    rotated = import_session(tmp_path / "context_10.jsonl")
    assert len(rotated.archives) == 9
    assert [c.summary for c in rotated.compactions] == ["S1"]


def test_a_dmail_and_a_clear_are_told_apart(tmp_path: Path) -> None:
    begin = [system(), checkpoint(0), user("go"), checkpoint(1)]
    write_lines(tmp_path / "context_1.jsonl", [*begin, answer("too long", "c1"), result("c1")])
    write_lines(tmp_path / "context_2.jsonl", [*begin, user(DMAIL), answer("short")])
    live = write_lines(tmp_path / "context.jsonl", [system(), checkpoint(0), user("new")])
    session = import_session(live)
    assert [archive.reason for archive in session.archives] == ["dmail", "clear"]
    assert session.records[1] == RevertRecord(2, "clear")
    assert RevertRecord(1, "dmail", 1) in session.archives[1].records


def test_a_summary_whose_old_log_is_gone_still_counts(tmp_path: Path) -> None:
    live = write_lines(tmp_path / "context.jsonl", [system(), user(SUMMARY, "S"), answer("a")])
    (compaction,) = import_session(live).compactions
    assert (compaction.archive, compaction.before, compaction.summary) == (0, (), "S")


def test_our_own_rotations_say_themselves_why(tmp_path: Path) -> None:
    header = {"role": "_session", "session_id": "s-1", "cwd": "/w", "created_at": "", "version": ""}
    begin = [header, system(), {"role": "_title", "title": "My talk"}, checkpoint(0), user("go")]
    told = {"role": "_compaction", "archive": 1, "pre_tokens": 9, "trigger": "manual"}
    summary = {"role": "user", "content": "so far", "origin": "compaction"}
    reverted = {"role": "_revert", "archive": 2, "reason": "user", "checkpoint": 0}
    write_lines(tmp_path / "context.jsonl.1", [*begin, answer("long")])
    write_lines(tmp_path / "context.jsonl.2", [*begin[:3], told, summary, answer("b")])
    live = write_lines(tmp_path / "context.jsonl", [*begin[:3], told, summary, reverted])
    session = import_session(live)
    assert (session.source, session.session_id, session.cwd) == ("agent-tui", "s-1", "/w")
    assert session.title == "My talk"
    assert [archive.reason for archive in session.archives] == ["compaction", "user"]
    (compaction,) = session.compactions
    assert compaction.before == session.archives[0].records
    assert compaction.after == session.archives[1].records
    assert (compaction.summary, compaction.tokens_before) == ("so far", 9)
    assert numbers_of(import_session(tmp_path / "context.jsonl.2"))["archives"] == 1


def test_only_the_active_branch_of_a_log_of_ours_counts(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": text, "uuid": text, "parent_uuid": parent}
        for text, parent in (("a", None), ("left", "a"), ("right", "h"))
    ]
    head = {"role": "_head", "to": "a", "uuid": "h", "parent_uuid": "left"}
    log = write_lines(tmp_path / "context.jsonl", [*said[:2], head, said[2]])
    assert [text for _, text in origins(import_session(log))] == ["a", "right"]
    lost = write_lines(tmp_path / "lost.jsonl", [*said[:2], {**head, "to": "gone"}, said[2]])
    assert [text for _, text in origins(import_session(lost))] == ["a", "left", "right"]


def test_bad_lines_are_counted_and_good_ones_around_them_load(tmp_path: Path) -> None:
    log = tmp_path / "context.jsonl"
    log.write_bytes(
        b'\xef\xbb\xbf{"role":"user","content":"one\xe2\x80\xa8line"}\n'
        b"not json\n\n" + bytes(4096) + b"\n"
        b'{"role":"user","content":\xff}\n{"role":"user","content":"\xff"}\n'
        b'{"role":"_usage","token_count":NaN}\n'
        b'{"role":"user"}\n'
        b'[1]\n\0\0\0{"role":"assistant","content":"two"}\0\n'
        b'{"role":"user","content":"half a \\ud83d pair"}\n'
        b'{"role":"_novel","x":1}\n' + b'{"a":' * 500 + b"}" * 500 + b"\n"
        b'{"role":"user","content":"torn'
    )
    session = import_session(log)
    assert session.damaged == 9
    assert numbers_of(session)["messages"] == 3
    assert session.records[-1] == UnknownRecord("_novel", {"role": "_novel", "x": 1})


def test_an_unreadable_rotation_does_not_hide_the_rest(tmp_path: Path) -> None:
    (tmp_path / "context_1.jsonl").mkdir()
    write_lines(tmp_path / "context_2.jsonl", [user("old")])
    session = import_session(write_lines(tmp_path / "context.jsonl", [user("new")]))
    assert [archive.number for archive in session.archives] == [2]


def test_title_and_folder_come_from_the_files_beside_it(tmp_path: Path) -> None:
    digest = hashlib.md5(b"/home/me/project", usedforsecurity=False).hexdigest()
    folder = tmp_path / "sessions" / digest / "the-id"
    folder.mkdir(parents=True)
    write_lines(tmp_path / "kimi.json", [{"work_dirs": [{"path": "/home/me/project"}, 3]}])
    write_lines(folder / "state.json", [{"custom_title": "A title"}])
    session = import_session(write_lines(folder / "context.jsonl", [user("hi")]))
    assert (session.session_id, session.cwd) == ("the-id", "/home/me/project")
    assert session.title == "A title"
    write_lines(tmp_path / "kimi.json", ["[torn"])
    write_lines(folder / "state.json", ["nope"])
    bare = import_session(folder / "context.jsonl")
    assert bare == replace(session, cwd="", title="hi")
