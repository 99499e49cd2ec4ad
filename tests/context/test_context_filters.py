"""A filter keeps the newest of a conversation, never half of a step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.context.compaction.selection import steps_of
from agent_tui.context.filters import ContextFilter, filter_messages, filter_records
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Message,
    Record,
    SessionHeader,
    Stamp,
    SystemPrompt,
    ToolMessage,
    UserMessage,
)
from tests.context.test_context_selection import MESSAGES


def at(minute: int) -> Stamp:
    return Stamp(f"u{minute}", None, f"2026-01-01T10:{minute:02}:00Z")


TALK: list[Message] = [
    UserMessage("first", "human", stamp=at(0)),
    AssistantMessage("", (ToolCall("c", "read_file", "{}"),), stamp=at(1)),
    ToolMessage("c", "text", stamp=at(2)),
    UserMessage("second", "human", stamp=at(3)),
    AssistantMessage("done", stamp=at(4)),
]


def ten(_message: Message) -> int:
    return 10


def test_the_newest_that_fit_stay_in_order() -> None:
    assert filter_messages(TALK, ContextFilter(max_messages=2)) == TALK[3:]
    assert filter_messages(TALK, ContextFilter(max_messages=3)) == TALK[3:]
    assert filter_messages(TALK, ContextFilter(max_messages=4)) == TALK[1:]
    assert filter_messages(TALK, ContextFilter(max_tokens=25), ten) == TALK[3:]
    assert filter_messages(TALK, ContextFilter(since="2026-01-01T10:03")) == TALK[3:]
    assert filter_messages(TALK, ContextFilter(max_messages=4, max_tokens=10), ten) == TALK[4:]
    assert filter_messages(TALK, ContextFilter()) == TALK


@given(MESSAGES, st.integers(0, 12), st.integers(0, 90))
def test_calls_and_results_stay_together_within_the_limits(
    messages: list[Message], number: int, tokens: int
) -> None:
    wanted = ContextFilter(max_messages=number, max_tokens=tokens)
    kept = filter_messages(messages, wanted, ten)
    assert not number or len(kept) <= number
    assert not tokens or len(kept) * 10 <= tokens
    names = {id(message) for message in kept}
    for step in steps_of(messages):
        assert len({id(messages[index]) in names for index in step}) == 1


def test_records_in_force_stay_and_markers_of_what_goes_go() -> None:
    head: list[Record] = [SessionHeader("s", "/", "", ""), SystemPrompt("Be careful.")]
    records = [*head, Checkpoint(0), *TALK[:3], Checkpoint(1), *TALK[3:]]
    assert filter_records(records, ContextFilter(max_messages=2)) == [*head, *TALK[3:]]
    assert filter_records(records, ContextFilter()) == records
