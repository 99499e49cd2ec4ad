"""What a session cost: each call once, at its model's price, in whatever log it stands."""

from __future__ import annotations

from agent_tui.core.cost import Price
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    ModelRecord,
    Record,
    Stamp,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.usage import Usage
from agent_tui.history.costs import costs_of

MILLION = Usage(1_000_000, 1_000_000)
PRICES = {"a": Price(1, 2, 0, 0), "b": Price(10, 20, 0, 0)}


def step(model: str, turn: int, identity: str | None) -> list[Record]:
    return [
        AssistantMessage("x", model=model, turn=turn),
        UsageRecord(9, MILLION, stamp=Stamp(uuid=identity)),
    ]


def test_calls_are_counted_once_and_by_model_and_turn() -> None:
    prompt = UserMessage("x", turn=1)
    live = [prompt, *step("a", 1, "1"), *step("b", 1, "2"), *step("a", 2, "3")]
    archive = [prompt, *step("a", 1, "1"), *step("b", 1, "4")]
    costs = costs_of(live, [archive], PRICES.get)
    assert [(row.name, row.calls, row.cost) for row in costs.models] == [("a", 2, 6), ("b", 2, 60)]
    assert [(row.name, row.cost) for row in costs.turns] == [("1", 33), ("2", 3)]
    assert (costs.total, costs.usage.input_tokens) == (66, 4_000_000)


def test_a_summary_costs_too_and_a_price_that_nobody_knows_is_told() -> None:
    compaction = CompactionRecord(
        "auto", "last-messages", 1, 1, 1, usage=MILLION, stamp=Stamp(uuid="5")
    )
    costs = costs_of([*step("a", 1, "1"), compaction, *step("own", 2, "6")], [], PRICES.get)
    assert costs.total == 6
    assert costs.unpriced == ("own",)


def test_records_without_identity_count_in_the_live_log_only() -> None:
    costs = costs_of(step("a", 1, None), [step("a", 1, None)], PRICES.get)
    assert costs.models[0].calls == 1


def test_a_summary_at_the_beginning_of_a_log_was_written_by_the_model_in_force() -> None:
    compaction = CompactionRecord("manual", "mask", 1, 1, 1, usage=MILLION, stamp=Stamp(uuid="5"))
    costs = costs_of([ModelRecord("p", "a"), compaction], [], PRICES.get)
    assert [(row.name, row.calls, row.cost) for row in costs.models] == [("a", 1, 3)]
