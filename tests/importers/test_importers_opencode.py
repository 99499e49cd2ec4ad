"""OpenCode: a database, a folder of small files, or an export say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    AssistantMessage,
    Record,
    RevertRecord,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.importers.importer import Places
from agent_tui.importers.registry import discover, import_session, locate, read_tail
from tests.importers.foreign_files import (
    FORMATS,
    opencode_session,
    write_opencode_database,
    write_opencode_folder,
)
from tests.importers.session_files import unaccounted


def texts(records: tuple[Record, ...]) -> list[str]:
    kinds = (UserMessage, AssistantMessage, ToolMessage)
    return [text_of(record.content) for record in records if isinstance(record, kinds)]


def message(id_: str, role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    info = {"id": id_, "role": role, "time": {"created": 1}, **more}
    return {"info": info, "parts": [{"id": f"{id_}p{n}", **p} for n, p in enumerate(parts)]}


def test_the_three_stores_say_the_same(tmp_path: Path) -> None:
    names = ("opencode database", "opencode folder", "opencode export")
    sessions = []
    for name in names:
        folder = tmp_path / name
        folder.mkdir()
        sessions.append(import_session(FORMATS[name][1](folder)))
    assert [texts(session.records) for session in sessions] == [
        ["list files", "", "a.txt", "one file"]
    ] * 3
    assert {session.accounting.read for session in sessions} == {1 + 2 + 7}
    assert {session.title for session in sessions} == {"List"}
    (usage,) = (r for r in sessions[0].records if isinstance(r, UsageRecord))
    assert usage.token_count == 105


def test_a_compaction_hides_what_precedes_it(tmp_path: Path) -> None:
    session = opencode_session()
    text = {"type": "text", "text": "so far"}
    session["messages"] += [
        message("msg_3", "user", {"type": "compaction", "auto": True, "tail_start_id": "msg_2"}),
        message("msg_4", "assistant", text, summary=True),
        message("msg_5", "user", {"type": "text", "text": "next"}),
    ]
    found = import_session(write_opencode_database(tmp_path / "opencode.db", session))
    (compaction,) = found.compactions
    assert texts(compaction.before) == ["list files", "", "a.txt", "one file"]
    assert texts(compaction.after) == ["so far", "", "a.txt", "one file"]
    assert texts(found.records) == [*texts(compaction.before), "so far", "next"]
    assert texts(found.context)[-1] == "next"
    assert unaccounted(found.accounting) == 0


def test_a_revert_hides_what_follows_it(tmp_path: Path) -> None:
    session = opencode_session()
    session["info"]["revert"] = {"messageID": "msg_2"}
    folder = tmp_path / "storage"
    found = import_session(write_opencode_folder(folder, session))
    assert texts(found.records) == ["list files"]
    assert isinstance(found.records[-1], RevertRecord)
    (archive,) = found.archives
    assert (archive.reason, texts(archive.records)[-1]) == ("user", "one file")


def test_subagents_are_children_and_only_sessions_of_people_are_listed(tmp_path: Path) -> None:
    child = opencode_session()
    child["info"] |= {"id": "ses_2", "parentID": "ses_1", "title": "Helper"}
    folder = tmp_path / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    path = write_opencode_database(folder / "opencode.db", opencode_session(), child)
    found = import_session(path)
    assert [(each.session_id, each.title) for each in found.children] == [("ses_2", "Helper")]
    inner = import_session(Path(found.children[0].path))
    assert (inner.session_id, inner.title) == ("ses_2", "Helper")
    assert [ref.key for ref in discover(Places(tmp_path))] == ["ses_1"]


def test_the_last_messages_of_a_database_are_read_alone(tmp_path: Path) -> None:
    session = opencode_session()
    text = {"type": "text", "text": "more"}
    session["messages"] += [message(f"msg_{n:04}", "user", text) for n in range(100, 200)]
    path = write_opencode_database(tmp_path / "opencode.db", session)
    tail = read_tail(locate(path), 10)
    assert (texts(tail.records), tail.is_whole) == (["more"] * 10, False)
