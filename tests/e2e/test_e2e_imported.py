"""Sessions of other agents are continued as ours against a server that somebody else wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.stage import Disk
from tests.headless.command_line import CommandLine
from tests.importers.foreign_files import FORMATS
from tests.providers.mock_ai_server import run_mock_ai_server


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with run_mock_ai_server(tmp_path_factory.mktemp("mock-ai") / "server.log") as found:
        yield found


@pytest.fixture
def program(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandLine:
    line = CommandLine(tmp_path, monkeypatch, capsys)
    line.set("OPENAI_BASE_URL", url)
    line.set("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    return line


@pytest.mark.parametrize("name", FORMATS)
def test_a_session_of_every_format_is_continued(
    name: str, program: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "foreign"
    folder.mkdir()
    path = FORMATS[name][1](folder)
    before = path.read_bytes()
    fork = program("fork", str(path), "--json").json
    model = ("--model", "gpt-4.1:mock-text")
    ran = program("-r", fork["session_id"], "-p", "Thank you", "--output-format", "json", *model)
    assert ran.code == 0, ran.err
    assert ran.json["text"]
    disk = Disk(program.home)
    roles = disk.roles()
    assert roles[0] == "_session"
    assert "_approval" not in roles
    header = disk.records()[0]
    assert header["cwd"] == str(program.workspace)  # never the folder that the file names
    assert header["parent"]["imported_from"]["agent"] == FORMATS[name][0]
    users = [json.dumps(r["content"]) for r in disk.records() if r["role"] == "user"]
    assert "Thank you" in users[-1]
    assert path.read_bytes() == before


def test_a_session_is_continued_from_any_message(program: CommandLine, tmp_path: Path) -> None:
    path = FORMATS["codex"][1](tmp_path)
    fork = program("fork", str(path), "--at", "4", "--json").json
    disk = Disk(program.home).of(fork["session_id"])
    assert [r["content"] for r in disk.records() if r["role"] == "tool"] == ["a.txt"]
    edited = program("fork", str(path), "--at", "2", "--json").json
    assert edited["prompt"] == "list files"
    first = program("fork", str(FORMATS["claude"][1](tmp_path)), "--at", "1")
    assert "No prompt comes before this" in first.sentence
