"""A reply while it arrives: what it holds, and how long its thinking took."""

from __future__ import annotations

import pytest

from agent_tui.agent import reply as replies
from agent_tui.agent.reply import Reply
from agent_tui.core.events import TextDelta, ThinkDelta, ToolCallBegan
from agent_tui.core.record_parsing import parse_record
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import AssistantMessage


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(replies, "monotonic", clock)
    return clock


def test_thinking_lasts_from_its_first_word_until_something_else_comes(clock: Clock) -> None:
    reply = Reply()
    for at, part in (
        (107.0, ThinkDelta("I ")),
        (110.0, ThinkDelta("look.")),
        (119.0, TextDelta("Well")),
        (150.0, TextDelta(", so.")),
        (160.0, ThinkDelta("And now?")),
        (161.5, ToolCallBegan(0, "c", "read_file")),
    ):
        clock.now = at
        reply.add(part)
    assert reply.message(turn=1, model="m").thinking_seconds == 13.5


def test_an_answer_without_thinking_says_nothing_of_it(clock: Clock) -> None:
    reply = Reply()
    reply.add(TextDelta("So."))
    clock.now += 5
    message = reply.message(turn=1, model="m")
    assert message.thinking_seconds == 0
    assert "thinking_seconds" not in record_fields(message)


@pytest.mark.parametrize("odd", [-1, "12", True, None, float("inf")])
def test_a_time_that_is_none_is_left_out(odd: object) -> None:
    fields = {"role": "assistant", "content": "So.", "thinking_seconds": odd}
    record = parse_record(fields)
    assert isinstance(record, AssistantMessage)
    assert record.thinking_seconds == 0


def test_the_time_is_in_the_log() -> None:
    message = AssistantMessage("So.", thinking_seconds=12.4)
    record = parse_record(record_fields(message))
    assert isinstance(record, AssistantMessage)
    assert record.thinking_seconds == 12.4
