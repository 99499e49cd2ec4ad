"""Models listed, priced and tried from the command line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.headless.command_line import CommandLine
from tests.providers.sse_server import SseServer, failure

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture
def server(run: CommandLine) -> Iterator[SseServer]:
    with SseServer() as server:
        server.models = ["gpt-5-mini", {"id": "my-own", "max_model_len": 4_096}]
        run.set("OPENAI_BASE_URL", server.url)
        run.set("OPENAI_API_KEY", KEY)
        yield server


def test_models_are_listed_with_window_and_price(run: CommandLine, server: SseServer) -> None:
    (run.home).mkdir(exist_ok=True)
    (run.home / "config.toml").write_text(
        '[models."my-own"]\nprice_input = 1.5\nprice_output = 2\n'
    )
    lines = run("models").out.splitlines()
    assert lines[0].split() == [
        "openai/gpt-5-mini*", "400,000", "$0.25", "/", "$2", "thinks", "pictures",
    ]  # fmt: skip
    assert lines[1].split() == ["openai/my-own", "4,096", "$1.5", "/", "$2"]
    assert run("models", "own").out.startswith("openai/my-own")
    assert run("models", "--json").json[0]["models"][1]["window"] == 4_096


def test_a_model_is_tried(run: CommandLine, server: SseServer) -> None:
    assert run("models", "--test").out.startswith("openai/gpt-5-mini: ")
    assert server.requests[0].body["model"] == "gpt-5-mini"
    server.answers.append(failure(401, {"error": {"message": "no"}}))
    refused = run("models", "--test", "own")
    assert refused.code == 1
    assert "did not accept the key" in refused.out
    assert KEY not in refused.out


def test_a_server_that_lists_nothing_is_told(run: CommandLine, server: SseServer) -> None:
    server.models = []
    ran = run("models")
    assert "openai: " in ran.err
    assert "openai/gpt-5-mini" in ran.out


def test_without_a_provider_it_is_said_what_to_do(run: CommandLine) -> None:
    ran = run("models")
    assert ran.code == 1
    assert "Set OPENAI_API_KEY" in ran.out


def test_a_server_that_cannot_be_reached_is_told_where_a_model_is_tried(run: CommandLine) -> None:
    run("config", "set", "providers.box.base_url", "http://127.0.0.1:9/v1")
    for words in ((), ("qwen",)):
        ran = run("models", "--test", *words)
        assert ran.code == 1
        assert "box: http://127.0.0.1:9/v1 refused the connection" in ran.err
        assert "agent-tui config set providers.box.base_url URL" in ran.err
        assert "matches" not in ran.err


def test_the_model_of_the_settings_is_tried_where_its_server_lists_none(run: CommandLine) -> None:
    with SseServer() as server:
        run("config", "set", "providers.box.base_url", server.url)
        run("config", "set", "model", "qwen")
        assert run("models", "--test").out.startswith("box/qwen: ")
        assert server.requests[-1].body["model"] == "qwen"


def test_words_that_name_no_listed_model_are_said(run: CommandLine, server: SseServer) -> None:
    assert "No listed model matches “llama”" in run("models", "--test", "llama").err
