"""Files of Claude Code that share a beginning: which is the original, and what is counted once."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from agent_tui.importers.importer import SessionRef
from agent_tui.library.search import copies, line_text, raw_lines
from agent_tui.library.search.copies import original_first, read_entries
from agent_tui.library.search.search_index import SearchIndex
from tests.importers.foreign_files import claude_user
from tests.importers.session_files import write_lines
from tests.library.search.conftest import Library


@pytest.fixture
def folder(library: Library) -> Path:
    folder = library.home / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    return folder


def write(folder: Path, session: str, *seconds: int) -> Path:
    """A session whose lines were said at these seconds, under its own id."""
    lines = [claude_user(f"u{at}", None, at, f"message {at}", sessionId=session) for at in seconds]
    return write_lines(folder / f"{session}.jsonl", lines)


def prompts(index: SearchIndex) -> dict[str, int]:
    """How many prompts were counted for each file, in the order of their numbers."""
    with closing(sqlite3.connect(index.path)) as base, base:
        found = base.execute(
            """SELECT path, coalesce(sum(prompts), 0) FROM files
            LEFT JOIN days ON days.file = files.id GROUP BY files.id ORDER BY files.id"""
        )
        return {Path(path).stem: count for path, count in found}


@pytest.mark.parametrize(
    "lines",
    [
        {"A": (1, 2), "B": (1, 3), "C": (1, 3, 4)},
        {"A": (1, 2, 3, 4), "B": (1, 2, 5), "C": (1, 6)},
        {"A": (1,), "B": (1, 2), "C": (1, 2, 3)},
        {"A": (1, 2, 3), "B": (1, 3, 4), "C": (1, 3, 4, 5)},
    ],
)
def test_a_copy_of_a_copy_comes_behind_what_it_was_copied_from(
    folder: Path, lines: dict[str, tuple[int, ...]]
) -> None:
    refs = [SessionRef("claude-code", write(folder, name, *at)) for name, at in lines.items()]
    for order in permutations(refs):
        found = original_first(map(read_entries, order))
        assert [each.ref.path.stem for each in found] == ["A", "B", "C"]


def test_a_copy_is_indexed_though_its_original_cannot_be_read(
    library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = write(folder, "A", 1, 2)
    library.index.update()
    write(folder, "B", 1, 2, 3)
    read = raw_lines.whole_lines

    def failing(ref: SessionRef, start: int) -> Any:
        if ref.path == original:
            raise PermissionError(13, "Permission denied")
        return read(ref, start)

    monkeypatch.setattr(copies, "whole_lines", failing)
    troubles = library.index.update().troubles
    assert troubles == [f"{original}: Permission denied"]
    assert set(library.ids("message")) == {"A", "B"}


@pytest.mark.parametrize("was_known", [False, True])
def test_what_copies_hold_is_counted_once_though_their_original_cannot_be_read(
    library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch, *, was_known: bool
) -> None:
    original = write(folder, "A", 1, 2)
    if was_known:
        library.index.update()
    write(folder, "B", 1, 2, 3)
    write(folder, "C", 1, 2, 4)
    opened = os.open

    def refuse(path: Any, *arguments: Any, **options: Any) -> int:
        if path == original:
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **options)

    with monkeypatch.context() as closed:
        closed.setattr(os, "open", refuse)
        for _ in range(2):
            troubles = library.index.update().troubles
            assert troubles == [f"{original} may not be read: permission was denied."]
            counted = prompts(library.index)
            assert counted.pop("A", 0) == 0
            assert counted == {"B": 3, "C": 1}
    assert library.index.update().troubles == []
    assert prompts(library.index) == {"A": 2, "B": 1, "C": 1}
    assert library.index.check().differences == ()


def test_each_file_of_many_copies_is_read_a_fixed_number_of_times(
    library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = line_text.decode
    lines: list[bytes] = []

    def decoded(line: bytes) -> Any:
        lines.append(line)
        return read(line)

    monkeypatch.setattr(copies, "decode", decoded)
    names = "ABCDEFGHIJ"
    for number, name in enumerate(names):
        write(folder, name, *range(1, 31), 31 + number)
    library.index.update()
    assert prompts(library.index) == {name: 31 if name == "A" else 1 for name in names}
    assert len(lines) < 2 * len(names) * 31
