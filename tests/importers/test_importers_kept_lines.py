"""A file that is read again gives what it would give anew, and only what was added is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_tui.importers.imported import ImportedSession
from agent_tui.importers.kept_lines import KeptLines
from agent_tui.importers.registry import import_session
from tests.importers.foreign_files import FORMATS, claude_session, claude_user
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


@pytest.mark.parametrize("way", ["truncated", "replaced", "rewritten"])
def test_another_file_in_its_place_is_read_from_its_beginning(way: str, tmp_path: Path) -> None:
    path, kept = write_lines(tmp_path / "S.jsonl", claude_session()), KeptLines()
    read_kept(path, kept)
    other = [claude_user("n1", None, 1, "quite another prompt"), *claude_session()]
    match way:
        case "truncated":
            write_lines(path, claude_session()[:3])
        case "replaced":
            write_lines(tmp_path / "new", other).replace(path)
        case _:
            write_lines(path, other)
    assert read_kept(path, kept) == import_session(path)
