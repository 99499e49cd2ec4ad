"""The provider for OpenAI-compatible servers, against a real HTTP server on loopback."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest

from agent_tui.config import ProviderSettings, Settings
from agent_tui.core.errors import ProviderError
from agent_tui.core.events import StreamPart, TextDelta
from agent_tui.core.messages import MediaPart, TextPart, ThinkPart, ToolCall, UnknownPart
from agent_tui.core.records import AssistantMessage, ToolMessage, UserMessage
from agent_tui.core.usage import Usage
from agent_tui.providers.openai_compatible import OpenAICompatible
from agent_tui.providers.presets import ProviderSpec
from agent_tui.providers.registry import make_provider
from tests.providers.replies import TOOLS, ask, calls, ended, play, text, thinking
from tests.providers.sse_server import (
    Answer,
    Cut,
    Pause,
    SseServer,
    call_chunk,
    delta_chunk,
    event,
    failure,
    finish_chunk,
    stream,
    text_chunk,
    usage_chunk,
)


def connect(server: SseServer, **options: Any) -> OpenAICompatible:
    options.setdefault("api_key", "sk-test-0123456789")
    return OpenAICompatible(base_url=server.url, **options)


async def hear(server: SseServer, *answers: Answer, **options: Any) -> list[StreamPart]:
    """The reply of a fresh provider to a fresh request."""
    server.answers.extend(answers)
    provider = connect(server, **options)
    try:
        return await play(provider, ask("Hello"))
    finally:
        await provider.aclose()


async def fail(server: SseServer, *answers: Answer, **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await hear(server, *answers, **options)
    return caught.value


# What is sent


async def test_a_request_holds_the_prompt_the_messages_and_the_tools(
    sse_server: SseServer,
) -> None:
    await hear(sse_server)
    seen = sse_server.requests[0]
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == "Bearer sk-test-0123456789"
    assert seen.body["messages"] == [
        {"role": "system", "content": "Be helpful."},
        {"role": "user", "content": "Hello"},
    ]
    assert [tool["function"]["name"] for tool in seen.body["tools"]] == [t.name for t in TOOLS]
    assert seen.body["stream_options"] == {"include_usage": True}
    assert "max_tokens" not in seen.body


async def test_every_kind_of_message_finds_its_shape(sse_server: SseServer) -> None:
    provider = connect(sse_server)
    seen = (
        TextPart("Look: "),
        MediaPart("image_url", "data:image/png;base64,AA=="),
        MediaPart("audio_url", "data:audio/mpeg;base64,BB=="),
        UnknownPart({"type": "hologram"}),
    )
    history = (
        UserMessage(seen),
        AssistantMessage((ThinkPart("secret thought"), TextPart("I see. "), TextPart("Well."))),
        AssistantMessage((ThinkPart("only a thought"),)),
        UserMessage((TextPart("a"), TextPart("b \ud800"))),
        AssistantMessage((ThinkPart("hm"),), (ToolCall("c1", "read_file", '{"path": "x"}'),)),
        ToolMessage("c1", (TextPart("content"), MediaPart("image_url", "http://x/y.png"))),
    )
    await play(provider, ask(*history))
    await provider.aclose()
    sent = sse_server.requests[0].body["messages"][1:]
    assert sent[0]["content"] == [
        {"type": "text", "text": "Look: "},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        {"type": "input_audio", "input_audio": {"data": "BB==", "format": "mp3"}},
        {"type": "text", "text": "[a part of type hologram]"},
    ]
    assert sent[1:] == [
        {"role": "assistant", "content": "I see. Well."},
        {"role": "user", "content": "ab ?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "read_file", "arguments": '{"path": "x"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "content[image]"},
    ]


THOUGHT_AND_CALLED = (
    AssistantMessage((ThinkPart("I must look."),), (ToolCall("c1", "read_file", "{}"),)),
    ToolMessage("c1", "content"),
)


@pytest.mark.parametrize(
    ("field", "sent_back"), [("reasoning_content", "I must look."), ("reasoning", None)]
)
async def test_reasoning_goes_back_only_to_servers_that_call_it_reasoning_content(
    sse_server: SseServer, field: str, sent_back: str | None
) -> None:
    sse_server.answers.append(stream(delta_chunk({field: "I must look."}), finish_chunk()))
    provider = connect(sse_server)
    assert thinking(await play(provider, ask("x"))) == "I must look."
    await play(provider, ask("x", *THOUGHT_AND_CALLED))
    await provider.aclose()
    assert sse_server.requests[1].body["messages"][2].get("reasoning_content") == sent_back


async def test_a_server_that_misses_the_reasoning_gets_it(sse_server: SseServer) -> None:
    refusal = {"error": {"message": "Missing `reasoning_content` field in the assistant message"}}
    sse_server.answers.append(failure(400, refusal))
    provider = connect(sse_server)
    assert text(await play(provider, ask("x", *THOUGHT_AND_CALLED))) == "Hello from **loopback**."
    await provider.aclose()
    sent = [seen.body["messages"][2].get("reasoning_content") for seen in sse_server.requests]
    assert sent == [None, "I must look."]


async def test_a_server_that_refuses_stream_options_is_asked_without_them_ever_after(
    sse_server: SseServer,
) -> None:
    sse_server.answers.append(failure(400, {"error": "unknown field: stream_options"}))
    provider = connect(sse_server)
    assert text(await play(provider, ask("x"))) == "Hello from **loopback**."
    await play(provider, ask("x"))
    await provider.aclose()
    sent = ["stream_options" in seen.body for seen in sse_server.requests]
    assert sent == [True, False, False]


async def test_a_server_that_refuses_whatever_it_is_sent_is_not_asked_forever(
    sse_server: SseServer,
) -> None:
    refusals = [failure(400, "reasoning_content and stream_options!") for _ in range(9)]
    error = await fail(sse_server, *refusals)
    assert error.status == 400
    assert len(sse_server.requests) <= 4


# What is heard


async def test_text_arrives_piece_by_piece_with_its_usage(sse_server: SseServer) -> None:
    details = {
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    parts = await hear(
        sse_server,
        stream(
            delta_chunk({"role": "assistant", "content": ""}),
            text_chunk("Hel"),
            text_chunk("lo ✓"),
            finish_chunk(),
            usage_chunk(100, 20, **details),
        ),
    )
    assert [part.text for part in parts if isinstance(part, TextDelta)] == ["Hel", "lo ✓"]
    assert ended(parts).usage == Usage(100, 20, cached_tokens=60, reasoning_tokens=5)
    assert ended(parts).finish_reason == "stop"


@pytest.mark.parametrize("details", [{"prompt_cache_hit_tokens": 64}, {"cached_tokens": 64}])
async def test_cached_tokens_under_other_names(
    sse_server: SseServer, details: dict[str, int]
) -> None:
    chunks = (text_chunk("x"), finish_chunk(), usage_chunk(100, 1, **details))
    usage = ended(await hear(sse_server, stream(*chunks))).usage
    assert usage is not None
    assert usage.cached_tokens == 64


async def test_usage_inside_the_choice_or_in_every_chunk(sse_server: SseServer) -> None:
    last = finish_chunk()
    last["choices"][0]["usage"] = {"prompt_tokens": 7, "completion_tokens": 3}
    early = text_chunk("x") | {"usage": {"prompt_tokens": 7, "completion_tokens": 1}}
    assert ended(await hear(sse_server, stream(early, last))).usage == Usage(7, 3)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "many"}, {"prompt_tokens": -1}, 5])
async def test_a_server_that_never_says_what_was_used(sse_server: SseServer, usage: Any) -> None:
    chunks = (text_chunk("x"), finish_chunk() | {"usage": usage})
    assert ended(await hear(sse_server, stream(*chunks))).usage is None


async def test_parallel_calls_by_index_even_interleaved(sse_server: SseServer) -> None:
    parts = await hear(
        sse_server,
        stream(
            call_chunk(0, call_id="a", name="read_file", arguments=""),
            call_chunk(1, call_id="b", name="find_files", arguments='{"patt'),
            call_chunk(0, arguments='{"path":'),
            call_chunk(1, arguments='ern": "*"}'),
            call_chunk(0, arguments='"x"}'),
            finish_chunk("tool_calls"),
        ),
    )
    assert calls(parts) == [
        ToolCall("a", "read_file", '{"path":"x"}'),
        ToolCall("b", "find_files", '{"pattern": "*"}'),
    ]
    assert ended(parts).finish_reason == "tool_calls"


CARELESS = {
    "no ids": (
        call_chunk(0, name="a", arguments='{"n": 1}'),
        call_chunk(1, name="b", arguments='{"n": 2}'),
    ),
    "no indexes": (
        call_chunk(None, call_id="x", name="a", arguments='{"n":'),
        call_chunk(None, arguments=" 1}"),
        call_chunk(None, call_id="y", name="b", arguments='{"n": 2}'),
    ),
    "neither": (
        call_chunk(None, name="a", arguments='{"n":'),
        call_chunk(None, arguments=" 1}"),
        call_chunk(None, name="b", arguments='{"n": 2}'),
    ),
    "one index for all": (
        call_chunk(0, call_id="x", name="a", arguments='{"n": 1}'),
        call_chunk(0, call_id="y", name="b", arguments='{"n": 2}'),
    ),
    "names and ids repeated": (
        call_chunk(0, call_id="x", name="a", arguments='{"n"'),
        call_chunk(0, call_id="x", name="a", arguments=": 1}"),
        call_chunk(1, call_id="y", name="b", arguments='{"n":'),
        call_chunk(1, call_id="y", name="b", arguments=" 2}"),
    ),
    "a new id with every delta": (
        call_chunk(0, call_id="x1", name="a", arguments='{"n"'),
        call_chunk(0, call_id="x2", arguments=": 1}"),
        call_chunk(1, call_id="y1", name="b", arguments='{"n": 2}'),
    ),
    "the same id twice": (
        call_chunk(0, call_id="x", name="a", arguments='{"n": 1}'),
        call_chunk(1, call_id="x", name="b", arguments='{"n": 2}'),
    ),
    "the name last": (
        call_chunk(0, call_id="x", arguments='{"n":'),
        call_chunk(0, name="a", arguments=" 1}"),
        call_chunk(1, call_id="y", name="b", arguments='{"n": 2}'),
    ),
    "both in one delta": (
        delta_chunk(
            {
                "tool_calls": [
                    {"function": {"name": "a", "arguments": {"n": 1}}},
                    {"function": {"name": "b", "arguments": {"n": 2}}},
                ]
            }
        ),
    ),
}


@pytest.mark.parametrize("manner", CARELESS)
async def test_careless_servers_are_understood(sse_server: SseServer, manner: str) -> None:
    made = calls(await hear(sse_server, stream(*CARELESS[manner], finish_chunk("tool_calls"))))
    assert [(call.name, call.arguments) for call in made] == [("a", '{"n": 1}'), ("b", '{"n": 2}')]
    assert len({call.id for call in made}) == 2
    assert all(call.id for call in made)


async def test_an_id_that_the_conversation_knows_already_is_not_used_twice(
    sse_server: SseServer,
) -> None:
    sse_server.answers.append(
        stream(call_chunk(0, call_id="c1", name="a", arguments="{}"), finish_chunk())
    )
    provider = connect(sse_server)
    made = calls(await play(provider, ask("x", *THOUGHT_AND_CALLED)))
    await provider.aclose()
    assert made[0].id != "c1"


async def test_calls_without_arguments_or_name_are_made_whole(sse_server: SseServer) -> None:
    chunks = (call_chunk(0, call_id="a", name="now"), call_chunk(1, call_id="b", arguments="{}"))
    made = calls(await hear(sse_server, stream(*chunks, finish_chunk())))
    assert made == [ToolCall("a", "now", "{}"), ToolCall("b", "unnamed_tool", "{}")]


async def test_content_in_parts_is_read(sse_server: SseServer) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    content = [thought, {"type": "text", "text": "Yes"}]
    parts = await hear(sse_server, stream(delta_chunk({"content": content}), finish_chunk()))
    assert (thinking(parts), text(parts)) == ("hm", "Yes")


async def test_a_server_that_does_not_stream_is_understood(sse_server: SseServer) -> None:
    message = {
        "content": "All at once",
        "tool_calls": [{"id": "a", "function": {"name": "now", "arguments": "{}"}}],
    }
    body = {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    }
    parts = await hear(sse_server, failure(200, body))
    assert text(parts) == "All at once"
    assert calls(parts) == [ToolCall("a", "now", "{}")]
    assert ended(parts).usage == Usage(3, 4)


async def test_comments_odd_chunks_and_a_missing_done_do_no_harm(sse_server: SseServer) -> None:
    odd = (b": keep-alive\n\n", b"data: null\n\n", b"data: []\n\n", b"data: 7\n\n")
    hollow: tuple[Any, ...] = (
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"delta": None}]},
        {},
    )
    chunks: tuple[Any, ...] = (*odd, *hollow, text_chunk("x"), finish_chunk())
    assert text(await hear(sse_server, stream(*chunks, done=False))) == "x"


async def test_a_cut_after_the_finish_reason_loses_nothing(sse_server: SseServer) -> None:
    chunks = (text_chunk("x"), finish_chunk(), Pause(0.05), Cut())
    assert text(await hear(sse_server, stream(*chunks))) == "x"


async def test_a_burst_lets_the_event_loop_breathe(sse_server: SseServer) -> None:
    """Three thousand chunks in one piece: without a pause the SDK would read them all at once."""
    burst = b"".join(event(text_chunk(f"word{n} ")) for n in range(3000))
    sse_server.answers.append(stream(burst, finish_chunk()))
    provider = connect(sse_server)
    breaths, heard = 0, 0

    async def breathe() -> None:
        nonlocal breaths
        while heard < 3000:
            breaths += bool(heard)
            await asyncio.sleep(0)

    breathing = asyncio.create_task(breathe())
    async for part in provider.stream(ask("x")):
        heard += isinstance(part, TextDelta)
    await breathing
    await provider.aclose()
    assert heard == 3000
    assert breaths > 10


async def test_words_that_come_one_by_one_are_read_a_few_at_a_time(
    sse_server: SseServer,
) -> None:
    """Each wake-up costs more than the word that it is for; a frame shows several of them."""
    words = [text_chunk(f"word{n} ") for n in range(60)]
    slowly = (part for word in words for part in (word, Pause(0.01)))
    sse_server.answers.append(stream(*slowly, finish_chunk()))
    provider = connect(sse_server)
    heard: list[str] = []
    came: list[float] = []
    async for part in provider.stream(ask("x")):
        if isinstance(part, TextDelta):
            heard.append(part.text)
            came.append(asyncio.get_running_loop().time())
    await provider.aclose()
    waits = sum(after - before > 0.005 for before, after in pairwise(came))
    assert heard == [f"word{n} " for n in range(60)]
    assert waits < 40


async def test_the_connection_of_an_answer_that_was_read_to_its_end_is_used_again(
    sse_server: SseServer,
) -> None:
    provider = connect(sse_server)
    for _ in range(3):
        await play(provider, ask("x"))
    await provider.aclose()
    assert (len(sse_server.requests), sse_server.connections) == (3, 1)


async def test_a_byte_that_is_no_text_is_replaced_and_the_answer_goes_on(
    sse_server: SseServer,
) -> None:
    broken = event(text_chunk("caf?")).replace(b"?", b"\xe9")
    parts = await hear(sse_server, stream(broken, text_chunk(" au lait"), finish_chunk()))
    assert text(parts) == "caf\ufffd au lait"


# What goes wrong


async def test_a_cut_before_the_first_token_may_be_tried_again(sse_server: SseServer) -> None:
    error = await fail(sse_server, stream(Pause(0.05), Cut()))
    assert error.retryable
    assert "ended before the answer" in str(error)


async def test_a_server_that_hangs_up_at_once_may_be_tried_again(sse_server: SseServer) -> None:
    sse_server.hangs_up = True
    error = await fail(sse_server)
    assert error.retryable
    assert "closed the connection before it answered" in str(error)


@pytest.mark.parametrize("end", ["cut", "no finish reason", "closed"])
async def test_a_cut_in_the_middle_is_told_and_not_worth_a_retry(
    sse_server: SseServer, end: str
) -> None:
    answers = {
        "cut": stream(text_chunk("Hel"), Pause(0.05), Cut()),
        "no finish reason": stream(text_chunk("Hel")),
        "closed": stream(text_chunk("Hel"), done=False, chunked=False),
    }
    sse_server.answers.append(answers[end])
    provider = connect(sse_server)
    heard: list[StreamPart] = []

    async def listen() -> None:
        async for part in provider.stream(ask("x")):
            heard.append(part)

    with pytest.raises(ProviderError, match="ended in the middle of the answer") as cut:
        await listen()
    await provider.aclose()
    assert text(heard) == "Hel"
    assert not cut.value.retryable


async def test_an_empty_stream_is_a_cut_before_the_answer(sse_server: SseServer) -> None:
    error = await fail(sse_server, stream())
    assert error.retryable


async def test_a_slow_first_token_is_given_up_and_may_be_tried_again(
    sse_server: SseServer,
) -> None:
    slow = stream(b": still thinking\n\n", Pause(0.2), b": still\n\n", Pause(5), text_chunk("x"))
    error = await fail(sse_server, slow, timeout_seconds=0.3)
    assert "did not begin to answer: nothing came for 0.3 s." in str(error)
    assert error.retryable


async def test_silence_in_the_middle_is_given_up(sse_server: SseServer) -> None:
    slow = stream(text_chunk("x"), Pause(5))
    error = await fail(sse_server, slow, timeout_seconds=0.3)
    assert "went silent in the middle" in str(error)
    assert not error.retryable


async def test_stopping_to_listen_breaks_the_connection_off(sse_server: SseServer) -> None:
    sse_server.answers.append(stream(text_chunk("x"), Pause(20)))
    provider = connect(sse_server)
    task = asyncio.create_task(play(provider, ask("x")))
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(100):
        if sse_server.broken_off:
            break
        await asyncio.sleep(0.02)
    assert sse_server.broken_off == 1
    assert text(await play(provider, ask("x"))) == "Hello from **loopback**."
    await provider.aclose()


BODIES = (
    {"error": {"message": "Bad thing", "type": "x"}},
    {"error": "Bad thing"},
    {"message": "Bad thing"},
    {"detail": [{"loc": ["body"], "msg": "Bad thing"}]},
    [{"error": {"message": "Bad thing"}}],
    "Bad thing",
)


@pytest.mark.parametrize("body", BODIES)
async def test_a_refusal_is_told_in_the_servers_words(sse_server: SseServer, body: Any) -> None:
    error = await fail(sse_server, failure(400, body))
    assert str(error) == f'{sse_server.url} refused the request (400). It says: "Bad thing"'
    assert (error.status, error.retryable) == (400, False)


async def test_a_foreign_text_is_cleaned_and_cut(sse_server: SseServer) -> None:
    error = await fail(sse_server, failure(400, "\x1b[2J\u202eevil\r\n" + "long " * 1000))
    assert "\x1b" not in str(error)
    assert "\u202e" not in str(error)
    assert len(str(error)) < 600


@pytest.mark.parametrize(
    ("status", "retryable", "words"),
    [
        (401, False, "did not accept the key from OPENAI_API_KEY (401). Check that key."),
        (402, False, "requires payment"),
        (403, False, "may not use m."),
        (404, False, "has no model m"),
        (408, True, "gave up waiting"),
        (413, False, "too large"),
        (418, False, "answered with status 418."),
        (422, False, "refused the request (422)."),
        (429, True, "asks to slow down (429)."),
        (500, True, "an internal error (500)."),
        (502, True, "an internal error (502)."),
        (503, True, "an internal error (503)."),
        (520, True, "an internal error (520)."),
        (527, True, "an internal error (527)."),
        (504, True, "an internal error (504)."),
        (501, False, "an internal error (501)."),
    ],
)
async def test_each_status_has_its_sentence(
    sse_server: SseServer, status: int, retryable: bool, words: str
) -> None:
    error = await fail(sse_server, failure(status, {}))
    assert words in str(error)
    assert (error.status, error.retryable) == (status, retryable)


async def test_without_a_key_none_is_blamed(sse_server: SseServer) -> None:
    own = ProviderSpec("own", "Own", "openai", sse_server.url, "", ProviderSettings())
    sse_server.answers.append(failure(401, {}))
    provider = make_provider(own, Settings())
    with pytest.raises(ProviderError, match=r"needs a key \(401\)\. Add a key, or name"):
        async for _ in provider.stream(ask("Hello")):
            pass
    await provider.aclose()


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {}, "needs a key (401). Set OWN_KEY, or add a key."),
        (403, {}, "forbids a request without a key (403). Set OWN_KEY, or add a key."),
        (429, {"error": {"message": "You exceeded your current quota"}}, "The quota at "),
    ],
)
async def test_a_missing_key_is_named_by_the_variable_that_is_looked_at(
    sse_server: SseServer, status: int, body: Any, words: str
) -> None:
    own = ProviderSpec("own", "Own", "openai", sse_server.url, "OWN_KEY", ProviderSettings())
    sse_server.answers.append(failure(status, body))
    provider = make_provider(own, Settings())
    with pytest.raises(ProviderError, match=re.escape(words)):
        async for _ in provider.stream(ask("Hello")):
            pass
    await provider.aclose()


@pytest.mark.parametrize(
    ("status", "body", "too_long"),
    [
        (400, {"error": {"message": "No.", "code": "context_length_exceeded"}}, True),
        (400, {"error": {"message": "This model's maximum context length is 4096 tokens."}}, True),
        (400, {"message": "prompt is too long: 213462 tokens > 200000 maximum"}, True),
        (400, {"error": {"type": "exceed_context_size_error", "n_ctx": 4096}}, True),
        (400, "The input token count (1048577) exceeds the maximum", True),
        (500, {"error": "the request exceeds the available context size"}, True),
        (413, "", True),
        (400, {"code": "E77", "message": "Range of input length should be [1, 30720]"}, True),
        (400, {"message": "input length 200000 exceeds the maximum of 128000"}, True),
        (422, {"detail": "The sequence is longer than the maximum 4096"}, True),
        (400, {"message": "max_tokens is too large: at most 16384 completion tokens"}, False),
        (400, {"message": "Invalid 'messages[0].name': string too long"}, False),
        (400, {"error": {"message": "Unknown parameter: stream_optionz"}}, False),
        (429, {"error": {"message": "Too many tokens per minute"}}, False),
        (500, {"error": "out of memory"}, False),
    ],
)
async def test_a_request_that_is_too_long_is_told_from_others(
    sse_server: SseServer, status: int, body: Any, too_long: bool
) -> None:
    error = await fail(sse_server, failure(status, body))
    assert error.too_long is too_long
    assert not (error.too_long and error.retryable)


@pytest.mark.parametrize(
    ("words", "window"),
    [
        ("This model's maximum context length is 8,192 tokens, you sent 9000 tokens", 8_192),
        ("Requested 9000 tokens but only 8192 are allowed: too many tokens", 8_192),
        ("the prompt is too long", 0),
    ],
)
async def test_a_refusal_that_names_the_window_tells_it(
    sse_server: SseServer, words: str, window: int
) -> None:
    error = await fail(sse_server, failure(400, {"message": words}))
    assert error.window == window


async def test_a_stream_may_say_too_that_the_request_is_too_long(sse_server: SseServer) -> None:
    trouble = {"error": {"message": "exceeds the context window", "code": "invalid_request"}}
    error = await fail(sse_server, stream(trouble, done=False))
    assert (error.too_long, error.retryable) == (True, False)


async def test_a_spent_quota_is_not_worth_waiting_for(sse_server: SseServer) -> None:
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    error = await fail(sse_server, failure(429, body))
    assert not error.retryable
    assert "used up" in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry_After": "7"}, 7.0),
        ({"Retry_After": "0.5"}, 0.5),
        ({"retry_after_ms": "1500", "Retry_After": "2"}, 1.5),
        (
            {
                "Retry_After": "Wed, 21 Oct 2026 07:28:30 GMT",
                "Date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            30.0,
        ),
        ({"Retry_After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"Retry_After": "soon"}, None),
        ({"Retry_After": "-3"}, None),
        ({}, None),
    ],
)
async def test_retry_after_is_read_in_all_its_forms(
    sse_server: SseServer, headers: dict[str, str], seconds: float | None
) -> None:
    error = await fail(sse_server, failure(429, "Slow down", **headers))
    assert error.retry_after_seconds == seconds


async def test_an_error_inside_the_stream_is_told(sse_server: SseServer) -> None:
    broken = event({"error": {"message": "The model crashed", "code": 503}})
    early = await fail(sse_server, stream(broken))
    late = await fail(sse_server, stream(text_chunk("x"), broken))
    whole = await fail(sse_server, failure(200, {"error": {"message": "The model crashed"}}))
    assert all('"The model crashed"' in str(error) for error in (early, late, whole))
    assert (early.retryable, late.retryable, whole.retryable) == (True, False, True)
    assert early.status == 503


async def test_a_web_page_is_called_one(sse_server: SseServer) -> None:
    page = "<!DOCTYPE html><html><title>Welcome</title></html>"
    error = await fail(sse_server, failure(200, page, Content_Type="text/html; charset=utf-8"))
    assert "answered with a web page" in str(error)
    refused = await fail(sse_server, failure(502, page, Content_Type="text/html"))
    assert str(refused).endswith('It says: "Welcome"')


GARBAGE = (
    b"data: {not json}\n\n",
    b"data: \xff\xfe\n\n",
    b"data: " + b"[" * 100_000 + b"\n\n",
    b'data: {"choices": "none"}\n\n',
    b'data: {"choices": [{"delta": "text"}]}\n\n',
    b"\x00\x01\x02 binary \x1b[31m",
)


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
async def test_garbage_is_one_clear_sentence(sse_server: SseServer, garbage: bytes) -> None:
    error = await fail(sse_server, stream(garbage))
    assert len(str(error)) < 300
    assert str(error).isprintable()


async def test_a_refused_connection_names_the_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        provider = OpenAICompatible(base_url=url, api_key="k" * 20)
        with pytest.raises(ProviderError) as refused:
            await play(provider, ask("x"))
        await provider.aclose()
    assert str(refused.value) == f"{url} refused the connection: is the server running?"
    assert refused.value.retryable


async def test_tls_to_a_plain_server_is_explained(sse_server: SseServer) -> None:
    provider = OpenAICompatible(base_url=sse_server.url.replace("http", "https"), api_key="k" * 20)
    with pytest.raises(ProviderError, match="should it begin with http://"):
        await play(provider, ask("x"))
    await provider.aclose()


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "ftp://x/v1", "http://", "http://[::1/v1", "http://x:99999/v1"]
)
async def test_an_address_that_is_none_is_told_before_anything_is_sent(url: str) -> None:
    provider = OpenAICompatible(base_url=url, api_key="k" * 20)
    provider.warm()
    with pytest.raises(ProviderError, match="is not a server address"):
        await play(provider, ask("x"))


async def test_a_missing_key_is_told_before_anything_is_sent() -> None:
    with pytest.raises(ProviderError, match="set OPENAI_API_KEY"):
        await play(OpenAICompatible(), ask("x"))


async def test_a_server_of_ones_own_needs_no_key(sse_server: SseServer) -> None:
    assert text(await hear(sse_server, api_key="")) == "Hello from **loopback**."


def test_nothing_heavy_is_imported_before_the_provider_is_warmed() -> None:
    code = (
        "import sys; from agent_tui.providers.openai_compatible import OpenAICompatible as P; "
        "p = P(api_key='k'); print([m for m in ('openai', 'httpx2', 'pydantic') "
        "if m in sys.modules]); p.warm(); print('openai' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:2] == ["[]", "True"]


async def test_the_schema_of_a_tool_is_sent_as_it_is(sse_server: SseServer) -> None:
    await hear(sse_server)
    function = sse_server.requests[0].body["tools"][0]["function"]
    assert function["parameters"] == json.loads(json.dumps(TOOLS[0].parameters))


async def test_a_model_is_told_how_hard_to_think_unless_the_server_refuses(
    sse_server: SseServer,
) -> None:
    await hear(sse_server, level_of=lambda _: "high", headers={"X-Mine": "yes"})
    assert sse_server.requests[0].body["reasoning_effort"] == "high"
    assert sse_server.requests[0].headers["x-mine"] == "yes"
    refusal = failure(400, {"error": {"message": "Unknown parameter: 'reasoning_effort'."}})
    assert text(await hear(sse_server, refusal, level_of=lambda _: "off"))
    sent = [seen.body.get("reasoning_effort") for seen in sse_server.requests]
    assert sent == ["high", "minimal", None]
