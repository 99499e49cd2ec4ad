"""The index follows the files: work is what was added, and a line is indexed once."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.errors import StorageError
from agent_tui.importers.importer import SessionRef
from agent_tui.library.redaction import Redactor
from agent_tui.library.search import indexing, raw_lines, reading, search_index, tables
from agent_tui.library.search.line_text import read_line
from agent_tui.library.search.sources import own_refs, refs_to_index
from agent_tui.library.shipping.shipment import Shipper
from tests.importers.foreign_files import claude_user
from tests.importers.session_files import write_lines
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


def test_the_check_says_what_is_so_of_files_that_it_cannot_read(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = {name: library.log(name, [user("first")]) for name in ("a", "b", "c", "d")}
    library.index.update()
    logs["a"].unlink()
    logs["b"].unlink()
    os.mkfifo(logs["b"])
    library.log("e", [user("first"), user("second")]).replace(logs["c"])
    open_file = os.open

    def refuse(path: Any, *rest: Any, **more: Any) -> int:
        if path == logs["d"]:
            raise PermissionError(13, "Permission denied")
        return open_file(path, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    findings = library.index.check()
    assert sorted(findings.differences) == [
        f"{logs['a']}: the file was deleted since it was indexed",
        f"{logs['b']} is not a regular file: a session log was expected.",
        f"{logs['c']}: the file was replaced since it was indexed",
        f"{logs['d']} may not be read: permission was denied.",
    ]
    assert findings.lines == 1


def test_a_pipe_in_place_of_an_archive_stops_no_session(library: Library) -> None:
    log = library.log("one", [user("needle")])
    os.mkfifo(log.with_name("context.jsonl.1"))
    fork = library.log("two", [user("needle")])
    header, _, rest = fork.read_text().partition("\n")
    fork.write_text(
        json.dumps(json.loads(header) | {"parent": {"session_id": "one"}}) + "\n" + rest
    )
    (trouble,) = library.index.update().troubles
    assert trouble.startswith(str(log.with_name("context.jsonl.1")))
    append(fork, user("hay"))
    library.index.update()
    assert library.ids("hay") == ["two"]


def test_the_check_passes_over_a_file_that_was_never_read_to_its_end(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.log("one", [user("needle")])

    def refuse(*_: Any) -> Iterator[tuple[int, bytes]]:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as closed:
        closed.setattr(reading, "whole_lines", refuse)
        assert len(library.index.update().troubles) == 1
    assert library.index.check().differences == ()


def test_a_pipe_in_place_of_a_log_holds_up_no_search(library: Library) -> None:
    log = library.log("one", [user("needle")])
    library.log("two", [user("needle")])
    library.index.update()
    log.unlink()
    os.mkfifo(log)
    assert library.ids("needle") == ["two"]
    assert library.index.update().files == 2


def test_an_index_of_another_version_is_read_again_by_itself(library: Library) -> None:
    library.log("one", [assistant("", call("write_file", path="src/tide.py"))])
    library.index.update()
    with closing(sqlite3.connect(library.index.path)) as base, base:
        base.execute("DELETE FROM entries")
        base.execute(f"PRAGMA user_version = {tables.VERSION - 1}")
    with pytest.raises(StorageError, match=r"another version of agent-tui\. Rebuild"):
        library.search("touched:tide.py")
    library.index.update()
    assert library.ids("touched:tide.py") == ["one"]


def test_a_check_tells_a_damaged_index_from_none(library: Library) -> None:
    library.index.path.parent.mkdir(parents=True, exist_ok=True)
    with pytest.raises(StorageError, match="There is no index yet"):
        library.index.check()
    library.index.path.write_bytes(b"\xff" * 5_000)
    with pytest.raises(StorageError, match=r"not a database\. Rebuild it with"):
        library.index.check()
    library.index.path.unlink()
    os.mkfifo(library.index.path)
    with pytest.raises(StorageError, match="not a regular file"):
        library.index.check()


def test_on_a_full_disk_nobody_is_told_to_rebuild_the_index(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.log("one", [user("needle")])
    connect = sqlite3.connect

    def small(*args: Any, **options: Any) -> sqlite3.Connection:
        base: sqlite3.Connection = connect(*args, **options)
        base.execute("PRAGMA max_page_count = 1")  # SQLite then says that the disk is full
        return base

    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(StorageError) as raised:
        library.index.update()
    assert str(raised.value).endswith("is full. Free some space, then try again.")


def test_what_entries_say_changes_with_the_version_of_the_index_only() -> None:
    """Else entries of before would say something else until somebody rebuilds the index.

    Where this fails because entries say something new: raise VERSION, and renew the digest.
    """
    lines = [
        user("看 the tide at naïve/path.py"),
        user("late", at="20zzz"),
        assistant("", call("edit_file", path="src/tide.py", old="a", new="b"), model="m1"),
        {"role": "tool", "tool_call_id": "call-edit_file", "content": "no", "is_error": True},
        assistant("", call("apply_patch", input="*** Add File: new.py\n+x")),
        {"role": "_compaction", "trigger": "auto", "at": "2026-11-01T10:00:02Z"},
        claude_user("u1", None, 1, "The moon"),
        claude_user("u2", "u1", 2, "So far: the moon", isCompactSummary=True),
        user("<system>Earlier messages were compacted</system>\n\nTide\n\n<index>\nNames: a"),
    ]
    said = [read_line(json.dumps(line).encode()) for line in lines]
    told = [(each.role, each.at, each.text, reading.facets(each)) for each in said if each]
    digest = hashlib.sha256(repr(told).encode()).hexdigest()[:12]
    assert (tables.VERSION, digest) == (17, "235390368630")


@pytest.mark.parametrize(
    "at", ["20zzz", "9999-12-31T23:59:59Z", "2099-01-01T00:00:00Z", "-1", "NaN"]
)
def test_a_time_that_cannot_be_so_makes_no_session_the_newest(library: Library, at: str) -> None:
    hostile = library.log("hostile", [user("The tide", at=at)])
    os.utime(hostile, (1, 1_600_000_000))
    library.log("real", [user("The tide")])
    os.utime(library.log("old", [user("The tide", at="2020-01-01T00:00:00Z")]), (1, 1))
    library.index.update()
    found = library.search("after:2019-01-01 role:user")
    assert [each.session_id for each in found] == ["real", "hostile", "old"]
    days = [row.name for row in library.index.statistics("day")]
    assert days == ["2020-01-01", "2020-09-13", "2026-11-01"]


def test_two_that_index_at_once_index_no_line_twice(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.log("one", [user("needle")])
    both = threading.Barrier(2)

    def refs(*places: Any) -> list[SessionRef]:
        with suppress(threading.BrokenBarrierError):  # the second waits for the first to end
            both.wait(1)
        return list(refs_to_index(*places))

    monkeypatch.setattr(search_index, "refs_to_index", refs)
    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(library.index.update) for _ in range(2)]
    assert sorted(each.result().lines for each in done) == [0, 1]
    assert library.index.check().differences == ()
    (row,) = library.index.statistics("agent")
    assert row.prompts == 1


def test_the_check_tells_of_lines_that_are_there_twice(library: Library) -> None:
    log = library.log("one", [user("needle"), user("hay")])
    library.index.update()
    with closing(sqlite3.connect(library.index.path)) as base, base:
        again = "SELECT id + 100, file, offset, length, at, role FROM entries"
        base.execute(f"INSERT INTO entries {again}")
    (told,) = library.index.check().differences
    assert told == f"{log}: 2 lines indexed more than once"


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


def test_a_line_that_is_finished_while_it_is_read_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"a": 1}\n{"b": ')

    class Written(io.FileIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            piece = super().readline(size)
            if piece and not piece.endswith(b"\n"):
                with log.open("ab") as file:
                    file.write(b'2}\n{"c": 3}\n')
            return piece

    with monkeypatch.context() as writing:
        writing.setattr(raw_lines, "open_to_read", lambda *_: Written(log))
        first = list(raw_lines.whole_lines(SessionRef("claude", log), 0))
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
    with closing(sqlite3.connect(library.index.path)) as base, base:
        base.execute("INSERT INTO words (words) VALUES ('integrity-check')")


def _pages(library: Library) -> dict[int, int]:
    """How many pages each part of the full-text table has."""
    with closing(sqlite3.connect(library.index.path)) as base, base:
        pages = "SELECT id >> 37, count(*) FROM words_data WHERE id > 10 GROUP BY 1"
        return dict(base.execute(pages))


def test_a_line_of_very_many_results_is_read_in_linear_time() -> None:
    def seconds(count: int) -> float:
        results = [
            {
                "type": "tool_result",
                "tool_use_id": f"toolu_{each}",
                "content": "x",
                "is_error": True,
            }
            for each in range(count)
        ]
        line = json.dumps({"type": "user", "message": {"role": "user", "content": results}})
        began = time.process_time()
        found = read_line(line.encode())
        took = time.process_time() - began
        assert found is not None
        assert len(found.answers) == len(found.failed) == count
        assert found.has_failed(f"toolu_{count - 1}")
        return took

    assert seconds(40_000) < 9 * min(seconds(10_000) for _ in range(3))


@pytest.mark.parametrize(
    "half",
    [
        {"tool_calls": [{"id": "c", "function": {"name": "\ud800x", "arguments": "{}"}}]},
        {"model": "\udfffm"},
        {"at": "20\ud800-11-01T10:00:00Z"},
        {"uuid": "\ud800u"},
    ],
    ids=["tool", "model", "time", "uuid"],
)
def test_half_a_character_in_a_line_stops_neither_the_index_nor_a_shipment(
    library: Library, half: dict[str, Any]
) -> None:
    log = library.log("one", [user("The tide")])
    with log.open("a") as file:
        file.write(json.dumps({"role": "assistant", "content": "The moon", **half}) + "\n")
    library.log("two", [user("The tide again")])
    assert library.index.update().troubles == []
    assert set(library.ids("tide")) == {"one", "two"}
    assert library.ids("moon") == ["one"]
    for form in ("jsonl", "otlp"):
        shipper = Shipper(library.data / form, Redactor(), with_content=True)
        assert shipper.ship(own_refs(library.data), form).sessions == 2


def test_half_a_character_in_what_names_a_session_stops_no_index(library: Library) -> None:
    log = library.log("one", [user("The tide")])
    log.write_bytes(log.read_bytes().replace(b"/home/ada/tide", b"/home/\\ud800"))
    assert library.index.update().troubles == []
    assert library.ids("tide") == ["one"]


def test_a_file_whose_name_is_not_utf8_is_told_and_stops_no_index(library: Library) -> None:
    folder = library.home / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    path = Path(os.fsdecode(os.fsencode(folder) + b"/a\xff.jsonl"))
    write_lines(path, [claude_user("u1", None, 1, "The moon")])
    library.log("one", [user("The tide")])
    (trouble,) = library.index.update().troubles
    assert "its name is not UTF-8" in trouble
    assert library.ids("tide") == ["one"]
