"""What a session has used and cost: by model and by turn, logs that were left included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from agent_tui.core.cost import Price
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    ModelRecord,
    Record,
    UsageRecord,
)
from agent_tui.core.usage import Usage


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one model, or one turn, took; ``cost`` is in dollars, None where nobody knows prices."""

    name: str
    calls: int
    usage: Usage
    cost: float | None


@dataclass(frozen=True, slots=True)
class SessionCosts:
    """A session's use of models.

    Attributes:
        models: by model, in the order of their first call.
        turns: by turn of the live log.
        unpriced: models whose price is not known, so that ``total`` lacks them.
    """

    models: tuple[CostRow, ...]
    turns: tuple[CostRow, ...]
    usage: Usage
    total: float
    unpriced: tuple[str, ...] = ()


@dataclass(slots=True)
class _Sum:
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None

    def add(self, usage: Usage, price: Price | None) -> None:
        self.calls += 1
        self.usage += usage
        if price is not None:
            self.cost = (self.cost or 0.0) + price.of(usage)


def costs_of(
    live: Sequence[Record],
    archived: Iterable[Sequence[Record]],
    price_of: Callable[[str], Price | None],
) -> SessionCosts:
    """What was used in the live log and in archives; a call that stands in several counts once."""
    models: dict[str, _Sum] = {}
    turns: dict[str, _Sum] = {}
    seen: set[str] = set()
    for number, records in enumerate((live, *archived)):
        model, turn = "", 0
        for record in records:
            if isinstance(record, AssistantMessage):
                model, turn = record.model or model, record.turn or turn
            elif isinstance(record, ModelRecord):
                model = record.model or model
            usage = record.usage if isinstance(record, UsageRecord | CompactionRecord) else None
            identity = record.stamp.uuid
            if usage is None or (identity is None and number) or identity in seen:
                continue
            if identity is not None:
                seen.add(identity)
            price = price_of(model)
            models.setdefault(model, _Sum()).add(usage, price)
            if number == 0 and turn:
                turns.setdefault(str(turn), _Sum()).add(usage, price)
    rows = _rows(models)
    return SessionCosts(
        rows,
        _rows(turns),
        sum((row.usage for row in rows), Usage()),
        sum(row.cost or 0.0 for row in rows),
        tuple(row.name for row in rows if row.cost is None),
    )


def _rows(sums: dict[str, _Sum]) -> tuple[CostRow, ...]:
    return tuple(CostRow(name, each.calls, each.usage, each.cost) for name, each in sums.items())
