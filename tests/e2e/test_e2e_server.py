"""A turn with a chat and a tool call against servers that somebody else wrote, over HTTP.

The real program runs in a process of its own; what it did is read from the log on disk.

mock-ai-api comes with the test needs. aimock (npm ``@copilotkit/aimock``) plays whole turns: its
tests run where its ``llmock`` is on PATH.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.stage import Disk
from tests.headless.command_line import Ran, run_program
from tests.providers.aimock_server import run_aimock_server
from tests.providers.mock_ai_server import run_mock_ai_server

KEY = "sk-canary-0123456789abcdef"
LLMOCK = shutil.which("llmock")
ANSWERS: list[dict[str, Any]] = [
    {
        "match": {"userMessage": "numbers", "hasToolResult": False},
        "response": {
            "content": "I look, then I write.",
            "toolCalls": [
                {"name": "read_file", "arguments": {"path": "numbers.txt"}},
                {"name": "find_files", "arguments": {"pattern": "*.txt"}},
                {"name": "write_file", "arguments": {"path": "sum.txt", "content": "6\n"}},
            ],
        },
    },
    {
        "match": {"userMessage": "numbers", "hasToolResult": True},
        "response": {"content": "The sum of the numbers is **6**; it is in sum.txt."},
    },
    {"match": {"userMessage": "hello"}, "response": {"content": "Hello to you."}},
]


class Program:
    """``agent-tui -p`` with a server, a home and a workspace."""

    def __init__(self, folder: Path, url: str) -> None:
        self.home = folder / "home"
        self.workspace = folder / "work"
        self.workspace.mkdir()
        self.home.mkdir()
        self.disk = Disk(self.home)
        self._url = url

    def ask(self, prompt: str, *options: str) -> Ran:
        """Run one prompt in the workspace; a later one goes on in the same session."""
        return run_program(
            self.home,
            *(["-c"] if self.disk.sessions() else []),
            *("-p", prompt, "--output-format", "json", "--cwd", self.workspace),
            *options,
            OPENAI_BASE_URL=self._url,
            OPENAI_API_KEY=KEY,
        )

    def of_role(self, role: str) -> list[dict[str, Any]]:
        """The lines of one role in the log."""
        return [record for record in self.disk.records() if record["role"] == role]


@pytest.fixture(scope="module")
def mock_ai_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with run_mock_ai_server(tmp_path_factory.mktemp("mock-ai") / "server.log") as url:
        yield url


@pytest.fixture(scope="module")
def aimock_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if LLMOCK is None:
        pytest.skip("llmock is not on PATH: npm install -g @copilotkit/aimock")
    with run_aimock_server(tmp_path_factory.mktemp("aimock"), ANSWERS) as url:
        yield f"{url}/v1"


def test_a_chat_and_a_tool_call_with_mock_ai_api(tmp_path: Path, mock_ai_url: str) -> None:
    program = Program(tmp_path, mock_ai_url)
    (program.home / "config.toml").write_text("[agent]\nmax_steps = 2\n")

    ran = program.ask("Say hello", "--model", "gpt-4.1:mock-text")
    assert ran.code == 0
    assert ran.json["text"] == "Hello. It's nice to meet you."
    assert ran.json["usage"]["input_tokens"] > 0
    assert program.of_role("_usage")[-1]["token_count"] == ran.json["tokens"]

    # This server always calls its own tool, Write; a model that invents tools is told which exist.
    ran = program.ask("Write a file", "--model", "gpt-4.1:mock-tool-stream", "--yolo")
    assert ran.code == 3
    assert ran.json["end"] == "max_steps"
    calls = [
        call for answer in program.of_role("assistant") for call in answer.get("tool_calls", ())
    ]
    results = {result["tool_call_id"]: result for result in program.of_role("tool")}
    assert len(calls) == len(results) == 2
    for call in calls:
        assert call["function"]["name"] == "Write"
        assert json.loads(call["function"]["arguments"])["path"] == "tmp/mock-file.txt"
        assert "There is no tool 'Write'" in results[call["id"]]["content"]

    # The server takes the history back, with its calls and their results.
    ran = program.ask("Thank you", "--model", "gpt-4.1:mock-text")
    assert ran.code == 0
    assert [message["content"] for message in program.of_role("user")] == [
        "Say hello",
        "Write a file",
        "Thank you",
    ]
    assert len(program.disk.sessions()) == 1
    assert KEY not in program.disk.log.read_text()


@pytest.mark.parametrize(("status", "word"), [(401, "key"), (503, "")])
def test_errors_of_mock_ai_api_are_one_sentence(
    tmp_path: Path, mock_ai_url: str, status: int, word: str
) -> None:
    program = Program(tmp_path, mock_ai_url)
    (program.home / "config.toml").write_text("[agent]\nmax_attempts = 1\n")
    ran = program.ask("Say hello", "--model", f"gpt-4.1:mock-{status}")
    assert ran.code == 1
    assert f"({status})" in ran.sentence
    assert word in ran.sentence
    assert ran.json["end"] == "failed"
    assert program.ask("Again", "--model", "gpt-4.1:mock-text").code == 0


def test_a_whole_turn_with_tools_that_run_with_aimock(tmp_path: Path, aimock_url: str) -> None:
    program = Program(tmp_path, aimock_url)
    (program.workspace / "numbers.txt").write_text("1\n2\n3\n")

    assert program.ask("hello").json["text"] == "Hello to you."

    ran = program.ask("Add up the numbers", "--yolo")
    assert ran.code == 0
    assert ran.json["text"] == (
        "I look, then I write.\n\nThe sum of the numbers is **6**; it is in sum.txt."
    )
    assert (program.workspace / "sum.txt").read_text() == "6\n"
    read, found = sorted(program.of_role("tool")[:2], key=lambda one: one["content"])
    written = program.of_role("tool")[2]
    assert read["content"].startswith("1\t1\n2\t2")
    assert "numbers.txt" in found["content"]
    assert written["display"]["type"] == "diff"
    roles = program.disk.roles()
    assert roles.count("tool") == 3
    assert roles.index("assistant") < roles.index("tool")

    ran = program.ask("Add up the numbers once more")
    assert ran.code == 5
    assert ran.json["denied"] == ["sum.txt"]
