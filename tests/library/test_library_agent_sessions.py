"""Other agents' sessions in the list: found where they are kept, read anew only when changed."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from agent_tui.core.times import time_of_file
from agent_tui.importers.importer import Places
from agent_tui.importers.registry import discover
from agent_tui.library.agent_sessions import AgentSessions
from agent_tui.library.row_cache import CACHE
from tests.importers.foreign_files import (
    claude_session,
    clawdcode_session,
    codex_session,
    gemini_session,
    kimi_session,
    opencode_session,
    pi_session,
    vibe_session,
    write_opencode_database,
    write_opencode_folder,
)
from tests.importers.session_files import write_lines

KEPT = {
    "claude-code": (".claude", "CLAUDE_CONFIG_DIR", "projects/-w/S.jsonl", claude_session),
    "clawdcode": (".clawdcode", "", "projects/w/C.jsonl", clawdcode_session),
    "codex": (".codex", "CODEX_HOME", "sessions/2026/01/02/rollout-1.jsonl", codex_session),
    "gemini": (".gemini", "GEMINI_CLI_HOME", "tmp/p/chats/session-1.jsonl", gemini_session),
    "kimi": (".kimi", "KIMI_SHARE_DIR", "sessions/ab/K/context.jsonl", kimi_session),
    "pi": (".pi/agent", "PI_CODING_AGENT_DIR", "sessions/--w--/1.jsonl", pi_session),
    "vibe": (".vibe", "VIBE_HOME", "logs/session/session_1/messages.jsonl", vibe_session),
}


def keep(source: str, folder: Path) -> Path:
    """Put a session where its agent would, below a folder."""
    _, _, place, make = KEPT[source]
    path = folder / place
    path.parent.mkdir(parents=True)
    return write_lines(path, make())


def keep_all(home: Path) -> dict[str, Path]:
    return {source: keep(source, home / KEPT[source][0]) for source in KEPT}


@pytest.mark.parametrize("source", KEPT)
def test_sessions_are_found_where_their_agent_keeps_them(source: str, tmp_path: Path) -> None:
    default, variable, _, _ = KEPT[source]
    path = keep(source, tmp_path / "home" / default)
    assert [(r.source, r.path) for r in discover(Places(tmp_path / "home"))] == [(source, path)]
    moved = tmp_path / "moved"
    own = moved / ".gemini" if source == "gemini" else moved
    other = keep(source, own)
    if variable:
        places = Places(tmp_path / "home", {variable: str(moved)})
        assert [ref.path for ref in discover(places)] == [other]
    chosen = Places(tmp_path / "home", {variable: "/nowhere"}, {source: own})
    assert [ref.path for ref in discover(chosen)] == [other]


def test_opencode_is_found_in_its_database_or_its_folder(tmp_path: Path) -> None:
    root = tmp_path / ".local" / "share" / "opencode"
    file = write_opencode_folder(root / "storage", opencode_session())
    assert [ref.path for ref in discover(Places(tmp_path))] == [file]
    database = write_opencode_database(root / "opencode.db", opencode_session())
    assert [(r.path, r.key) for r in discover(Places(tmp_path))] == [(database, "ses_1")]


def test_rows_say_what_a_person_looks_for(tmp_path: Path) -> None:
    keep_all(tmp_path)
    rows = AgentSessions(tmp_path / "data", Places(tmp_path)).rows()
    assert {row.source for row in rows} == set(KEPT)
    for row in rows:
        assert row.title in ("fix the bug", "list files")
        assert row.updated_at
        assert Path(row.folder).exists()


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    paths = keep_all(tmp_path)
    sessions = AgentSessions(tmp_path / "data", Places(tmp_path))
    assert sessions.cached_rows() == []
    before = sessions.rows()
    for path in paths.values():  # other words under the same size, time and inode: not looked at
        status = path.stat()
        path.write_bytes(path.read_bytes().replace(b"list files", b"LIST FILES"))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert sessions.rows() == before
    assert sorted(sessions.cached_rows(), key=str) == sorted(before, key=str)
    os.utime(paths["codex"], ns=(0, 2**62))
    first, *others = sessions.rows()
    assert (first.source, first.title) == ("codex", "LIST FILES")
    assert others == [row for row in before if row.source != "codex"]
    paths["codex"].unlink()
    assert len(sessions.rows()) == len(sessions.cached_rows()) == len(before) - 1


def test_a_cache_that_is_broken_or_gone_is_made_again(tmp_path: Path) -> None:
    keep_all(tmp_path)
    data = tmp_path / "data"
    sessions = AgentSessions(data, Places(tmp_path))
    before = sessions.rows()
    assert oct((data / CACHE).stat().st_mode)[-3:] == "600"
    (data / CACHE).write_bytes(b"no database " * 99)
    assert sessions.rows() == before
    assert sessions.rows() == before
    (data / CACHE).unlink()
    assert sessions.rows() == before


def test_the_first_rows_come_before_the_rest_is_read(tmp_path: Path) -> None:
    for number in range(60):
        path = tmp_path / ".claude" / "projects" / "-w" / f"{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_lines(path, claude_session())
    batches = AgentSessions(tmp_path / "data", Places(tmp_path)).batches()
    assert len(next(batches)) == 20
    assert sum(map(len, batches)) == 40


def test_links_and_sessions_without_a_word_are_left_out(tmp_path: Path) -> None:
    write_lines(keep("gemini", tmp_path / ".gemini"), gemini_session()[:1])
    keep("codex", tmp_path / ".codex")
    folder = tmp_path / ".claude" / "projects"
    folder.mkdir(parents=True)
    (folder / "link").symlink_to("/")
    (folder / "-w").symlink_to(tmp_path / ".codex" / "sessions" / "2026")
    rows = AgentSessions(tmp_path / "data", Places(tmp_path)).rows()
    assert [row.source for row in rows] == ["codex"]


HOSTILE_TIMES = ("20zzz", "9999-12-31T23:59:59Z", "2099-01-01T00:00:00Z", "-1", -1e300, 4e12)


@pytest.mark.parametrize("at", HOSTILE_TIMES)
@pytest.mark.parametrize("source", ["claude-code", "codex", "gemini", "pi", "vibe", "opencode"])
def test_a_time_that_cannot_be_so_is_unknown_and_the_file_tells(
    source: str, at: object, tmp_path: Path
) -> None:
    path = _keep_with_times(source, tmp_path, at)
    os.utime(path, (1, 1_700_000_000))
    (row,) = AgentSessions(tmp_path / "data", Places(tmp_path)).rows()
    assert row.updated_at == "2023-11-14T22:13:20Z"
    before = time_of_file(time.time())
    os.utime(path, (1, 300_000_000_000))  # its time may be any, too
    (row,) = AgentSessions(tmp_path / "data", Places(tmp_path)).rows()
    assert before <= row.updated_at <= time_of_file(time.time())


def _keep_with_times(source: str, home: Path, at: object) -> Path:
    if source == "opencode":
        session = opencode_session()
        session["info"]["time"] = {"created": at, "updated": at}
        folder = home / ".local" / "share" / "opencode"
        return write_opencode_folder(folder / "storage", session)
    path = keep(source, home / KEPT[source][0])
    text = path.read_text()
    path.write_text(
        re.sub(
            r'("(?:timestamp|startTime|lastUpdated)": ?)"[^"]*"', rf"\g<1>{json.dumps(at)}", text
        )
    )
    meta = path.with_name("meta.json")
    if source == "vibe":
        meta.write_text(json.dumps({"start_time": at, "end_time": at}))
    return path


@pytest.mark.skipif(not os.geteuid(), reason="root may read everything")
def test_what_may_not_be_read_is_a_row_that_says_why(tmp_path: Path) -> None:
    keep("codex", tmp_path / ".codex").chmod(0)
    (row,) = AgentSessions(tmp_path / "data", Places(tmp_path)).rows()
    assert "permission was denied" in row.title
