"""One session at several providers: started at one, continued at another, with tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.headless.command_line import CommandLine
from tests.providers import message_events as messages
from tests.providers.sse_server import (
    Answer,
    SseServer,
    call_chunk,
    delta_chunk,
    finish_chunk,
    stream,
    text_chunk,
    usage_chunk,
)

KEY = "sk-canary-0123456789abcdef"
ARGUMENTS = json.dumps({"path": "a.txt"})


class Providers:
    """A server of each kind, and the command line that knows both."""

    def __init__(self, run: CommandLine, openai: SseServer, anthropic: SseServer) -> None:
        self.openai = openai
        self.anthropic = anthropic
        self._run = run
        run.set("OPENAI_BASE_URL", openai.url)
        run.set("OPENAI_API_KEY", KEY)
        run.set("ANTHROPIC_BASE_URL", anthropic.url)
        run.set("ANTHROPIC_API_KEY", KEY)
        (run.workspace / "a.txt").write_text("six\n")

    def at_openai(self, *options: str) -> None:
        """A turn that thinks and reads a file."""
        thought = delta_chunk({"reasoning_content": "OpenAI-made thought."})
        call = call_chunk(call_id="call:1", name="read_file", arguments=ARGUMENTS)
        self.openai.answers += [
            stream(thought, text_chunk("I look."), call, finish_chunk("tool_calls")),
            stream(text_chunk("It says six."), finish_chunk()),
        ]
        assert self._run("-p", "Look", "-m", "gpt-5", *options).code == 0

    def at_anthropic(self, *options: str) -> None:
        """The same at the other one, with a signed thought."""
        self.anthropic.answers += [
            messages.reply(
                messages.start(),
                messages.thought_block(0, "signature-1", "Anthropic-made thought."),
                messages.text_block(1, "I look."),
                messages.call_block(2, "toolu_1", "read_file", ARGUMENTS),
                messages.end("tool_use"),
            ),
            messages.hello(),
        ]
        chosen = ("-m", "anthropic/claude-opus-5", "--thinking", "high")
        assert self._run("-p", "Look", *chosen, *options).code == 0


@pytest.fixture
def providers(run: CommandLine) -> Iterator[Providers]:
    with SseServer(reply=_unasked) as openai, SseServer(reply=_unasked) as anthropic:
        yield Providers(run, openai, anthropic)


def _unasked(_: Any) -> Answer:
    return Answer(status=500)


def test_a_session_goes_on_at_anthropic(run: CommandLine, providers: Providers) -> None:
    providers.at_openai()
    providers.at_anthropic("-c")
    first, second = (seen.body for seen in providers.anthropic.requests)
    told = json.dumps(first["messages"])
    assert "OpenAI-made thought" not in told
    call = first["messages"][1]["content"][-1]
    result = first["messages"][2]["content"][0]
    assert (call["type"], call["input"]) == ("tool_use", {"path": "a.txt"})
    assert result["tool_use_id"] == call["id"] != "call:1"
    assert "six" in result["content"][0]["text"]
    assert "signature-1" in json.dumps(second["messages"])
    assert second["thinking"]["type"] == "adaptive"
    assert len(run.logs()) == 1


def test_a_session_goes_on_at_openai(run: CommandLine, providers: Providers) -> None:
    providers.at_anthropic()
    providers.at_openai("-c")
    body = providers.openai.requests[0].body
    told = json.dumps(body["messages"])
    assert "Anthropic-made thought" not in told
    assert "signature-1" not in told
    call = next(m for m in body["messages"] if m.get("tool_calls"))["tool_calls"][0]
    assert (call["id"], call["function"]["arguments"]) == ("toolu_1", ARGUMENTS)
    result = next(m for m in body["messages"] if m["role"] == "tool")
    assert (result["tool_call_id"], "six" in result["content"]) == ("toolu_1", True)


def test_there_and_back_a_signed_thought_survives(run: CommandLine, providers: Providers) -> None:
    providers.at_anthropic()
    providers.at_openai("-c")
    providers.at_anthropic("-c")
    last = json.dumps(providers.anthropic.requests[-1].body["messages"])
    assert last.count("signature-1") == 2
    assert "OpenAI-made thought" not in last
    models = [record["model"] for record in run.records("assistant")]
    assert models == ["claude-opus-5"] * 2 + ["gpt-5"] * 2 + ["claude-opus-5"] * 2
    chosen = [(record["provider"], record["model"]) for record in run.records("_model")]
    claude = ("anthropic", "claude-opus-5")
    assert chosen == [claude, ("openai", "gpt-5"), claude]


def test_a_resumed_session_asks_the_provider_that_it_had(
    run: CommandLine, providers: Providers
) -> None:
    providers.at_anthropic()
    providers.anthropic.answers.append(messages.hello())
    assert run("-c", "-p", "More").code == 0
    assert providers.openai.requests == []
    assert providers.anthropic.requests[-1].body["model"] == "claude-opus-5"


def test_the_server_is_asked_which_model_it_has_and_no_other_is_made_up(
    run: CommandLine, providers: Providers
) -> None:
    providers.openai.models = [{"id": "my-own", "max_model_len": 9_000}, "another"]
    providers.openai.answers.append(stream(text_chunk("Hi."), finish_chunk()))
    ran = run("-p", "Hi", "--output-format", "json")
    assert providers.openai.requests[0].body["model"] == "my-own"
    assert ran.json["window"] == 9_000
    assert "Using my-own, first of 2 listed. You can choose another model (--model)." in ran.err
    providers.openai.models = ["another", "gpt-5-mini-2025-08-07"]
    providers.openai.answers.append(stream(text_chunk("Hi."), finish_chunk()))
    run("-p", "Hi")
    assert providers.openai.requests[1].body["model"] == "gpt-5-mini-2025-08-07"


def test_a_turn_that_costs_too_much_is_stopped(run: CommandLine, providers: Providers) -> None:
    call = call_chunk(call_id="c1", name="read_file", arguments=ARGUMENTS)
    used = usage_chunk(1_000_000, 1_000)
    providers.openai.answers.append(stream(call, finish_chunk("tool_calls"), used))
    ran = run("-p", "Look", "-m", "gpt-5", "--max-cost", "0.5")
    assert ran.code == 3
    assert "Cost limit reached ($0.50 for one turn)" in ran.err
    assert len(providers.openai.requests) == 1


def test_kimi_is_known_by_its_key_and_gets_its_thoughts_back(
    run: CommandLine, providers: Providers
) -> None:
    run.set("MOONSHOT_BASE_URL", providers.openai.url)
    run.set("MOONSHOT_API_KEY", f"{KEY}-kimi")
    thought = delta_chunk({"reasoning_content": "First I look."})
    call = call_chunk(call_id="c1", name="read_file", arguments=ARGUMENTS)
    providers.openai.answers += [
        stream(thought, call, finish_chunk("tool_calls")),
        stream(text_chunk("It says six."), finish_chunk()),
    ]
    ran = run("-p", "Look", "-m", "kimi/kimi-k2-thinking")
    assert ran.code == 0, ran.err
    first, second = providers.openai.requests
    assert first.body["model"] == "kimi-k2-thinking"
    assert first.headers["authorization"] == f"Bearer {KEY}-kimi"
    assert second.body["messages"][2]["reasoning_content"] == "First I look."
