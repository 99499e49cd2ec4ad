"""Rows of our sessions are read once; what changes on disk changes in the list."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.summary import SessionSummary
from agent_tui.library import own_sessions, row_cache
from agent_tui.library.own_sessions import OwnSessions, listed
from agent_tui.library.row_cache import CACHE, RowCache
from agent_tui.sessions.session_summary import read_session_summary
from agent_tui.sessions.store import SessionStore


def keep(root: Path, name: str, *prompts: str) -> Path:
    log = root / "projects" / "-w" / name / "context.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    lines: list[object] = [{"role": "_session", "format": 1, "session_id": name, "cwd": "/w"}]
    lines += [{"role": "user", "content": prompt} for prompt in prompts]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return log


def own(root: Path) -> OwnSessions:
    return OwnSessions(SessionStore(root), RowCache(root))


def titles(root: Path) -> set[str]:
    return {row.title for row in own(root).rows()}


def test_a_log_that_did_not_change_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path, "a", "one")
    changed = keep(tmp_path, "b", "two")
    assert own(tmp_path).rows() == SessionStore(tmp_path).list()
    read: list[str] = []

    def reading(folder: Path) -> SessionSummary:
        read.append(folder.name)
        return read_session_summary(folder)

    monkeypatch.setattr(own_sessions, "read_session_summary", reading)
    assert titles(tmp_path) == {"one", "two"}
    assert read == []
    changed.write_text(changed.read_text().replace("two", "three"))
    assert titles(tmp_path) == {"one", "three"}
    assert read == ["b"]


@pytest.mark.parametrize("at", ["20zzz", "9999-12-31T23:59:59Z", "-1"])
def test_a_time_that_cannot_be_so_is_unknown_and_the_log_tells(tmp_path: Path, at: str) -> None:
    log = keep(tmp_path, "a", "one")
    log.write_text(log.read_text().replace('"cwd"', f'"created_at": "{at}", "cwd"'))
    with log.open("a") as file:
        file.write(json.dumps({"role": "user", "content": "two", "at": at}) + "\n")
    os.utime(log, (1, 1_700_000_000))
    (row,) = own(tmp_path).rows()
    assert (row.created_at, row.updated_at) == ("2023-11-14T22:13:20Z",) * 2


def test_archives_that_come_and_sessions_that_go_are_seen(tmp_path: Path) -> None:
    log = keep(tmp_path, "a", "one")
    gone = keep(tmp_path, "b", "two")
    assert [row.archives for row in own(tmp_path).rows()] == [0, 0]
    log.with_name("context.jsonl.1").write_text(log.read_text())
    gone.unlink()
    assert own(tmp_path).rows() == SessionStore(tmp_path).list()
    assert [row.session_id for row in own(tmp_path).newest(9)] == ["a"]


def test_the_newest_come_by_name_before_anything_was_read(tmp_path: Path) -> None:
    for day in range(1, 10):
        keep(tmp_path, f"2026010{day}-000000-aa", f"prompt {day}")
    assert [row.title for row in own(tmp_path).newest(2)] == ["prompt 9", "prompt 8"]


def test_a_cache_that_is_no_database_is_done_without(tmp_path: Path) -> None:
    keep(tmp_path, "a", "one")
    (tmp_path / CACHE).write_bytes(b"no database " * 99)
    assert titles(tmp_path) == {"one"}
    assert titles(tmp_path) == {"one"}


def encoded(root: Path) -> list[Any]:
    return [json.loads(row) for row in own(root).encoded_rows()]


def test_rows_are_given_as_json_without_being_taken_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path, "a", "one")
    keep(tmp_path, "b", "two \u2028 \u00e9")
    keep(tmp_path, "mute")
    child = keep(tmp_path, "child", "three")
    header: dict[str, Any] = {"role": "_session", "format": 1, "session_id": "child", "cwd": "/w"}
    header["parent"] = {"agent_of": "a"}
    child.write_text(json.dumps(header) + "\n" + child.read_text().partition("\n")[2])
    expected = [asdict(row) for row in listed(own(tmp_path).rows())]
    assert {row["session_id"] for row in expected} == {"a", "b"}
    monkeypatch.setattr(row_cache, "_decoder", lambda: pytest.fail("a row was taken apart"))
    assert encoded(tmp_path) == expected


def test_rows_of_one_id_say_so_as_json_too(tmp_path: Path) -> None:
    log = keep(tmp_path, "a", "one")
    copy = tmp_path / "projects" / "-x" / "a" / "context.jsonl"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(log.read_bytes())
    titles = {row["title"] for row in encoded(tmp_path)}
    assert len(titles) == 2
    assert any(title.startswith("agent-tui open ") for title in titles)


def test_a_project_whose_name_is_no_text_is_listed(tmp_path: Path) -> None:
    keep(tmp_path, "a", "one")
    project = os.fsdecode(b"-home-\xff")
    try:
        (tmp_path / "projects" / "-w").rename(tmp_path / "projects" / project)
    except OSError:
        pytest.skip("the file system takes only text")
    for _ in range(2):
        assert titles(tmp_path) == {"one"}
        (row,) = encoded(tmp_path)
        assert row["folder"].endswith(f"{project}/a")
