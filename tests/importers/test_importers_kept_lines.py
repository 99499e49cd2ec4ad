"""A file that is read again gives what it would give anew, and only what was added is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from agent_tui.importers.imported import ImportedSession
from agent_tui.importers.kept_lines import KeptLines
from agent_tui.importers.lines import watch_lines
from agent_tui.importers.registry import import_session
from tests.importers.foreign_files import (
    FORMATS,
    claude_session,
    claude_user,
    codex_said,
    codex_session,
)
from tests.importers.session_files import write_lines

LINED = [name for name in FORMATS if FORMATS[name][1].__name__ == "<lambda>"]
LINED = [name for name in LINED if not name.startswith("opencode")] + ["vibe", "codex old"]


def read_kept(path: Path, kept: KeptLines) -> ImportedSession:
    with kept.used():
        return import_session(path)


@pytest.mark.parametrize("name", LINED)
def test_what_is_kept_and_what_is_new_give_the_whole(name: str, tmp_path: Path) -> None:
    path = FORMATS[name][1](tmp_path)
    data, kept = path.read_bytes(), KeptLines()
    half = data.find(b"\n", len(data) // 2) + 1
    places = (half, half + 7, len(data) - 5, len(data))
    for place in places:
        path.write_bytes(data[:place])
        assert read_kept(path, kept) == import_session(path)


def test_only_what_was_added_is_read(tmp_path: Path) -> None:
    path, kept = write_lines(tmp_path / "S.jsonl", claude_session()), KeptLines()
    read_kept(path, kept)
    assert kept.bytes_read == path.stat().st_size
    size = path.stat().st_size
    with path.open("a") as file:
        file.write(json.dumps(claude_user("u7", "a4", 9, "and now this")) + "\n")
    kept.bytes_read = 0
    session = read_kept(path, kept)
    assert kept.bytes_read == path.stat().st_size - size
    assert session == import_session(path)


WAYS = ["truncated", "replaced", "rewritten", "changed in its middle while it grew"]


@pytest.mark.parametrize("way", WAYS)
def test_another_file_in_its_place_is_read_from_its_beginning(way: str, tmp_path: Path) -> None:
    path, kept = write_lines(tmp_path / "S.jsonl", long_session()), KeptLines()
    read_kept(path, kept)
    other = [claude_user("n1", None, 1, "quite another prompt"), *claude_session()]
    match way:
        case "truncated":
            write_lines(path, claude_session()[:3])
        case "replaced":
            write_lines(tmp_path / "new", other).replace(path)
        case "rewritten":
            write_lines(path, other)
        case _:
            more = claude_user("u7", "u99", 9, "and now this")
            lines = path.read_text().replace("ask 50", "ASK 50").splitlines()
            path.write_text("\n".join([*lines, json.dumps(more), ""]))
    assert read_kept(path, kept) == import_session(path)
    assert kept.was_rewritten


def long_session() -> list[dict[str, Any]]:
    """One whose first and last bytes say nothing of its middle."""
    asked = [f"u{number}" for number in range(100)]
    pairs = zip([None, *asked], asked, strict=False)
    return [
        claude_user(uuid, parent, 1, f"ask {number} " + "x" * 200)
        for number, (parent, uuid) in enumerate(pairs)
    ]


def test_a_file_that_only_grew_was_not_rewritten(tmp_path: Path) -> None:
    lines = long_session()
    path, kept = write_lines(tmp_path / "S.jsonl", lines[:-1]), KeptLines()
    watch_lines(path, kept)
    for number in range(3):
        write_lines(path, [*lines, *claude_session()][: 100 + number])
        assert read_kept(path, kept) == import_session(path)
        assert not kept.was_rewritten


def test_a_file_that_is_only_watched_is_known_to_be_rewritten(tmp_path: Path) -> None:
    path, kept = write_lines(tmp_path / "S.jsonl", long_session()), KeptLines()
    watch_lines(path, kept)
    path.write_text(path.read_text().replace("ask 50", "ASK 50"))
    assert read_kept(path, kept) == import_session(path)
    assert kept.was_rewritten


def test_a_compressed_file_is_known_by_what_it_holds(tmp_path: Path) -> None:
    path, kept = tmp_path / "rollout.jsonl.zst", KeptLines()
    for lines in (codex_session(), [*codex_session(), codex_said("user", 9, "and now?")]):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        path.write_bytes(zstandard.compress(text.encode()))
        assert read_kept(path, kept) == import_session(path)
        assert not kept.was_rewritten
