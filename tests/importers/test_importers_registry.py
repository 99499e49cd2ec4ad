"""Files are recognised by content; what is no session is refused in one sentence."""

from __future__ import annotations

import gc
import gzip
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_tui.core.errors import AgentTuiError, SessionError, SessionNotFound
from agent_tui.importers import lines
from agent_tui.importers.imported import count_messages
from agent_tui.importers.registry import (
    import_session,
    locate,
    read_tail,
    recognise,
    summarise,
)
from tests.importers.session_files import (
    checkpoint,
    pi_header,
    pi_user,
    system,
    unaccounted,
    user,
    write_lines,
)


def source_of(path: Path) -> str | None:
    importer = recognise(path)
    return importer.source if importer else None


def test_the_name_of_a_file_does_not_matter(tmp_path: Path) -> None:
    assert source_of(write_lines(tmp_path / "a.txt", [user("x")])) == "kimi"
    assert source_of(write_lines(tmp_path / "b", [pi_header(), pi_user("x")])) == "pi"
    assert source_of(write_lines(tmp_path / "context.jsonl", [{"type": "x"}])) is None


@pytest.mark.parametrize("first", [pi_header(), user("x")], ids=["pi", "kimi"])
def test_what_would_take_half_of_the_memory_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: dict[str, object]
) -> None:
    path = write_lines(tmp_path / "log", [first, *[pi_user("x" * 2_000)] * 1_200])
    import_session(path)
    monkeypatch.setattr("agent_tui.importers.lines.memory", lambda: 8 << 20)
    monkeypatch.setattr("agent_tui.importers.lines.memory_taken", lambda: 0)
    with pytest.raises(
        SessionError, match=r"it is 2\.6 MB, more than fits in half of the free memory \(4\.2 MB\)"
    ):
        import_session(path)


def test_memory_that_other_programs_have_taken_is_not_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "meminfo"
    monkeypatch.setattr(lines, "_MACHINE_MEMORY", told)
    path = write_lines(tmp_path / "log", [pi_header(), *[pi_user("x" * 2_000)] * 1_200])
    import_session(path)
    told.write_text("MemTotal: 99999999 kB\nMemAvailable:    8192 kB\nSwapFree: 0 kB\n")
    with pytest.raises(SessionError, match=r"half of the free memory \(4\.2 MB\)"):
        import_session(path)


DENSE = """
import sys
from pathlib import Path
from agent_tui.core.errors import SessionError
from agent_tui.importers import lines
from agent_tui.importers.registry import import_session

given_back = bytearray(b"x") * (600 << 20)
del given_back
before = lines.memory_taken()
lines.memory = lambda: before + (128 << 20)
try:
    import_session(Path(sys.argv[1]))
except SessionError as error:
    print(lines.memory_taken() - before >> 20, error)
"""


@pytest.mark.slow
def test_a_dense_log_is_refused_when_it_takes_half_of_the_memory(tmp_path: Path) -> None:
    """Of 3 bytes in a file 70 may be made: what is taken is looked at, not what is read.

    In a process of its own, which has given back more than the log takes: that is no excuse.
    """
    dense = {"type": "message", "message": {"role": "user", "content": [{}] * 100_000}}
    path = write_lines(tmp_path / "log", [pi_header(), *[dense] * 60])
    command = [sys.executable, "-c", DENSE, str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    taken, told = ended.stdout.split(" ", 1)
    assert re.search(r"it is \d\d\.\d MB", told)
    assert int(taken) < 256  # all of it would have taken 420


@pytest.mark.parametrize(("said", "most"), [("1048576\n", 1 << 20), ("max\n", None), ("", None)])
def test_the_memory_of_a_container_is_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, most: int | None
) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(lines, "_CONTAINER_LIMIT", limit)
    whole = lines.memory()
    limit.write_text(said)
    assert lines.memory() == (most or whole)
    assert 0 < lines.memory_taken() < whole


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"\0\1\2\xff" * 100, "not a session log that agent-tui knows"),
        (b'{"role": 3}\n{"hello": 1}\n', "not a session log that agent-tui knows"),
        (
            gzip.compress(b'{"role": "user", "content": "hello"}\n', mtime=0),
            r"Unpack it first: gunzip < '.*/a log' > ",
        ),
        (zstandard.compress(b'{"role": "user", "content": "hello"}\n')[:8], "nothing .* unpacked"),
    ],
    ids=["empty", "binary", "other lines", "gzip", "half of a zstd"],
)
def test_what_is_no_session_is_refused_in_words(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "a log").write_bytes(content)
    with pytest.raises(SessionError, match=told):
        import_session(tmp_path / "a log")


