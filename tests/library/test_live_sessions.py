"""Live marks: what a process holds open, or what a log waits for, counts, and nothing else does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.format import parse_time
from agent_tui.core.summary import OURS, SessionSummary
from agent_tui.importers.registry import locate, summarise
from agent_tui.library import live_sessions
from agent_tui.library.live_sessions import find_live
from agent_tui.sessions.lock import OWNER, Ownership
from tests.importers.foreign_files import (
    called,
    claude_answer,
    claude_user,
    codex_session,
    returned,
    said,
)
from tests.importers.session_files import write_lines

ASKED = claude_user("u", None, 1, "run the tests")
CALLED = claude_answer("a", "u", 2, "m", said("I run them."), called("t", "Bash", command="make"))
ANSWERED = claude_user("r", "a", 3, [returned("t", "ok")])
DONE = claude_answer("d", "r", 4, "n", said("They pass."))
ASKED_MORE = claude_user("v", "d", 5, "once more")


def row_of(path: Path, age: timedelta = timedelta(minutes=5)) -> SessionSummary:
    at = (datetime.now(UTC) - age).isoformat(timespec="seconds")
    return replace(summarise(locate(path)), updated_at=at)


def claude(tmp_path: Path, *lines: Any) -> Path:
    return write_lines(tmp_path / "S.jsonl", list(lines))


def ours(tmp_path: Path) -> SessionSummary:
    folder = tmp_path / "mine"
    folder.mkdir()
    header = {"role": "_session", "format": 1, "session_id": "mine", "cwd": "/w"}
    (folder / "context.jsonl").write_text(json.dumps(header) + "\n")
    about = ("mine", str(folder), "Mine", "/w", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")
    return SessionSummary(*about, size_bytes=1, archives=0, source=OURS)


@contextmanager
def held_by_another_process(path: Path, mode: str) -> Iterator[None]:
    program = (
        "import fcntl, sys; file = open(sys.argv[1], sys.argv[2])\n"
        "fcntl.flock(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(path), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"held\n"
        yield
        process.stdin.close()


@pytest.mark.parametrize(
    ("lines", "minutes", "is_live"),
    [
        ((ASKED, CALLED), 5, True),
        ((ASKED, CALLED), 59, True),
        ((ASKED, CALLED), 61, False),
        ((ASKED, CALLED, ANSWERED, DONE), 5, False),
        ((ASKED, CALLED, ANSWERED, DONE, ASKED_MORE), 5, True),
        ((ASKED, CALLED, ANSWERED, DONE, ASKED_MORE), 15, False),
        ((ASKED, CALLED, ASKED_MORE, DONE), 5, False),
    ],
)
def test_a_log_that_waits_for_a_result_or_an_answer_is_live_for_a_while(
    tmp_path: Path, lines: tuple[Any, ...], minutes: int, is_live: bool
) -> None:
    row = row_of(claude(tmp_path, *lines), timedelta(minutes=minutes))
    assert find_live([row]) == ({(row.source, row.folder)} if is_live else frozenset())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells who has it open")
@pytest.mark.parametrize(("mode", "is_live"), [("a", True), ("r", False)])
def test_a_log_that_a_process_keeps_open_for_writing_is_live_however_old(
    tmp_path: Path, mode: str, is_live: bool
) -> None:
    row = row_of(write_lines(tmp_path / "rollout-1.jsonl", codex_session()), timedelta(days=9))
    assert find_live([row]) == frozenset()
    with held_by_another_process(Path(row.folder), mode):
        assert find_live([row]) == ({(row.source, row.folder)} if is_live else frozenset())


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="only Linux tells where it runs")
@pytest.mark.parametrize(
    ("program", "place", "lines", "is_live"),
    [
        ("claude", "w", (ASKED, CALLED), True),
        ("claude", "w", (ASKED,), True),
        ("claude", "elsewhere", (ASKED, CALLED), False),
        ("codex", "w", (ASKED, CALLED), False),
        ("claude", "w", (ASKED, CALLED, ANSWERED, DONE), False),
    ],
)
def test_a_call_is_awaited_as_long_as_the_agent_runs_in_its_folder(
    tmp_path: Path, program: str, place: str, lines: tuple[Any, ...], is_live: bool
) -> None:
    path = claude(tmp_path, *lines)
    row = replace(row_of(path, timedelta(hours=9)), cwd=str(tmp_path / "w"))
    older = replace(row_of(path, timedelta(hours=10)), cwd=row.cwd, folder=f"{tmp_path}/older")
    assert find_live([row, older]) == frozenset()
    (tmp_path / place).mkdir()
    script = tmp_path / program
    script.write_text("import sys; print('runs', flush=True); sys.stdin.read()")
    command = [sys.executable, str(script)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path / place, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"runs\n"
        found = find_live([row, older])
        process.stdin.close()
    assert found == ({(row.source, row.folder)} if is_live else frozenset())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells who has it open")
def test_a_session_is_known_by_any_path_to_it(tmp_path: Path) -> None:
    row = ours(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    with held_by_another_process(Path(row.folder, OWNER), "a"):
        linked = replace(row, folder=str(tmp_path / "link" / "mine"))
        assert find_live([linked]) == {(OURS, linked.folder)}


@pytest.mark.parametrize("is_told", [True, False])
def test_our_session_is_live_as_long_as_a_window_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_told: bool
) -> None:
    if not is_told:
        monkeypatch.setattr(live_sessions, "_PROCESSES", tmp_path / "nowhere")
    row = ours(tmp_path)
    owner = Path(row.folder, OWNER)
    owner.write_text("1 2026-01-01T00:00:00Z\n")  # what a window left that has gone
    assert find_live([row]) == frozenset()
    with held_by_another_process(owner, "r+"):
        assert find_live([row]) == {(OURS, row.folder)}
    assert find_live([row]) == frozenset()


def test_to_look_for_live_sessions_takes_no_lock_from_anybody(tmp_path: Path) -> None:
    row = ours(tmp_path)
    find_live([row])
    owner = Ownership(Path(row.folder))
    assert owner.claim("2026-01-01T00:00:00Z")
    owner.give_up()


def test_only_the_newest_logs_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_sessions, "_MOST_LOOKED_AT", 1)
    row = row_of(claude(tmp_path, ASKED, CALLED))
    assert find_live([row, replace(row, folder="/gone")]) == {(row.source, row.folder)}
    assert find_live([replace(row, folder="/gone"), row]) == frozenset()


def test_old_logs_behind_the_newest_cost_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = row_of(claude(tmp_path, ASKED, CALLED))
    parsed: list[str] = []

    def parse(text: str) -> datetime | None:
        parsed.append(text)
        return parse_time(text)

    monkeypatch.setattr(live_sessions, "parse_time", parse)
    old = [row_of(Path(row.folder), timedelta(days=9))] * 1000
    odd = replace(row, updated_at="when it was")  # says nothing about those behind it
    assert find_live([odd, row, *old]) == {(row.source, row.folder)}
    assert len(parsed) < 10


def test_the_end_of_no_further_log_is_read_when_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = row_of(claude(tmp_path, ASKED, CALLED))
    monkeypatch.setattr(live_sessions, "_MOST_SECONDS", 0.0, raising=False)
    assert find_live([row]) == frozenset()
