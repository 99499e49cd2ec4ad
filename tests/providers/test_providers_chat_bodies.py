"""The bodies of requests: what is sent again is not encoded again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.messages import TextPart, ThinkPart, ToolCall, UnknownPart
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.chat_request import ChatBodies, Quirks
from agent_tui.providers.encoded_messages import EncodedMessages, common_length
from tests.providers.replies import TOOLS


def exchange(number: int) -> tuple[Message, ...]:
    call = ToolCall(f"c{number}", "read_file", '{"path": "x"}')
    return (
        UserMessage(f"Prompt {number}", origin="human"),
        AssistantMessage((ThinkPart("hm"), TextPart("I look.")), (call,)),
        ToolMessage(f"c{number}", "content"),
        AssistantMessage(f"Answer {number}"),
    )


def history(count: int) -> tuple[Message, ...]:
    return tuple(message for number in range(count) for message in exchange(number))


def ask(messages: Iterable[Message], prompt: str = "Be helpful.") -> ModelRequest:
    return ModelRequest("m", prompt, tuple(messages), TOOLS)


def body(bodies: ChatBodies, request: ModelRequest, quirks: Quirks | None = None) -> Any:
    return msgspec.json.decode(bodies.write(request, quirks or Quirks())[0])


@given(
    steps=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3), st.booleans()), max_size=8),
)
def test_a_body_written_on_is_the_body_written_anew(steps: list[tuple[int, int, bool]]) -> None:
    """Histories grow, are reverted, branch off, and lose their system prompt."""
    bodies, messages = ChatBodies(), list[Message]()
    for kept, added, with_prompt in steps:
        messages = messages[:kept] + [UserMessage(f"{kept}.{n}") for n in range(added)]
        messages += exchange(added)
        request = ask(messages, "Be helpful." if with_prompt else "")
        assert body(bodies, request) == body(ChatBodies(), request)
        ids = bodies.write(request, Quirks())[1]
        assert set(ids) == {
            call.id for m in messages if isinstance(m, AssistantMessage) for call in m.tool_calls
        }


def test_each_message_is_encoded_once() -> None:
    written = list[Message]()

    def write(message: Message) -> dict[str, Any]:
        written.append(message)
        return {}

    conversation, messages = EncodedMessages(write), history(50)
    for length in range(1, len(messages) + 1):
        conversation.take(messages[:length])
    assert len(written) == len(messages)
    conversation.take((*messages[:100], UserMessage("another way")))
    assert len(written) == len(messages) + 1


def count_calls(work: Callable[[], object]) -> int:
    """Function calls, C functions included: what a turn costs whatever else the machine does."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def test_a_request_costs_what_was_added_however_long_the_history() -> None:
    costs = []
    for count in (25, 2_500):
        bodies, old = ChatBodies(), history(count)
        bodies.write(ask(old), Quirks())
        request = ask((*old, *exchange(count)))
        costs.append(count_calls(lambda b=bodies, r=request: b.write(r, Quirks())))  # type: ignore[misc]
    assert costs[0] == costs[1]


def test_reasoning_that_a_server_wants_after_all_is_written_into_old_messages() -> None:
    bodies, request = ChatBodies(), ask(history(2))
    assert "reasoning_content" not in body(bodies, request)["messages"][2]
    wanted = body(bodies, request, Quirks(reasoning_content=True))
    assert wanted["messages"][2]["reasoning_content"] == "hm"


def test_a_request_beside_the_conversation_does_not_make_it_forgotten() -> None:
    bodies, old = ChatBodies(), history(500)
    bodies.write(ask(old), Quirks())
    bodies.write(ModelRequest("m", "Sum up.", (UserMessage("all of it"),)), Quirks())
    bodies.write(ask((UserMessage("a task of another agent"),)), Quirks())
    request = ask((*old, *exchange(500)))
    assert count_calls(lambda: bodies.write(request, Quirks())) < 2_000


def test_messages_that_cannot_be_hashed_are_compared_too() -> None:
    odd = UserMessage((UnknownPart({"type": "hologram"}),))
    assert common_length((odd, odd), (odd, odd, odd)) == 2
    assert common_length((odd, UserMessage("a")), (odd, UserMessage("b"))) == 1