@pytest.mark.slow
@pytest.mark.parametrize("pack", [bytes, zstandard.compress], ids=["plain", "compressed"])
@pytest.mark.parametrize(
    ("begin", "piece", "told"),
    [
        (b'{"role": "user", "content": "', b"x" * 1000, "begins with a line of more than 64 MB"),
        (b'{\n"sessionId": "one", "messages": [\n', b"{},\n", "a JSON object of more than 64 MB"),
        (b'{"role": 3}\n', b'{"hello": 1}\n', "not a session log that agent-tui knows"),
    ],
    ids=["line", "document", "foreign"],
)
def test_what_is_too_long_to_be_known_says_so(
    tmp_path: Path, begin: bytes, piece: bytes, told: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(pack(begin + piece * (70_000_000 // len(piece)) + b'"}]}\n'))
    with pytest.raises(SessionError, match=told):
        locate(path)


def test_missing_files_folders_and_pipes_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound, match="There is no file"):
        import_session(tmp_path / "gone.jsonl")
    with pytest.raises(SessionNotFound, match=r"context\.jsonl"):
        import_session(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SessionError, match="not a regular file"):
        import_session(tmp_path / "pipe")


def test_importing_changes_nothing_on_disk(tmp_path: Path) -> None:
    write_lines(tmp_path / "context_1.jsonl", [system(), user("old")])
    log = write_lines(tmp_path / "context.jsonl", [system(), checkpoint(0), '{"torn'])
    before = {path: (path.stat(), path.read_bytes()) for path in tmp_path.iterdir()}
    import_session(log)
    after = {path: (path.stat(), path.read_bytes()) for path in tmp_path.iterdir()}
    assert {path: s.st_mtime_ns for path, (s, _) in before.items()} == {
        path: s.st_mtime_ns for path, (s, _) in after.items()
    }
    assert [data for _, data in before.values()] == [data for _, data in after.values()]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(
    [
        "role",
        "type",
        "content",
        "id",
        "parentId",
        "message",
        "summary",
        "user",
        "assistant",
        "tool",
        "_usage",
        "_checkpoint",
        "_compaction",
        "compaction",
        "session",
        "text",
        "thinking",
        "toolCall",
        "tool_calls",
        "firstKeptEntryIndex",
    ]
)
odd_objects = st.dictionaries(names, json_values | names | st.lists(json_values), max_size=6)
odd_lines = st.lists(odd_objects | st.binary(max_size=40), max_size=8)


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=odd_lines, first=st.sampled_from([user("x"), pi_header(), pi_header(None)]))
def test_any_content_loads_or_is_refused_in_words(
    tmp_path: Path, lines: list[object], first: dict[str, object]
) -> None:
    data = b"\n".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() for line in [first, *lines]
    )
    (tmp_path / "context.jsonl").write_bytes(data)
    (tmp_path / "context_1.jsonl").write_bytes(data[::-1])
    session = import_session(tmp_path / "context.jsonl")
    assert unaccounted(session.accounting) == 0
    with suppress(AgentTuiError):
        import_session(tmp_path / "context_1.jsonl")


@pytest.mark.parametrize(("source", "name"), [("openai", "messages"), ("gemini", "history")])
def test_one_object_with_a_message_a_line_is_told_whole_in_list_and_preview(
    tmp_path: Path, source: str, name: str
) -> None:
    """Its lines are objects too, but say nothing alone."""
    asked: dict[str, Any] = {"role": "user", "content": "fix the bug"}
    done: dict[str, Any] = {"role": "assistant", "content": "Done."}
    mark = "model"
    if name == "history":
        mark = "lastUpdated"
        asked = {"role": "user", "parts": [{"text": "fix the bug"}], "ts": 1}
        done = {"role": "gemini", "parts": [{"text": "Done."}], "ts": 2}
    path = tmp_path / "session-1.json"
    lines = ",\n".join(map(json.dumps, (asked, done)))
    path.write_text(f'{{"{name}": [\n{lines}\n],\n"{mark}": "2025-12-16T23:47:00Z"}}\n')
    ref, session = locate(path), import_session(path)
    assert (ref.source, count_messages(session.records)) == (source, 2)
    assert (summarise(ref).title, session.title) == ("fix the bug", "fix the bug")
    assert read_tail(ref, 100).records == session.records


def claude_chain(count: int) -> Iterator[dict[str, Any]]:
    about = {"type": "user", "sessionId": "s", "timestamp": "2026-01-02T03:04:05Z"}
    for n in range(count):
        said = {"message": user(f"message {n}")}
        yield {**about, "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, **said}


def pi_chain(count: int) -> Iterator[dict[str, Any]]:
    yield pi_header()
    for n in range(count):
        yield pi_user(f"message {n}", f"u{n}", f"u{n - 1}" if n else None)


@pytest.mark.slow
@pytest.mark.parametrize("chain", [claude_chain, pi_chain])
def test_a_long_chain_is_read_in_linear_time_and_not_looked_through_for_garbage(
    tmp_path: Path, chain: Callable[[int], Iterator[dict[str, Any]]]
) -> None:
    passes: list[int] = []

    def look(phase: str, info: dict[str, int]) -> None:
        passes.append(info["generation"])

    def seconds(count: int) -> float:
        path = write_lines(tmp_path / f"{count}.jsonl", chain(count))
        began = time.process_time()
        gc.callbacks.append(look)
        try:
            session = import_session(path)
        finally:
            gc.callbacks.remove(look)
        assert count_messages(session.records) == count
        return time.process_time() - began

    few = min(seconds(10_000) for _ in range(3))
    passes.clear()
    many = min(seconds(40_000) for _ in range(2))
    assert many <= 6 * few
    assert len(passes) < 20, "each pass looks at everything that was read so far"
