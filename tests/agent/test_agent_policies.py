"""What ends a turn before its answer: limits that are reached, and calls that repeat themselves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_tui.agent.policies import (
    Ending,
    PriceLimit,
    Progress,
    Repetition,
    TimeLimit,
    TokenLimit,
)
from agent_tui.core.messages import ToolCall
from agent_tui.core.usage import Usage
from agent_tui.providers.demo.scenario import Reply
from tests.agent.stage import Stage, call


@dataclass
class LateTurn(Progress):
    """A turn that has been running for a while."""

    @property
    def seconds(self) -> float:
        return 61.0


def progress(*, late: bool = False) -> Progress:
    kind = LateTurn if late else Progress
    return kind(1, steps=3, usage=Usage(900, 200))


def test_a_turn_ends_at_its_limit_of_time() -> None:
    assert TimeLimit(60).check(progress()) is None
    ending = TimeLimit(60).check(progress(late=True))
    assert ending is not None
    assert (ending.end, ending.reason[:25]) == ("limit", "Time limit reached (60 s ")


def test_a_turn_ends_at_its_limit_of_tokens_and_of_price() -> None:
    assert TokenLimit(1_101).check(progress()) is None
    assert TokenLimit(1_100).check(progress()) is not None

    def price(usage: Usage) -> float:
        return usage.total_tokens / 1_000

    assert PriceLimit(1.2, price).check(progress()) is None
    ending = PriceLimit(1.1, price).check(progress())
    assert ending is not None
    assert ending.reason.startswith("Cost limit reached ($1.10 for one turn)")
    ending = PriceLimit(0.0002, price).check(progress())
    assert ending is not None
    assert ending.reason.startswith("Cost limit reached ($0.0002 for one turn)")


def calls(*arguments: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(f"id{n}", "read_file", each) for n, each in enumerate(arguments))


@pytest.mark.parametrize("same", ['{"path": "a", "offset": 1}', '{"offset":1,"path":"a"}'])
def test_the_same_calls_in_a_row_are_told_then_stopped_however_they_are_spelled(same: str) -> None:
    policy = Repetition()
    first = calls('{"path": "a", "offset": 1}')
    seen = [policy.watch(calls(same) if n % 2 else first) for n in range(5)]
    assert seen[:2] == [None, None]
    assert all(isinstance(each, str) for each in seen[2:4])
    assert isinstance(seen[4], Ending)
    assert seen[4].end == "repetition"


def test_other_calls_in_between_are_no_repetition() -> None:
    policy = Repetition()
    for _ in range(9):
        assert policy.watch(calls('{"path": "a"}')) is None
        assert policy.watch(calls('{"path": "b"}')) is None


async def test_an_agent_that_repeats_itself_is_told_and_then_stopped(tmp_path: Path) -> None:
    look = Reply(calls=(call("find_files", pattern="*"),))
    async with Stage(tmp_path, *(look for _ in range(9))) as stage:
        assert await stage.say("Look") == "repetition"
        said = [line for line in stage.transcript() if not line.startswith(("call", "checkpoint"))]
        assert said == snapshot(
            [
                "turn 1: Look",
                "step 1",
                'start find_files {"pattern": "*"}',
                "ok find_files: No file fits *.",
                "step 2",
                'start find_files {"pattern": "*"}',
                "ok find_files: No file fits *.",
                "step 3",
                'start find_files {"pattern": "*"}',
                "ok find_files: No file fits *.",
                "notice reminder",
                "step 4",
                'start find_files {"pattern": "*"}',
                "ok find_files: No file fits *.",
                "notice reminder",
                "step 5",
                'start find_files {"pattern": "*"}',
                "ok find_files: No file fits *.",
                "turn 1 repetition after 5",
            ]
        )
        (end,) = stage.on_disk("_turn_end")
        assert end["reason"] == (
            "Stopped: the agent called find_files 5 times in a row with the same arguments."
        )
        reminders = [m for m in stage.on_disk("user") if m["origin"] == "reminder"]
        assert len(reminders) == 2
