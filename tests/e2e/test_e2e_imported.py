"""A session of every format is continued at servers that somebody else wrote."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_e2e_server import KEY
from tests.headless.command_line import run_program
from tests.importers.foreign_files import FORMATS
from tests.providers.aimock_server import run_aimock_server
from tests.providers.mock_ai_server import run_mock_ai_server


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[str, str]]]:
    """By address: the model to ask, and what it answers; aimock where it is on PATH."""
    folder = tmp_path_factory.mktemp("servers")
    answers = [{"match": {"userMessage": "hello"}, "response": {"content": "Hello to you."}}]
    with run_mock_ai_server(folder / "server.log") as url:
        found = {url: ("gpt-4.1:mock-text", "Hello. It's nice to meet you.")}
        if shutil.which("llmock") is None:
            yield found
            return
        with run_aimock_server(folder, answers) as other:
            yield {**found, f"{other}/v1": ("gpt-4.1", "Hello to you.")}


@pytest.mark.parametrize("name", FORMATS)
def test_a_session_of_any_format_is_continued(
    name: str, servers: dict[str, tuple[str, str]], tmp_path: Path
) -> None:
    home, work, files = (tmp_path / each for each in ("home", "work", "files"))
    for folder in (home, work, files):
        folder.mkdir()
    path = FORMATS[name][1](files)
    for url, (model, answer) in servers.items():
        ask = ("--cwd", work, "--model", model)
        given = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY}
        fork = run_program(home, "fork", path, "--json", *ask, **given).json
        said = ("-r", fork["session_id"], "-p", "hello", "--output-format", "json")
        ran = run_program(home, *said, *ask, **given)
        assert ran.code == 0, ran.err
        assert ran.json["text"] == answer
