"""No piece of a known secret leaves that the end of a part, a line or a field cut off."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from agent_tui.importers.registry import locate
from agent_tui.library.exports.table import FORMATS as EXPORTS
from agent_tui.library.redaction import MARK, Redactor
from agent_tui.library.secret_pieces import SecretPieces
from agent_tui.library.shipping.shipment import FORMS, Shipper
from agent_tui.runtime.stored.exporting import export_file
from tests.importers.session_files import write_lines

SECRET = "canary9f3b77aZ5d1fQqWw0123xyzK"
_HALF = len(SECRET) // 2
FIRST, SECOND = SECRET[:_HALF], SECRET[_HALF:]
_ENCODED = base64.b64encode(f"user=ada password={SECRET} and more".encode()).decode()
_ENCODED_SECRET = _ENCODED[24:62]
_TOLD = 16
"""Characters of a secret that would tell something of it."""


def hostile_lines() -> Iterator[dict[str, Any]]:
    """A session that cuts a secret wherever something ends."""
    parts = [{"type": "text", "text": f"so far {FIRST}"}, {"type": "text", "text": SECOND}]
    about = {"sessionId": SECRET, "timestamp": "2026-11-01T10:00:00Z", "cwd": f"/w/{SECRET}"}
    yield {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "gitBranch": SECRET,
        **about,
        "message": {"role": "user", "content": parts},
    }
    wrapped = "\n".join(_ENCODED[at : at + 19] for at in range(0, len(_ENCODED), 19))
    cuts = ("\n", "\r\n", "\\\n", "\u200b", "\x1b[0m", "\0", '", "')
    texts = [wrapped, *(f"{FIRST}{cut}{SECOND}" for cut in cuts)]
    given = {SECRET: SECRET, "file_path": f"/w/{SECRET}", "split": [FIRST, SECOND]}
    use = {"type": "tool_use", "id": SECRET, "name": SECRET, "input": given}
    content = [*({"type": "text", "text": text} for text in texts), use]
    yield {
        "type": "assistant",
        "uuid": "a1",
        "parentUuid": "u1",
        **about,
        "message": {"id": "m", "role": "assistant", "model": SECRET, "content": content},
    }
    result = {"type": "tool_result", "tool_use_id": SECRET, "content": parts}
    yield {
        "type": "user",
        "uuid": "u2",
        "parentUuid": "a1",
        **about,
        "message": {"role": "user", "content": [result]},
    }
    yield {"type": "custom-title", "customTitle": f"{FIRST}\n{SECOND}", "sessionId": SECRET}


def pieces_in(data: bytes) -> list[str]:
    """What the bytes tell of the secret."""
    text = data.decode(errors="replace")
    runs = (form[at : at + _TOLD] for form in (SECRET, _ENCODED_SECRET) for at in range(len(form)))
    return [run for run in runs if len(run) == _TOLD and run in text]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    folder = tmp_path / SECRET
    folder.mkdir()
    return write_lines(folder / f"{SECRET}.jsonl", hostile_lines())


@pytest.mark.parametrize("form", EXPORTS)
def test_no_piece_of_a_secret_is_exported(
    form: str, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    exported = export_file(session, form)
    assert pieces_in(exported.content) == []
    assert b"so far" in exported.content


@pytest.mark.parametrize("form", FORMS)
def test_no_piece_of_a_secret_is_shipped(form: str, session: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shipper = Shipper(folder, Redactor([SECRET]), with_content=True)
    assert shipper.ship([locate(session)], form).troubles == []
    for file in folder.iterdir():
        data = file.read_bytes()
        if file.suffix == ".parquet":
            data = json.dumps(duckdb.read_parquet(str(file)).fetchall()).encode()
        assert pieces_in(data) == [], file.name


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("/home/ada/.ssh/id_ed25519_work", "see /home/ada/.ssh/id_ed25519"),
        ("a sentence of 9 words that is known", "a sentence of 9 words"),
        ("https://h.example/a1/b2/c3/d4/e5", "https://h.example/a1/b2"),
        (SECRET, "canary9f3b77 and 0123xyzK"),
    ],
)
def test_a_piece_that_tells_little_stays(secret: str, text: str) -> None:
    assert Redactor([secret]).redact(text) == text


@pytest.mark.parametrize("secret", [SECRET, "1a" + "ab" * 40])
def test_pieces_are_looked_for_in_time_that_grows_with_the_text(secret: str) -> None:
    pieces = SecretPieces([secret])
    for text in (f"{secret[:14]} ", secret[1:17], "ab", "canar"):
        began = time.process_time()
        pieces.cut_out(text * (1_000_000 // len(text)), MARK)
        assert time.process_time() - began < 5


@pytest.mark.parametrize("unit", ["-eyJ", f"{'a' * 199}…", "ghp_", "-----BEGIN ", "password='"])
def test_what_begins_like_a_secret_is_looked_through_once(unit: str) -> None:
    redactor = Redactor([SECRET, *(f"{number}{SECRET[::-1]}" for number in range(20))])
    began = time.process_time()
    redactor.redact(unit * (200_000 // len(unit)))
    assert time.process_time() - began < 5


@pytest.mark.parametrize("at", [4, 9, 12, 18, 22, 26])
@pytest.mark.parametrize("gap", ["\n", '", "', "\x1b[0m", "\n│ "])
def test_the_short_piece_of_a_secret_cut_in_two_goes_with_the_long_one(at: int, gap: str) -> None:
    cut = f"key {SECRET[:at]}{gap}{SECRET[at:]} end"
    assert Redactor([SECRET]).redact(cut) == f"key {MARK}{gap}{MARK} end"


def test_a_piece_is_cut_out_and_counted() -> None:
    redactor = Redactor([SECRET])
    assert redactor.redact(f"a {FIRST}\n{SECOND} b {SECRET}") == f"a {MARK}\n{MARK} b {MARK}"
    assert redactor.report.sentence == "Redacted: 3 known values."


def test_what_was_shipped_under_a_path_is_not_shipped_again(session: Path, tmp_path: Path) -> None:
    ref = locate(session)
    Shipper(tmp_path / "out", Redactor()).ship([ref])
    state = tmp_path / "out" / "shipped.json"
    (place,) = json.loads(state.read_bytes()).values()
    state.write_text(json.dumps({str(session): place}))
    assert Shipper(tmp_path / "out", Redactor()).ship([ref]).rows == 0
    assert Shipper(tmp_path / "out", Redactor()).ship([ref]).rows == 0
