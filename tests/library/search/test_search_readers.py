"""Processes that read for the index give what one process alone would have given."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_tui.library.search import readers
from agent_tui.library.search.tables import FILE_NAME
from tests.benchmarks.library_files import write_mixture
from tests.library.search.conftest import Library

TABLES = {
    "files": "source, path, session, cwd, title, model, updated, size, offset",
    "entries": "(SELECT path FROM files WHERE id = file), offset, length, at, role",
    "days": "(SELECT path FROM files WHERE id = file), day, model, prompts, replies, calls, input",
    "tools": "(SELECT path FROM files WHERE id = file), tool, calls, errors",
}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path)
    write_mixture(library.home, library.data, 1)
    return library


def contents(library: Library) -> dict[str, list[Any]]:
    """What the index says, in an order of its own."""
    with closing(sqlite3.connect(library.data / FILE_NAME)) as base:
        return {
            name: sorted(base.execute(f"SELECT {columns} FROM {name}"))
            for name, columns in TABLES.items()
        }


def test_two_processes_read_what_one_reads(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = library.index.update()
    found, hits = contents(library), library.search("tide4")
    monkeypatch.setattr(readers, "_WORTH_BYTES", 0)
    monkeypatch.setattr(readers, "_processors", lambda: 2)
    together = library.index.rebuild()
    assert (together.lines, together.bytes) == (alone.lines, alone.bytes)
    assert together.troubles == []
    assert contents(library) == found
    assert {each.path for each in library.search("tide4")} == {each.path for each in hits}


def test_a_file_whose_reader_dies_is_named_and_the_rest_is_read(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "_WORTH_BYTES", 0)
    monkeypatch.setattr(readers, "_processors", lambda: 2)
    begin = readers._Reader.begin
    killed: list[Any] = []

    def beginning(reader: Any, units: Any) -> bool:
        first = not killed
        if first:  # it must not be done before it is killed
            killed.append(reader)
            reader._process.send_signal(signal.SIGSTOP)
        begun = begin(reader, units)
        if first:
            reader._process.kill()
            reader._process.wait()
        return begun

    monkeypatch.setattr(readers._Reader, "begin", beginning)
    progress = library.index.update()
    (trouble,) = progress.troubles
    assert "ended too early" in trouble
    monkeypatch.undo()
    assert library.index.update().changed == 1
    assert library.index.check().differences == ()


def test_where_no_process_can_read_this_one_does(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "_WORTH_BYTES", 0)
    monkeypatch.setattr(readers, "_processors", lambda: 2)
    start = readers._Reader.__init__

    def starting(reader: Any) -> None:
        start(reader)
        reader._process.kill()
        reader._process.wait()

    monkeypatch.setattr(readers._Reader, "__init__", starting)
    assert library.index.update().troubles == []
    assert library.index.check().differences == ()
