"""Places of a conversation are found by what people call them."""

from __future__ import annotations

from typing import Any

import pytest

from agent_tui.core.errors import UsageError
from agent_tui.core.records import AssistantMessage, Checkpoint, Record, Stamp, UserMessage
from agent_tui.history.records.places import find_place, read_place


def at(day: int, minute: int) -> Any:
    return Stamp(at=f"2026-01-{day:02}T12:{minute:02}:00")


RECORDS: list[Record] = [
    Checkpoint(7, 1, 0),
    UserMessage("one", "human", stamp=at(1, 5)),
    AssistantMessage("first", stamp=at(1, 6)),
    UserMessage("told by the program", "reminder"),
    Checkpoint(9, 2, 0),
    UserMessage("two", "human", stamp=at(2, 5)),
    AssistantMessage("second", stamp=at(2, 9)),
]


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("9", 4),
        ("checkpoint 7", 0),
        ("turn 2", 5),
        ("Message 2", 2),
        ("12:05", 5),
        ("12:07", 6),
        ("2026-01-01 12:06", 2),
        ("8", None),
        ("turn 3", None),
        ("turn 0", None),
        ("12:10", None),
    ],
)
def test_a_place_is_found_by_its_name(
    typed: str, place: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_tui.history.records.places.format_minute", _as_written)
    assert find_place(RECORDS, read_place(typed)) == place


@pytest.mark.parametrize(("typed", "place"), [("turn 12", 2), ("turn 11", 0), ("turn 2", None)])
def test_a_turn_is_found_by_the_number_that_it_was_given(typed: str, place: int | None) -> None:
    left = [
        UserMessage("eleven", "human", 11),
        UserMessage("one word more", "steer", 11),
        UserMessage("twelve", "human", 12),
    ]
    assert find_place(left, read_place(typed)) == place


def test_turns_without_numbers_are_counted() -> None:
    words = [UserMessage("one", "import"), UserMessage("more", "steer"), UserMessage("two")]
    assert find_place(words, read_place("turn 2")) == 2


def _as_written(at: str | None) -> str:
    return (at or "")[:16].replace("T", " ")


@pytest.mark.parametrize("typed", ["", "turn", "-1", "noon", "turn two"])
def test_what_is_no_place_is_said(typed: str) -> None:
    with pytest.raises(UsageError, match="turn N"):
        read_place(typed)
