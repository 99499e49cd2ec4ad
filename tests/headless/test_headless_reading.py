"""Looking never locks and never writes, whoever has the session open and whatever is allowed."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_tui.library.row_cache import CACHE
from tests.headless.command_line import CommandLine
from tests.importers.foreign_files import codex_session
from tests.importers.session_files import write_lines

LOOKS = (
    ("sessions", "list"),
    ("sessions", "show", "ID"),
    ("checkpoints", "ID"),
    ("archives", "ID"),
    ("tree", "ID"),
    ("tree", "ID", "--detail", "records"),
    ("tree", "PATH"),
    ("open", "PATH"),
    ("export", "ID"),
    ("export", "ID", "--format", "kimi"),
    ("export", "PATH"),
)
HOLDER = """
import asyncio, sys
from pathlib import Path
from agent_tui.sessions.store import SessionStore

async def hold():
    log = await SessionStore(Path(sys.argv[1])).open(sys.argv[2])
    log._file.lock.acquire()
    print(log.read_only or "held", flush=True)
    sys.stdin.read()

asyncio.run(hold())
"""


@pytest.fixture
def session_id(run: CommandLine, tmp_path: Path) -> str:
    """A session with an archive, a fork and a name, killed before it could say its prompt."""
    scenario = tmp_path / "scenario.toml"
    scenario.write_text('model = "quick"\nwindow = 20000\n')
    for prompt in ("What files are here?", "Read README.md"):
        ran = run("-p", prompt, "--scenario", scenario, "-c", "--output-format", "json")
        assert ran.code == 0
    session = str(ran.json["session_id"])
    assert run("revert", session, "3").code == 0
    assert run("fork", session).code == 0
    folder = next(path.parent for path in run.logs() if path.parent.name == session)
    lines = (folder / "context.jsonl").read_bytes().splitlines(keepends=True)
    kept = (line for line in lines if b'"role":"_system_prompt"' not in line)
    (folder / "context.jsonl").write_bytes(b"".join(kept))
    (folder / "context.jsonl.tmp").write_bytes(b"left by a process that died")
    (folder / "context.jsonl").chmod(0o644)
    folder.chmod(0o755)
    return session


def listing(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything below a folder but the list's own cache: mode, size, last change, bytes."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(path for path in root.rglob("*") if not path.name.startswith(CACHE)):
        status = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_uid, data)
    return found


def look(run: CommandLine, session_id: str) -> dict[tuple[str, ...], str]:
    """What every reading command prints, for people and as JSON."""
    (path,) = (log for log in run.logs() if log.parent.name == session_id)
    there = {"ID": session_id, "PATH": str(path)}
    printed = {}
    for words in LOOKS:
        for more in ((), ("--json",)):
            ran = run(*(there.get(word, word) for word in words), *more)
            assert (ran.code, ran.err) == (0, ""), words
            assert ran.out.strip(), words
            assert "read-only" not in ran.out.replace("_", "-"), words
            printed[*words, *more] = ran.out
    return printed


@contextmanager
def held(run: CommandLine, session_id: str) -> Iterator[None]:
    """Another process has the session open, and is in the middle of writing it."""
    arguments = [sys.executable, "-c", HOLDER, str(run.home), session_id]
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield
        other.communicate()


def test_looking_changes_nothing(run: CommandLine, session_id: str) -> None:
    before = listing(run.home)
    look(run, session_id)
    assert listing(run.home) == before


def test_looking_is_the_same_while_another_process_writes(
    run: CommandLine, session_id: str
) -> None:
    alone = look(run, session_id)
    with held(run, session_id):
        before = listing(run.home)
        assert look(run, session_id) == alone
        assert listing(run.home) == before


def test_looking_locks_nothing_and_opens_nothing_for_writing(
    run: CommandLine, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_to_read(path: str, flags: int, *more: int, **names: int) -> int:
        if str(path).startswith(str(run.home)):
            assert not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC), path
            opened.append(str(path))
        return real(path, flags, *more, **names)

    real = os.open
    monkeypatch.setattr(os, "open", open_to_read)
    monkeypatch.setattr(fcntl, "flock", None)
    look(run, session_id)
    assert any(path.endswith("context.jsonl") for path in opened)


def test_what_may_only_be_read_is_read(run: CommandLine, session_id: str) -> None:
    alone = look(run, session_id)
    places = [run.home, *run.home.rglob("*")]
    for place in places:
        place.chmod(0o500 if place.is_dir() else 0o400)
    try:
        assert look(run, session_id) == alone
    finally:
        for place in places:
            place.chmod(0o700 if place.is_dir() else 0o600)


def test_other_agents_sessions_are_listed_on_request(run: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "codex" / "sessions"
    folder.mkdir(parents=True)
    path = write_lines(folder / "rollout-1.jsonl", codex_session())
    run.set("HOME", str(tmp_path))
    run.set("CODEX_HOME", str(tmp_path / "codex"))
    assert run("sessions", "list", "--json").json == []
    (row,) = run("sessions", "list", "--all-agents", "--json").json
    assert (row["source"], row["title"], row["folder"]) == ("codex", "list files", str(path))
    assert str(path) in run("sessions", "list", "--all-agents").out


def test_a_list_in_json_keeps_every_letter_and_no_control_character(run: CommandLine) -> None:
    title = "Größe \u202e\x9b潮"
    log = run.home / "projects" / "-w" / "a" / "context.jsonl"
    log.parent.mkdir(parents=True)
    write_lines(log, [{"role": "user", "content": "x"}, {"role": "_title", "title": title}])
    ran = run("sessions", "list", "--json")
    assert ran.json[0]["title"] == title
    assert "\\u202e\\u009b" in ran.out
    assert "Größe" in ran.out
