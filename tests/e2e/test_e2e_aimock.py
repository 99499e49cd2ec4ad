"""What goes wrong at real servers, played to the program by aimock (npm ``@copilotkit/aimock``).

These tests run where its ``llmock`` is on PATH; the log on disk says what came of each.
"""

from __future__ import annotations

import json
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.stage import Disk
from tests.headless.command_line import Ran, run_program
from tests.providers.aimock_server import run_aimock_server

pytestmark = pytest.mark.timeout(600)

KEY = "sk-canary-0123456789abcdef"
READ = {"name": "read_file", "arguments": json.dumps({"path": "a.txt"})}
HALF = {"name": "read_file", "arguments": '{"path": "a.t'}
MODEL = "house-model"


def entry(about: str, response: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An answer to prompts that hold a word; ``match_`` names narrow it, others shape it."""
    match = {name[6:]: value for name, value in more.items() if name.startswith("match_")}
    shape = {name: value for name, value in more.items() if not name.startswith("match_")}
    return {"match": {"userMessage": about, **match}, "response": response, **shape}


TOO_MANY = {"error": {"message": "slow down", "type": "rate_limit"}, "status": 429, "retryAfter": 1}
LOOK = {"content": "I look.", "reasoning": "First I look.", "toolCalls": [READ]}
FIXTURES = [
    entry("listed", {"content": "I am the house model."}, match_model=MODEL),
    entry("busy", TOO_MANY, match_sequenceIndex=0),
    entry("busy", {"content": "Now I can."}, match_sequenceIndex=1),
    entry("cut", {"content": "one two three four " * 20}, truncateAfterChunks=6, latency=100),
    entry("half", {"toolCalls": [HALF]}, match_hasToolResult=False),
    entry("half", {"content": "I see my mistake."}, match_hasToolResult=True),
    entry("think", LOOK, match_hasToolResult=False),
    entry("think", {"content": "It holds 6."}, match_hasToolResult=True),
]


class Program:
    """``agent-tui -p`` at aimock, with a home and a workspace of its own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.home, self.workspace, self.url = folder / "home", folder / "work", url
        self.home.mkdir()
        self.workspace.mkdir()
        (self.workspace / "a.txt").write_text("6\n")
        self.disk = Disk(self.home)

    def ask(self, prompt: str, *options: str, form: str = "json", **environment: str) -> Ran:
        keys = environment or {"OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_API_KEY": KEY}
        asked = ("-p", prompt, "--output-format", form, "--cwd", self.workspace)
        return run_program(self.home, *asked, *options, **keys)

    def of_role(self, role: str) -> list[dict[str, Any]]:
        return [record for record in self.disk.records() if record["role"] == role]

    def requests(self, prompt: str) -> list[dict[str, Any]]:
        """The requests for a prompt that the server says it got."""
        with urllib.request.urlopen(f"{self.url}/v1/_requests") as answer:
            bodies = [each["body"] for each in json.load(answer)]
        return [body for body in bodies if body and prompt in json.dumps(body)]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if shutil.which("llmock") is None:
        pytest.skip("llmock is not on PATH: npm install -g @copilotkit/aimock")
    with run_aimock_server(tmp_path_factory.mktemp("aimock"), FIXTURES) as url:
        yield url


@pytest.fixture
def program(tmp_path: Path, url: str) -> Program:
    return Program(tmp_path, url)


def test_a_server_is_asked_for_a_model_that_it_lists(program: Program) -> None:
    ran = program.ask("which is listed?")
    assert ran.json["text"] == "I am the house model."
    assert {body["model"] for body in program.requests("which is listed?")} == {MODEL}


def test_a_busy_server_is_asked_again_when_it_says(program: Program) -> None:
    ran = program.ask("are you busy?", "-m", MODEL, form="stream-json")
    assert ran.code == 0
    (retried,) = [line for line in ran.lines if line.get("type") == "step_retried"]
    assert retried["wait_seconds"] == 1
    assert program.of_role("assistant")[-1]["content"] == "Now I can."


def test_what_arrived_of_a_cut_answer_is_kept_and_the_cut_is_told(program: Program) -> None:
    ran = program.ask("be cut", "-m", MODEL)
    assert (ran.code, ran.json["end"]) == (1, "failed")
    (kept,) = program.of_role("assistant")
    assert kept["content"].startswith("one two")
    assert program.of_role("_turn_end")[-1]["end"] == "failed"


def test_a_call_with_half_its_json_is_told_to_the_model(program: Program) -> None:
    ran = program.ask("send half", "-m", MODEL)
    assert ran.json["text"].endswith("I see my mistake.")
    (result,) = program.of_role("tool")
    assert result["is_error"]


def test_reasoning_content_goes_back_where_it_came_from(program: Program) -> None:
    ran = program.ask("think at chat", "-m", "deepseek-reasoner")
    assert ran.json["text"].endswith("It holds 6.")
    assert "6" in program.of_role("tool")[0]["content"]
    _, second = program.requests("think at chat")
    (call,) = [each for each in second["messages"] if each["role"] == "assistant"]
    assert call["reasoning_content"] == "First I look."


def test_a_turn_with_thinking_and_tools_over_messages(program: Program) -> None:
    chosen = ("-m", "anthropic/claude-sonnet-4-5", "--thinking", "high")
    where = {"ANTHROPIC_BASE_URL": program.url, "ANTHROPIC_API_KEY": KEY}
    ran = program.ask("think in messages", *chosen, **where)
    assert ran.json["text"].endswith("It holds 6.")
    first, _ = program.of_role("assistant")
    assert [part["type"] for part in first["content"]] == ["think", "text"]
    assert first["content"][0]["think"] == "First I look."
    assert "6" in program.of_role("tool")[0]["content"]
