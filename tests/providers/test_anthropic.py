"""The provider for Anthropic's Messages API, against a real HTTP server on loopback."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_tui.agent.reply import Reply
from agent_tui.core.errors import ProviderError
from agent_tui.core.events import StreamPart
from agent_tui.core.messages import MediaPart, TextPart, ThinkPart, ToolCall
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.core.usage import Usage
from agent_tui.providers.anthropic import Anthropic
from agent_tui.providers.model_facts import ModelFacts
from tests.providers.aimock_server import run_aimock_server
from tests.providers.message_events import (
    block,
    call_block,
    end,
    hello,
    reply,
    start,
    text_block,
    thought_block,
)
from tests.providers.replies import TOOLS, ask, calls, ended, play, text, thinking
from tests.providers.sse_server import Answer, Cut, Pause, SseServer, failure

KEY = "sk-ant-canary-0123456789"
MODEL = "claude-sonnet-4-5"
THINKS = ModelFacts(max_output_tokens=64_000, thinking_level="medium")
LLMOCK = shutil.which("llmock")


def connect(server: SseServer, facts: ModelFacts = THINKS, **options: Any) -> Anthropic:
    options.setdefault("api_key", KEY)
    return Anthropic(base_url=server.url, facts_of=lambda _: facts, **options)


async def hear(
    server: SseServer,
    *answers: Answer,
    history: tuple[Message | str, ...] = ("Hello",),
    **more: Any,
) -> list[StreamPart]:
    server.answers.extend(answers)
    model = more.pop("model", MODEL)
    provider = connect(server, **more)
    try:
        return await play(provider, ask(*history, model=model))
    finally:
        await provider.aclose()


async def fail(server: SseServer, *answers: Answer, **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await hear(server, *answers, **options)
    return caught.value


def message_of(parts: list[StreamPart], model: str = MODEL) -> AssistantMessage:
    """The message that the agent would write."""
    gathered = Reply()
    for part in parts:
        gathered.add(part)
    return gathered.message(turn=1, model=model)


# What is sent


async def test_a_request_holds_the_prompt_the_messages_and_the_tools(
    sse_server: SseServer,
) -> None:
    await hear(sse_server, hello())
    seen = sse_server.requests[0]
    assert seen.path == "/v1/messages"
    assert seen.headers["x-api-key"] == KEY
    assert seen.headers["anthropic-version"] == "2023-06-01"
    mark = {"cache_control": {"type": "ephemeral"}}
    assert seen.body["system"] == [{"type": "text", "text": "Be helpful."} | mark]
    assert seen.body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Hello"} | mark]}
    ]
    assert [tool["name"] for tool in seen.body["tools"]] == [tool.name for tool in TOOLS]
    assert (seen.body["max_tokens"], seen.body["stream"]) == (64_000, True)


@pytest.mark.parametrize(
    ("model", "level", "sent"),
    [
        ("claude-sonnet-4-5", "medium", {"type": "enabled", "budget_tokens": 10_000}),
        ("claude-3-7-sonnet-latest", "low", {"type": "enabled", "budget_tokens": 4_096}),
        ("claude-opus-4-1-20250805", "high", {"type": "enabled", "budget_tokens": 24_000}),
        ("claude-sonnet-4-20250514", "low", {"type": "enabled", "budget_tokens": 4_096}),
        ("claude-opus-4-6", "high", {"type": "adaptive", "display": "summarized"}),
        ("claude-opus-5", "low", {"type": "adaptive", "display": "summarized"}),
        ("claude-sonnet-4-5", "off", None),
        ("claude-sonnet-4-5", None, None),
    ],
)
async def test_each_generation_is_told_how_hard_to_think(
    sse_server: SseServer, model: str, level: Any, sent: Any
) -> None:
    facts = ModelFacts(max_output_tokens=64_000, thinking_level=level)
    await hear(sse_server, hello(), model=model, facts=facts)
    body = sse_server.requests[0].body
    assert body.get("thinking") == sent
    adaptive = sent is not None and sent["type"] == "adaptive"
    assert body.get("output_config") == ({"effort": level} if adaptive else None)


async def test_a_thought_goes_back_as_it_was_signed(sse_server: SseServer) -> None:
    parts = await hear(
        sse_server,
        reply(
            start(),
            thought_block(0, "sig-1", "Let me ", "look."),
            block(1, {"type": "redacted_thinking", "data": "opaque"}),
            thought_block(2, "sig-2"),
            text_block(3, "I look."),
            call_block(4, "toolu_1", "read_file", '{"pa', 'th": "a"}'),
            end("tool_use"),
        ),
    )
    assert thinking(parts) == "Let me look."
    message = message_of(parts)
    result = ToolMessage("toolu_1", "content of a")
    await hear(sse_server, hello(), history=("Hello", message, result))
    sent = sse_server.requests[1].body["messages"]
    assert [turn["role"] for turn in sent] == ["user", "assistant", "user"]
    assert sent[1]["content"] == [
        {"type": "thinking", "thinking": "Let me look.", "signature": "sig-1"},
        {"type": "redacted_thinking", "data": "opaque"},
        {"type": "thinking", "thinking": "", "signature": "sig-2"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}},
    ]
    assert sse_server.requests[1].body["thinking"]["type"] == "enabled"


async def test_results_of_one_step_are_one_turn_and_the_last_turns_are_marked(
    sse_server: SseServer,
) -> None:
    two_calls = AssistantMessage(
        "", (ToolCall("a", "read_file", "{}"), ToolCall("b", "read_file", "{bad"))
    )
    history = (
        *("first", AssistantMessage("Yes."), "second", two_calls),
        *(ToolMessage("a", "one"), ToolMessage("b", "two", is_error=True)),
    )
    await hear(sse_server, hello(), history=history)
    sent = sse_server.requests[0].body["messages"]
    assert [turn["role"] for turn in sent] == ["user", "assistant", "user", "assistant", "user"]
    one, two = sent[-1]["content"]
    assert (one["tool_use_id"], one["content"]) == ("a", [{"type": "text", "text": "one"}])
    assert (two["is_error"], "is_error" in one) == (True, False)
    assert sent[3]["content"][1]["input"] == {}
    marked = ["cache_control" in turn["content"][-1] for turn in sent]
    assert marked == [False, False, True, False, True]


async def test_a_growing_conversation_is_encoded_once(sse_server: SseServer) -> None:
    provider = connect(sse_server)
    history: list[Message | str] = ["one"]
    for turn in range(3):
        sse_server.answers.append(hello())
        await play(provider, ask(*history, model=MODEL))
        history += [AssistantMessage(f"answer {turn}"), UserMessage(f"more {turn}")]
    await provider.aclose()
    again = connect(sse_server)
    sse_server.answers.append(hello())
    await play(again, ask(*history[:-2], model=MODEL))
    await again.aclose()
    assert sse_server.requests[-1].body == sse_server.requests[-2].body


async def test_pictures_are_sent_and_what_cannot_be_is_named(sse_server: SseServer) -> None:
    png = MediaPart("image_url", "data:image/png;base64,AAAA")
    web = MediaPart("image_url", "https://example.org/a.png")
    sound = MediaPart("audio_url", "data:audio/wav;base64,AAAA")
    history = (UserMessage((TextPart("Look: "), png, web, sound, TextPart(" "))),)
    await hear(sse_server, hello(), history=history)
    content = sse_server.requests[0].body["messages"][0]["content"]
    assert [each["type"] for each in content] == ["text", "image", "image", "text"]
    assert content[1]["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert content[2]["source"] == {"type": "url", "url": "https://example.org/a.png"}
    assert content[3]["text"] == "[audio]"


async def test_without_tools_calls_of_the_past_are_told_in_words(sse_server: SseServer) -> None:
    call = AssistantMessage("", (ToolCall("a", "read_file", "{}"),))
    provider = connect(sse_server)
    sse_server.answers.append(hello())
    await play(provider, ask("x", call, ToolMessage("a", "one"), tools=(), model=MODEL))
    await provider.aclose()
    sent = sse_server.requests[0].body["messages"]
    assert "tool_use" not in json.dumps(sent)
    assert sent[1]["content"] == [{"type": "text", "text": "[called read_file]"}]


# A history of another provider


async def test_a_history_of_another_provider_is_translated(sse_server: SseServer) -> None:
    foreign = AssistantMessage(
        (ThinkPart("A thought of another model.", "c2lnbmVkIGJ5IG90aGVycw=="), TextPart("I look.")),
        (ToolCall("call:1/ü", "functions.read_file", '["no object"]'),),
        model="gpt-5",
    )
    history = ("Hello", foreign, ToolMessage("call:1/ü", ""), AssistantMessage("Done."), "More")
    await hear(sse_server, hello(), history=history)
    sent = sse_server.requests[0].body["messages"]
    assert "thought of another" not in json.dumps(sent)
    assert "c2lnbmVk" not in json.dumps(sent)
    call = sent[1]["content"][-1]
    assert (call["name"], call["input"]) == ("functions_read_file", {})
    assert sent[2]["content"][0]["tool_use_id"] == call["id"]
    assert call["id"].startswith("call_")
    assert sse_server.requests[0].body["thinking"]["type"] == "enabled"


async def test_thinking_waits_while_a_turn_of_another_provider_is_under_way(
    sse_server: SseServer,
) -> None:
    foreign = AssistantMessage("", (ToolCall("a", "read_file", "{}"),), model="gpt-5")
    await hear(sse_server, hello(), history=("Hello", foreign, ToolMessage("a", "x")))
    assert "thinking" not in sse_server.requests[0].body


async def test_signatures_that_are_refused_are_left_out_and_it_is_asked_again(
    sse_server: SseServer,
) -> None:
    signed = AssistantMessage((ThinkPart("Hm.", "sig"), TextPart("Yes.")), model="claude-x")
    refusal = {"type": "error", "error": {"message": "messages.1: Invalid `signature` in block"}}
    parts = await hear(
        sse_server, failure(400, refusal), hello(), history=("Hello", signed, "More")
    )
    assert text(parts) == "Hello."
    first, second = (seen.body["messages"][1]["content"] for seen in sse_server.requests)
    assert [each["type"] for each in first] == ["thinking", "text"]
    assert [each["type"] for each in second] == ["text"]


@pytest.mark.parametrize(
    ("model", "words", "form"),
    [
        ("claude-opus-5", "adaptive thinking is not supported on this model", "enabled"),
        ("claude-sonnet-4-5", '"thinking.type.enabled" with budget_tokens is not', "adaptive"),
    ],
)
async def test_a_form_of_thinking_that_is_refused_is_exchanged(
    sse_server: SseServer, model: str, words: str, form: str
) -> None:
    refusal = failure(400, {"error": {"message": words}})
    await hear(sse_server, refusal, hello(), model=model)
    assert sse_server.requests[1].body["thinking"]["type"] == form
    more = [failure(400, {"error": {"message": words}}) for _ in range(2)]
    sse_server.requests.clear()
    await hear(sse_server, *more, hello(), model=model)
    assert "thinking" not in sse_server.requests[2].body


# What comes back


async def test_the_answer_arrives_with_all_that_was_used(sse_server: SseServer) -> None:
    parts = await hear(
        sse_server, hello(cache_read_input_tokens=100, cache_creation_input_tokens=20)
    )
    assert text(parts) == "Hello."
    assert ended(parts).finish_reason == "stop"
    assert ended(parts).usage == Usage(130, 5, 100, cache_write_tokens=20)


async def test_calls_arrive_whole(sse_server: SseServer) -> None:
    parts = await hear(
        sse_server,
        reply(
            start(),
            call_block(0, "toolu_1", "read_file", "", '{"path": "a'),
            call_block(1, "toolu_2", "find_files"),
            end("tool_use"),
        ),
    )
    found = calls(parts)
    assert [call.id for call in found] == ["toolu_1", "toolu_2"]
    assert [call.arguments for call in found] == ['{"path": "a', "{}"]
    assert ended(parts).finish_reason == "tool_calls"


async def test_an_answer_in_one_piece_is_understood(sse_server: SseServer) -> None:
    body = {
        "type": "message",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
            {"type": "text", "text": "Hello."},
            {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    whole = Answer((json.dumps(body).encode(),), headers={"Content-Type": "application/json"})
    parts = await hear(sse_server, whole)
    assert (text(parts), thinking(parts)) == ("Hello.", "Hm.")
    assert calls(parts)[0].arguments == '{"path":"a"}'
    assert ended(parts).usage == Usage(3, 2)


# What goes wrong


@pytest.mark.parametrize(
    ("status", "retryable", "told"),
    [
        (401, False, "did not accept the key from ANTHROPIC_API_KEY (401)"),
        (404, False, "has no model claude-sonnet-4-5"),
        (429, True, "asks to slow down (429)"),
        (500, True, "had an internal error (500)"),
        (529, True, "had an internal error (529)"),
    ],
)
async def test_a_status_is_one_sentence(
    sse_server: SseServer, status: int, retryable: bool, told: str
) -> None:
    body = {"type": "error", "error": {"type": "x", "message": f"No: {KEY}"}}
    error = await fail(sse_server, failure(status, body, Retry_After="7"))
    assert told in str(error)
    assert KEY not in str(error)
    assert (error.status, error.retryable) == (status, retryable)
    assert error.retry_after_seconds == 7


async def test_a_prompt_that_is_too_long_is_known_as_such(sse_server: SseServer) -> None:
    words = "prompt is too long: 210000 tokens > 200000 maximum"
    error = await fail(sse_server, failure(400, {"error": {"message": words}}))
    assert error.too_long


async def test_an_overload_inside_the_stream_is_tried_again_only_before_the_answer(
    sse_server: SseServer,
) -> None:
    overload = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    early = await fail(sse_server, reply(start(), overload))
    assert early.retryable
    assert "Overloaded" in str(early)
    late = await fail(sse_server, reply(start(), text_block(0, "Hel"), overload))
    assert not late.retryable


@pytest.mark.parametrize("step", [Cut(), None], ids=["reset", "closed"])
async def test_a_cut_stream_is_told(sse_server: SseServer, step: Cut | None) -> None:
    last = (step,) if step else ()
    error = await fail(sse_server, reply(start(), text_block(0, "Hel")[:2], *last))
    assert "ended in the middle of the answer" in str(error)
    assert not error.retryable


async def test_a_silent_server_is_given_up(sse_server: SseServer) -> None:
    error = await fail(sse_server, reply(start(), Pause(5)), timeout_seconds=0.2)
    assert "did not begin to answer" in str(error)
    assert error.retryable


async def test_an_end_without_its_last_event_is_an_end(sse_server: SseServer) -> None:
    parts = await hear(sse_server, reply(start(), text_block(0, "Yes."), end()[0]))
    assert (text(parts), ended(parts).finish_reason) == ("Yes.", "stop")


async def test_a_redirect_gets_neither_the_key_nor_the_conversation(sse_server: SseServer) -> None:
    with SseServer() as other:
        error = await fail(sse_server, failure(307, "", Location=f"{other.url}/messages"))
        assert other.requests == []
    assert error.status == 307


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "http://[::1/v1", "http://x:99999/v1"])
async def test_an_address_that_is_none_is_told_before_anything_is_sent(url: str) -> None:
    provider = Anthropic(base_url=url, api_key=KEY)
    provider.warm()
    with pytest.raises(ProviderError, match="is not a server address"):
        await play(provider, ask("x"))


async def test_without_a_key_the_sentence_says_what_to_set() -> None:
    provider = Anthropic()
    with pytest.raises(ProviderError, match="set ANTHROPIC_API_KEY"):
        await play(provider, ask("x"))


# A server that others wrote


@pytest.fixture(scope="module")
def aimock_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if LLMOCK is None:
        pytest.skip("llmock is not on PATH: npm install -g @copilotkit/aimock")
    answers: list[dict[str, Any]] = [
        {
            "match": {"userMessage": "look", "hasToolResult": False},
            "response": {
                "content": "I look.",
                "reasoning": "First I look.",
                "toolCalls": [{"name": "read_file", "arguments": {"path": "a.txt"}}],
            },
        },
        {"match": {"userMessage": "look"}, "response": {"content": "It holds **6**."}},
    ]
    with run_aimock_server(tmp_path_factory.mktemp("aimock"), answers) as url:
        yield url


async def test_a_turn_with_tools_at_aimock(aimock_url: str, tmp_path: Path) -> None:
    provider = Anthropic(base_url=aimock_url, api_key=KEY, facts_of=lambda _: THINKS)
    parts = await play(provider, ask("look", model=MODEL))
    assert text(parts) == "I look."
    assert thinking(parts) == "First I look."
    (call,) = calls(parts)
    assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "a.txt"})
    result = ToolMessage(call.id, "1\n2\n3\n")
    parts = await play(provider, ask("look", message_of(parts), result, model=MODEL))
    await provider.aclose()
    assert text(parts) == "It holds **6**."
