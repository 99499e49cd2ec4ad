"""What one step of a turn took: time, and tokens of which model."""

from __future__ import annotations

from collections.abc import Sequence

from agent_tui.core.dataclass import dataclass
from agent_tui.core.format import parse_time
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.usage import Usage

_LONGEST = 1_000
"""Records of a step that are looked at, in both directions."""
_OF_A_STEP = (Checkpoint, AssistantMessage, UsageRecord, ToolMessage)
"""What a step writes. A person's command may stand behind its last one, and is no part of it."""


@dataclass(frozen=True, slots=True)
class StepFacts:
    """A step by its number: its seconds, tools and approvals included, and its tokens.

    ``seconds`` is None where the log does not tell times, ``usage`` where nobody counted.
    """

    step: int
    seconds: float | None
    usage: Usage | None
    model: str


def step_at(records: Sequence[Record], place: int) -> StepFacts | None:
    """The step to which a record belongs; None for what stands outside of any."""
    if not isinstance(records[place], _OF_A_STEP):
        return None
    first = max(0, place - _LONGEST)
    for index, record in enumerate(reversed(records[first : place + 1])):
        if isinstance(record, Checkpoint):
            start = place - index
            return _facts(record, records[start + 1 : start + _LONGEST]) if record.step else None
        if isinstance(record, UserMessage) and record.origin == "human":
            return None
    return None


def _facts(start: Checkpoint, records: Sequence[Record]) -> StepFacts:
    usage: Usage | None = None
    model, last = "", start.stamp.at
    for record in records:
        if isinstance(record, Checkpoint) or (
            isinstance(record, UserMessage) and record.origin == "human"
        ):
            break
        if isinstance(record, _OF_A_STEP):
            last = record.stamp.at or last
        if isinstance(record, AssistantMessage):
            model = record.model or model
        elif isinstance(record, UsageRecord) and record.usage is not None:
            usage = record.usage if usage is None else usage + record.usage
    begin, end = parse_time(start.stamp.at), parse_time(last)
    took = (end - begin).total_seconds() if begin and end and end >= begin else None
    return StepFacts(start.step or 0, took, usage, model)
