"""The index follows the files: work is what was added, and a line is indexed once."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest

from agent_tui.core.errors import StorageError
from agent_tui.importers.importer import SessionRef
from agent_tui.library.search import indexing, raw_lines, reading
from tests.library.search.conftest import Library, assistant, call, user


def append(log: Path, line: dict[str, object], end: str = "\n") -> int:
    with log.open("a", encoding="utf-8") as file:
        return file.write(json.dumps(line, ensure_ascii=False) + end)


def test_only_what_was_added_is_read(library: Library) -> None:
    log = library.log("one", [user(f"message {n}") for n in range(200)])
    library.index.update()
    assert library.index.update().changed == 0
    added = append(log, user("needle in the new line"))
    progress = library.index.update()
    assert (progress.changed, progress.lines, progress.bytes) == (1, 1, added)
    assert library.ids("needle") == ["one"]


def test_an_unfinished_line_waits_for_its_end(library: Library) -> None:
    log = library.log("one", [user("first")])
    append(log, user("needle"), end="")
    library.index.update()
    assert library.ids("needle") == []
    append(log, user("second"), end="\n")  # the damaged line that comes of it is left out
    with log.open("a") as file:
        file.write(json.dumps(user("needle again")) + "\n")
    library.index.update()
    assert library.ids("needle") == ["one"]


def test_a_file_that_was_replaced_is_read_anew(library: Library) -> None:
    log = library.log("one", [user("the old words")])
    library.index.update()
    log.unlink()
    library.log("one", [user("the new words, and a few more of them")])
    library.index.update()
    assert (library.ids("old"), library.ids("new")) == ([], ["one"])


def test_a_rotated_log_keeps_its_lines_and_they_are_found_once(library: Library) -> None:
    kept = [user("asked about tides")]
    log = library.log("one", [*kept, assistant("answered at length")])
    library.index.update()
    log.rename(log.with_name("context.jsonl.1"))
    library.log("one", [*kept, {"role": "_revert", "archive": 1}, user("another question")])
    progress = library.index.update()
    assert progress.troubles == []
    found = library.search("tides")
    assert [(each.session_id, each.matches) for each in found] == [("one", 1)]
    assert library.ids("answered") == ["one"]
    assert library.search("answered")[0].path.endswith("context.jsonl.1")
    assert library.ids('"another question"') == ["one"]


def test_a_deleted_session_is_forgotten(library: Library) -> None:
    log = library.log("one", [user("needle")])
    library.index.update()
    log.unlink()
    library.index.update()
    assert library.ids("needle") == []


def test_what_a_deleted_archive_shared_with_the_live_log_is_still_found(library: Library) -> None:
    shared = user("asked about tides")
    archive = library.log("one", [shared, user("withdrawn")], "context.jsonl.1")
    log = library.log("one", [shared, user("another question")])
    library.index.update()
    archive.unlink()
    append(log, user("a third"))
    library.index.update()
    assert library.search("tides")[0].path == str(log)
    assert library.search("tides")[0].matches == 1
    assert [library.ids(word) for word in ("withdrawn", "another", "third")] == [
        [],
        ["one"],
        ["one"],
    ]
    assert library.index.check().differences == ()


def test_what_a_replaced_archive_shared_with_the_live_log_is_still_found(library: Library) -> None:
    shared = user("asked about tides")
    archive = library.log("one", [shared], "context.jsonl.1")
    log = library.log("one", [shared, user("another question")])
    library.index.update()
    archive.rename(archive.with_name("elsewhere"))
    library.log("one", [user("something else altogether, and longer")], "context.jsonl.1")
    library.index.update()
    assert [each.path for each in library.search("tides")] == [str(log)]
    assert library.ids("altogether") == ["one"]


def test_an_archive_may_go_while_the_log_is_rotated(library: Library) -> None:
    shared = user("asked about tides")
    archive = library.log("one", [shared], "context.jsonl.1")
    log = library.log("one", [shared, user("another question")])
    library.index.update()
    archive.unlink()
    log.rename(log.with_name("context.jsonl.2"))
    library.log("one", [user("a third")])
    library.index.update()
    assert [each.matches for each in library.search("tides")] == [1]
    assert library.ids("another") == library.ids("third") == ["one"]


def test_a_session_that_comes_back_is_found_again(library: Library) -> None:
    log = library.log("one", [user("needle")])
    library.index.update()
    log.rename(library.data / "trash")
    library.index.update()
    (library.data / "trash").rename(log)
    library.index.update()
    assert library.ids("needle") == ["one"]


def test_damaged_lines_hide_no_other(library: Library) -> None:
    log = library.log("one", [user("before")])
    with log.open("ab") as file:
        file.write(b'\xff\xfe\n{"role": "user", "content": \n[]\n\0\0\n')
    append(log, user("after the damage"))
    progress = library.index.update()
    assert progress.troubles == []
    assert library.ids('"after the damage"') == ["one"]


@pytest.mark.parametrize("name", ["type", "role", "subtype", "name", "tool", "function", "status"])
def test_a_line_with_anything_under_a_known_name_stops_nothing(library: Library, name: str) -> None:
    log = library.log("one", [user("before")])
    anything: list[Any] = [[], {}, {"a": []}, 7, None, True]
    for strange in anything:
        append(log, {"content": "strange", "args": {}, name: strange})
    append(log, user("after it"))
    assert library.index.update().troubles == []
    assert library.ids('"after it"') == library.ids("strange") == ["one"]


def test_of_a_write_that_fails_nothing_is_kept(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        library.log(f"s{number}", [assistant(f"needle {number}", call("find"))])
    monkeypatch.setattr(indexing, "_COUNT_TOOL", "INSERT INTO nowhere VALUES (?, ?)")
    with pytest.raises(StorageError, match="nowhere"):
        library.index.update()
    assert library.ids("needle") == []
    monkeypatch.undo()
    library.index.update()
    assert sorted(library.ids("needle")) == ["s0", "s1", "s2"]
    assert [each.matches for each in library.search("needle")] == [1, 1, 1]


def test_the_check_finds_what_the_disk_does_not_say_any_more(library: Library) -> None:
    log = library.log("one", [user("first"), user("second")])
    library.log("two", [user("third")])
    library.index.update()
    assert library.index.check().differences == ()
    assert library.index.check().lines == 3
    log.write_bytes(log.read_bytes().replace(b'{"role": "user"', b'{"rolf": "user"'))
    assert len(library.index.check().differences) == 2


def test_an_index_that_is_damaged_is_made_again(library: Library) -> None:
    library.log("one", [user("needle")])
    library.index.update()
    library.index.path.write_bytes(b"this is no database" * 1000)
    for ending in ("-wal", "-shm"):
        library.index.path.with_name(library.index.path.name + ending).unlink(missing_ok=True)
    library.index.update()
    assert library.ids("needle") == ["one"]


def test_without_an_index_the_sentence_says_how_to_make_one(library: Library) -> None:
    with pytest.raises(StorageError, match="agent-tui index"):
        library.search("anything")


def test_the_index_is_for_its_owner_only_and_follows_no_link(
    library: Library, tmp_path: Path
) -> None:
    library.log("one", [user("needle")])
    library.index.update()
    assert library.index.path.stat().st_mode & 0o077 == 0
    elsewhere = tmp_path / "elsewhere"
    library.index.path.rename(elsewhere)
    library.index.path.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    with pytest.raises((StorageError, sqlite3.Error)):
        library.index.update()
    assert elsewhere.read_bytes() == before


@pytest.mark.parametrize("known", [0, 1])
def test_what_a_failed_reading_left_out_is_found_once_the_next_time(
    library: Library, monkeypatch: pytest.MonkeyPatch, known: int
) -> None:
    lines = [user("first"), user("needle"), *(user(f"message {n}") for n in range(20))]
    log = library.log("one", lines[:known])
    library.index.update()
    for line in lines[known:]:
        append(log, line)
    whole_lines = raw_lines.whole_lines

    def failing(*args: Any) -> Iterator[tuple[int, bytes]]:
        yield from islice(whole_lines(*args), 10)
        raise OSError("the disk is gone")

    monkeypatch.setattr(reading, "whole_lines", failing)
    monkeypatch.setattr(reading, "_PIECE_CHARS", 1)
    monkeypatch.setattr(indexing, "_BATCH_CHARS", 1)
    assert library.index.update().troubles == [f"{log}: the disk is gone"]
    monkeypatch.undo()
    assert library.index.update().troubles == []
    assert [found.matches for found in library.search("needle")] == [1]


def test_the_last_time_of_a_file_is_kept_where_it_is_read_in_pieces(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_PIECE_CHARS", 1)
    log = library.log("one", [user("begin")])
    library.index.update()
    append(log, user("needle", at="2026-12-01T10:00:00Z"))
    append(log, user("a line without a time", at=""))
    library.index.update()
    assert [found.updated_at for found in library.search("needle")] == ["2026-12-01T10:00:00Z"]


def test_a_line_that_is_finished_while_it_is_read_is_read_whole(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"a": 1}\n{"b": ')

    class Written(io.FileIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            piece = super().readline(size)
            if piece and not piece.endswith(b"\n"):
                with log.open("ab") as file:
                    file.write(b'2}\n{"c": 3}\n')
            return piece

    class Place:
        def open(self, mode: str, buffering: int) -> io.FileIO:
            return Written(log)

    ref = SessionRef("claude", cast("Path", Place()))
    first = list(raw_lines.whole_lines(ref, 0))
    assert first == [(0, b'{"a": 1}')]
    rest = raw_lines.whole_lines(SessionRef("claude", log), len(first[0][1]) + 1)
    assert [line for _, line in rest] == [b'{"b": 2}', b'{"c": 3}']


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_new_line_is_never_merged_with_all_that_was_written_in_bulk(
    library: Library, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    pages_at_once = 8
    monkeypatch.setattr(reading, "_PIECE_CHARS", 1)
    monkeypatch.setattr(indexing, "_BATCH_CHARS", 50_000)
    monkeypatch.setattr(indexing, "_MERGE_PAGES", pages_at_once)
    said = [" ".join(f"w{n}x{m}" for m in range(300)) for n in range(200)]
    log = library.log("one", [user(text) for text in said])
    with monkeypatch.context() as build:
        if is_killed:
            build.setattr(indexing.Indexer, "_set_apart", lambda self: None)
        library.index.update()
    pages = _pages(library)
    assert len(pages) < 16, "what was written in bulk is merged when there is much of it"
    assert sum(pages.values()) > 10 * pages_at_once
    for number in range(80):
        append(log, user(f"needle{number}"))
        library.index.update()
        before, pages = pages, _pages(library)
        written = sum(max(0, count - before.get(part, 0)) for part, count in pages.items())
        assert written <= 2 * pages_at_once
    assert len(pages) < 40
    assert [library.ids(word) for word in ("needle7", "w3x3", "w199x299")] == [["one"]] * 3
    with sqlite3.connect(library.index.path) as base:
        base.execute("INSERT INTO words (words) VALUES ('integrity-check')")


def _pages(library: Library) -> dict[int, int]:
    """How many pages each part of the full-text table has."""
    with sqlite3.connect(library.index.path) as base:
        pages = "SELECT id >> 37, count(*) FROM words_data WHERE id > 10 GROUP BY 1"
        return dict(base.execute(pages))
