"""What is promised for sessions of any format: no secret leaves, and each can be repaired."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
import zstandard

from agent_tui.importers.registry import import_session, locate
from agent_tui.library.exports.table import FORMATS as EXPORTS
from agent_tui.library.redaction import Redactor
from agent_tui.library.shipping.shipment import FORMS, Shipper
from agent_tui.runtime.stored.exporting import export_file
from tests.importers.foreign_files import FORMATS

CANARY = "canary-9f3b-77aZ-5d1f"
_SAID = ("list files", "fix the bug", "one file", "a.txt", "Done.", '"hm', "List", "/w", "so far")

_LEFT = (b"list files", b"fix the bug", b"so far")


def plant(name: str, folder: Path) -> Path:
    """A session of a format whose every text, title and folder holds a secret."""
    folder.mkdir()
    path = FORMATS[name][1](folder)
    if path.suffix == ".db":
        with closing(sqlite3.connect(path)) as base, base:
            for said in _SAID:
                told = (said, f"{said}{CANARY}")
                base.execute("update part set data = replace(data, ?, ?)", told)
                base.execute("update session set title = replace(title, ?, ?)", told)
                base.execute("update session set directory = replace(directory, ?, ?)", told)
        return path
    for file in [each for each in folder.rglob("*") if each.is_file()]:
        data = file.read_bytes()
        packed = file.suffix == ".zst"
        text = (zstandard.decompress(data) if packed else data).decode()
        for said in _SAID:
            text = text.replace(said, f"{said}{CANARY}")
        file.write_bytes(zstandard.compress(text.encode()) if packed else text.encode())
    assert CANARY in json.dumps([str(record) for record in import_session(path).records])
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_no_secret_of_any_format_is_exported(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = plant(name, tmp_path / "files")
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    for form in EXPORTS:
        exported = export_file(path, form)
        assert CANARY.encode() not in exported.content, form
        assert any(said in exported.content for said in _LEFT), form
        assert exported.redacted, form


@pytest.mark.parametrize("name", FORMATS)
def test_no_secret_of_any_format_is_shipped(name: str, tmp_path: Path) -> None:
    path = plant(name, tmp_path / "files")
    for form in FORMS:
        folder = tmp_path / form
        shipper = Shipper(folder, Redactor([CANARY]), with_content=True)
        shipment = shipper.ship([locate(path)], form)
        assert shipment.troubles == []
        assert shipment.redacted
        (file,) = map(Path, shipment.files)
        text = file.read_bytes().decode(errors="replace")
        if form == "parquet":
            query = f"SELECT to_json(row)::VARCHAR FROM '{file}' AS row"
            text = str(duckdb.connect().execute(query).fetchall())
        assert CANARY not in text, form
        assert any(said.decode() in text for said in _LEFT), form
