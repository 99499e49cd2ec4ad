"""Whatever is wrong with a file: it is counted and named, never fatal, and never written to."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_tui.core.errors import AgentTuiError, SessionBusy, SessionError, SessionReadOnly
from agent_tui.core.record_writing import record_fields
from agent_tui.importers.imported import ImportedSession, count_findings
from agent_tui.importers.importer import SessionRef
from agent_tui.importers.registry import import_session, locate, read, read_tail, summarise
from agent_tui.importers.resume import records_to_resume
from agent_tui.library.exports.table import FORMATS as EXPORTS
from agent_tui.library.exports.table import About
from agent_tui.runtime.stored.exporting import export_records
from tests.importers.foreign_files import FORMATS, claude_session, opencode_session
from tests.importers.session_files import unaccounted, write_lines

EXAMPLES = settings().max_examples * 3 // 5
LINES = [name for name in FORMATS if "database" not in name]
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 3.5, "", "x", [], [None], [[]], {}, {"type": []}, {"id": 7}),
    *([{"type": "text", "text": 3}], [{"type": "tool_use"}], "\ud83d", 10**30, {"content": {}}),
)


def check(session: ImportedSession) -> None:
    assert unaccounted(session.accounting) == 0
    json.dumps(count_findings(session))
    logs = [session.records, session.context, *(a.records for a in session.archives)]
    for records in (*logs, *(child.records for child in session.children)):
        for record in records:
            record_fields(record)
    with suppress(SessionError):
        records_to_resume(session.records, session.compactions, len(session.records) - 1)
    about = About(session.session_id, session.title, compactions=session.compactions)
    for form, export in EXPORTS.items():
        whole = session.context if export.of_context else session.records
        export_records(form, whole, about)


def try_everything(ref: SessionRef) -> None:
    """Read a file in every way: it works, or says in words why not."""
    with suppress(AgentTuiError):
        check(read(ref))
    with suppress(AgentTuiError):
        read_tail(ref, 3)
    summarise(ref)


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def change(value: Any, chance: random.Random) -> Any:
    """The value with one odd value somewhere in it."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(sorted(value))
        return {**value, key: change(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        return [*value[:place], change(value[place], chance), *value[place + 1 :]]
    return chance.choice(ODD)


def damage(data: bytes, chance: random.Random) -> bytes:
    """Bytes as a crash, a bad disk or a strange program may leave them."""
    lines = data.split(b"\n")
    match chance.randrange(7):
        case 0:
            return data[: chance.randrange(len(data) + 1)]
        case 1:
            place = chance.randrange(max(1, len(data)))
            return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
        case 2:
            chance.shuffle(lines)
        case 3:
            lines += chance.choices(lines, k=3)
        case 4:
            garbage = chance.choice([b"\0" * 50, b"{", b"[1]", b'{"a":' * 300, b"\xff\xfe", b"3"])
            lines.insert(chance.randrange(len(lines) + 1), garbage)
        case 5:
            del lines[chance.randrange(len(lines))]
        case _:
            place = chance.randrange(len(lines))
            with suppress(ValueError):
                lines[place] = json.dumps(change(json.loads(lines[place]), chance)).encode()
    return b"\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 10**9))
def test_any_damage_is_counted_or_refused_in_words(name: str, tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "files"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    source, make = FORMATS[name]
    path = make(folder)
    chance = random.Random(seed)
    packed = path.suffix == ".zst"
    target = chance.choice([p for p in folder.rglob("*") if p.is_file()])
    data = target.read_bytes()
    if packed and chance.random() < 0.7:
        data = damage(zstandard.decompress(data), chance)
        target.write_bytes(zstandard.compress(data))
    else:
        for _ in range(chance.randrange(1, 4)):
            data = damage(data, chance)
        target.write_bytes(data)
    before = snapshot(folder)
    try_everything(SessionRef(source, path))
    with suppress(AgentTuiError):
        check(import_session(path))
    assert snapshot(folder) == before


def damage_rows(path: Path, chance: random.Random) -> None:
    """Cells that hold what no cell should, rows that are gone or there twice, a table that is."""
    with closing(sqlite3.connect(path)) as database, database:
        table = chance.choice(["session", "message", "part"])
        columns = [row[1] for row in database.execute(f"pragma table_info ({table})")]
        if not columns:
            return
        column = chance.choice(columns)
        rows = [row for (row,) in database.execute(f"select rowid from {table}")]
        where = f"where rowid = {chance.choice(rows or [0])}"
        match chance.randrange(6):
            case 0:
                database.execute(f"insert into {table} select * from {table} {where}")
            case 1:
                database.execute(f"delete from {table} {where}")
            case 2:
                database.execute(f"alter table {table} rename column {column} to other")
            case 3:
                database.execute(f"drop table {table}")
            case 4:
                odd = chance.choice([None, -1, 2**62, 3.5, "", "{", b"\xff\0", "[" * 500, "ses_1"])
                database.execute(f"update {table} set {column} = ? {where}", (odd,))
            case _ if "data" in columns:
                told = database.execute(f"select data from {table} {where}").fetchone()
                with suppress(ValueError, TypeError):
                    odd = json.dumps(change(json.loads(told[0]), chance))
                    database.execute(f"update {table} set data = ? {where}", (odd,))


@pytest.mark.slow
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 10**9))
def test_any_damage_of_a_database_is_counted_or_refused_in_words(tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "files"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    source, make = FORMATS["opencode database"]
    path = make(folder)
    chance = random.Random(seed)
    for _ in range(chance.randrange(4)):
        with suppress(sqlite3.Error):
            damage_rows(path, chance)
    if chance.random() < 0.4:
        data = bytearray(path.read_bytes())
        for place in chance.sample(range(len(data)), chance.choice((1, 20, 500))):
            data[place] = chance.randrange(256)
        path.write_bytes(data[: chance.randrange(len(data))] if chance.random() < 0.3 else data)
    before = snapshot(folder)
    try_everything(SessionRef(source, path))
    try_everything(SessionRef(source, path, "ses_1"))
    with suppress(AgentTuiError):
        check(import_session(path))
    assert snapshot(folder) == before


@pytest.mark.parametrize("name", FORMATS)
def test_empty_and_binary_files_are_refused_in_words(name: str, tmp_path: Path) -> None:
    source, make = FORMATS[name]
    path = make(tmp_path)
    for data in (b"", b"\n\n", b"\0" * 9, random.Random(3).randbytes(5_000)):
        path.write_bytes(data)
        try_everything(SessionRef(source, path))
        with pytest.raises(AgentTuiError):
            import_session(path)


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_may_not_be_read_is_named(name: str, tmp_path: Path) -> None:
    source, make = FORMATS[name]
    path = make(tmp_path)
    ref = locate(path)
    path.unlink()
    assert "unreadable" in summarise(ref).title
    path.mkdir()
    with pytest.raises(AgentTuiError, match=path.name):
        read(ref)
    if os.geteuid():
        path.rmdir()
        make(tmp_path).chmod(0)
        with pytest.raises((SessionReadOnly, AgentTuiError), match="permission"):
            read(SessionRef(source, path))


def test_a_long_path_hides_not_why_a_session_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("a-long-name-of-a-project-" * 6)
    folder.mkdir()
    ref = locate(write_lines(folder / "S.jsonl", claude_session()))

    def refused(path: object, *_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    assert summarise(ref).title == "unreadable: may not be read: permission was denied."


def test_a_huge_line_costs_only_itself(tmp_path: Path) -> None:
    lines = claude_session()
    huge = {**lines[1], "uuid": "u0", "message": {"role": "user", "content": "x" * (65 << 20)}}
    path = write_lines(tmp_path / "S.jsonl", [*lines[:1], huge, *lines[1:]])
    session = import_session(path)
    assert session.damaged == 1
    assert session.accounting.read == len(lines) + 1
    assert session.title == "fix the bug"


def test_a_line_that_is_still_being_written_waits(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "S.jsonl", claude_session())
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    session = import_session(path)
    assert (session.damaged, unaccounted(session.accounting)) == (1, 0)
    path.write_bytes(whole)
    assert import_session(path).damaged == 0


def test_parents_in_a_circle_hang_nothing(tmp_path: Path) -> None:
    lines = claude_session()
    for line in lines:
        if line.get("uuid") == "u1":
            line["parentUuid"] = "a4"
    session = import_session(write_lines(tmp_path / "S.jsonl", lines))
    assert unaccounted(session.accounting) == 0
    assert session.title == "fix the bug"


def test_an_unknown_version_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    lines = [{**line, "version": "99.0"} for line in claude_session()]
    novel = {"type": "hologram", "uuid": "h", "sessionId": "S", "beam": 3}
    session = import_session(write_lines(tmp_path / "S.jsonl", [*lines, novel]))
    assert session.accounting.unknown == {"hologram": 1}
    assert [record.fields for record in session.records if hasattr(record, "fields")] == [novel]


def test_a_locked_database_is_named_and_not_waited_for(tmp_path: Path) -> None:
    source, make = FORMATS["opencode database"]
    path = make(tmp_path)
    ref = locate(path)
    with closing(sqlite3.connect(path)) as other:
        other.execute("pragma journal_mode = wal")
        other.execute("insert into session (id, title) values ('x', 'y')")
        other.commit()
        other.execute("pragma locking_mode = exclusive")
        other.execute("begin exclusive")
        other.execute("insert into session (id, title) values ('z', 'y')")
        with pytest.raises(SessionBusy, match="locked by another program"):
            read(ref)
        assert summarise(ref).title.startswith("unreadable: The database")  # the rest may be cut
        other.rollback()
    assert source == ref.source


def test_a_database_that_is_being_written_is_read_as_it_stands(tmp_path: Path) -> None:
    path = FORMATS["opencode database"][1](tmp_path)
    with closing(sqlite3.connect(path)) as other:
        other.execute("pragma journal_mode = wal")
        other.execute("update session set title = 'renamed'")
        other.commit()
        assert import_session(path).title == "renamed"


def test_a_database_with_damaged_rows_is_read_around_them(tmp_path: Path) -> None:
    path = FORMATS["opencode database"][1](tmp_path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("update part set data = '{torn' where id = 'prt_3'")
        database.execute("insert into message values ('m9', 'ses_1', 9, x'00ff')")
        database.commit()
    session = import_session(path)
    assert session.damaged == 2
    assert unaccounted(session.accounting) == 0
    whole = len(opencode_session()["messages"])
    assert session.accounting.read == 1 + whole + 7 + 1
