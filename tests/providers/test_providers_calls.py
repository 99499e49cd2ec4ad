"""Calls of tools as hostile models make them: what is kept of them can be sent, again and again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_tui.agent.reply import Reply
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, ToolMessage
from agent_tui.providers.anthropic_stream import MessageReader
from agent_tui.providers.chat_request import write_message
from agent_tui.providers.chat_stream import ChatReader
from tests.providers.message_events import call_block
from tests.providers.sse_server import call_chunk


def gather(reader: ChatReader | MessageReader, *events: Any) -> tuple[ToolCall, ...]:
    """The calls of a reply that consists of these."""
    reply = Reply()
    for event in events:
        for part in reader.read(event):
            reply.add(part)
    for part in reader.close():
        reply.add(part)
    return reply.message(turn=1, model="m").tool_calls


@pytest.mark.timeout(60)
def test_arguments_of_a_server_that_repeats_the_name_are_looked_at_once() -> None:
    pieces = ['{"text": "', *["x" * 400] * 40_000, '"}']
    chunks = (call_chunk(None, name="a", arguments=piece) for piece in pieces)
    (call,) = gather(ChatReader(), *chunks)
    assert len(json.loads(call.arguments)["text"]) == 16_000_000


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a": ' + "[" * 20_000 + "]" * 20_000 + "}",
        r'{"a": "} \" ] \\"}',
        '{"a": "\\u007d", "b": [{}, {"c": "["}]}',
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 100_000])
def test_a_call_behind_whole_arguments_is_another_one(arguments: str, size: int) -> None:
    pieces = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    chunks = (call_chunk(None, name="a", arguments=piece) for piece in pieces)
    made = gather(ChatReader(), *chunks, call_chunk(None, name="b", arguments="{}"))
    assert [(call.name, call.arguments) for call in made] == [("a", arguments), ("b", "{}")]


@pytest.mark.parametrize("name", ["n" * 5_000_000, "a.b c", "\x1b[2J", "ü", ""])
@pytest.mark.parametrize("own", ["i" * 5_000_000, "\x1b[2J", "ü", "\ud83d"])
def test_what_no_server_takes_is_not_sent_to_any(name: str, own: str) -> None:
    (call,) = gather(ChatReader(), call_chunk(0, call_id=own, name=name, arguments="{}"))
    said = write_message(AssistantMessage("", (call,)), with_reasoning=False)
    heard = write_message(ToolMessage(call.id, "done"), with_reasoning=False)
    assert said is not None
    assert heard is not None
    (sent,) = said["tool_calls"]
    assert sent["id"] == heard["tool_call_id"]
    assert sent["id"].isascii()
    assert sent["id"].isprintable()
    assert len(sent["id"]) < 100
    assert sent["function"]["name"].replace("_", "a").isalnum()
    assert len(sent["function"]["name"]) <= 64
    assert len(call.name) <= 200


def test_an_id_in_which_a_proxy_keeps_more_goes_back_as_it_is() -> None:
    own = "call_1__thought__" + "Ab+/=" * 500
    (call,) = gather(ChatReader(), call_chunk(0, call_id=own, name="a", arguments="{}"))
    said = write_message(AssistantMessage("", (call,)), with_reasoning=False)
    assert said is not None
    assert said["tool_calls"][0]["id"] == own


def test_each_call_of_the_messages_api_has_an_id_of_its_own() -> None:
    blocks = [call_block(place, "same", f"t{place}", "{}") for place in range(3)]
    used = call_block(3, "used", "t3", "{}")
    nameless: list[dict[str, Any]] = call_block(4, "", "t4", "{}")
    reader = MessageReader(lambda: ["used"])
    made = gather(reader, *(event for each in (*blocks, used, nameless) for event in each))
    assert [call.name for call in made] == ["t0", "t1", "t2", "t3", "t4"]
    assert len({call.id for call in made}) == 5
    assert made[0].id == "same"
    assert not {"", "used", "None"} & {call.id for call in made}


def test_calls_in_one_place_of_the_messages_api_are_all_kept() -> None:
    blocks = [call_block(0, f"c{n}", f"t{n}", f'{{"n": {n}}}') for n in range(4)]
    made = gather(MessageReader(), *(event for each in blocks for event in each))
    assert [(call.name, call.arguments) for call in made] == [
        (f"t{n}", f'{{"n": {n}}}') for n in range(4)
    ]
