"""What a step took is told from the records that stand in it."""

from __future__ import annotations

import pytest

from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    Stamp,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.usage import Usage
from agent_tui.history.records.steps import StepFacts, step_at


def at(second: int) -> Stamp:
    return Stamp(at=f"2026-01-01T00:00:{second:02}.500Z")


RECORDS: list[Record] = [
    Checkpoint(0, 1, 0, stamp=at(0)),
    UserMessage("Fix it.", "human", 1, stamp=at(0)),
    Checkpoint(1, 1, 1, stamp=at(1)),
    AssistantMessage("", (ToolCall("a", "read_file", "{}"),), model="big", stamp=at(4)),
    UsageRecord(900, Usage(800, 100), stamp=at(4)),
    ToolMessage("a", "x", stamp=at(9)),
    Checkpoint(2, 1, 2, stamp=at(10)),
    AssistantMessage("Done.", model="small", stamp=at(13)),
    UserMessage("Thanks.", "human", 2, stamp=at(50)),
]


@pytest.mark.parametrize("place", [2, 3, 4, 5])
def test_a_step_takes_from_its_checkpoint_to_its_last_result(place: int) -> None:
    assert step_at(RECORDS, place) == StepFacts(1, 8.0, Usage(800, 100), "big")


def test_a_step_that_nobody_counted_tells_its_time() -> None:
    assert step_at(RECORDS, 7) == StepFacts(2, 3.0, None, "small")


def test_a_command_of_a_person_behind_a_step_is_no_part_of_it() -> None:
    records = [*RECORDS[:8], UserMessage("I ran ls.", "shell", 1, stamp=at(40))]
    assert step_at(records, 8) is None
    assert step_at(records, 7) == StepFacts(2, 3.0, None, "small")


@pytest.mark.parametrize("place", [0, 1, 8])
def test_a_prompt_stands_in_no_step(place: int) -> None:
    assert step_at(RECORDS, place) is None
