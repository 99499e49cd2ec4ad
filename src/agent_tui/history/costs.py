"""What a session has used and cost: by model and by turn, logs that were left included."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from agent_tui.core.cost import Price
from agent_tui.core.errors import AgentTuiError
from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    ModelRecord,
    Record,
    ToolMessage,
    UsageRecord,
)
from agent_tui.core.system_notes import SUBAGENT_SESSION
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
        subagents: the ids of the sessions of subagents that reported; what they used is not here.
    """

    models: tuple[CostRow, ...]
    turns: tuple[CostRow, ...]
    usage: Usage
    total: float
    unpriced: tuple[str, ...] = ()
    subagents: tuple[str, ...] = ()


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
    subagents: dict[str, None] = {}
    for number, records in enumerate((live, *archived)):
        model, turn = "", 0
        subagents |= dict.fromkeys(_find_reported(records))
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
        tuple(subagents),
    )


async def costs_of_subagents(
    session_id: str, costs: SessionCosts, read: Callable[[str], Awaitable[SessionCosts]]
) -> list[SessionCosts]:
    """What all subagents of a session used, those of subagents included.

    Args:
        session_id: the session.
        costs: its own costs.
        read: gives the costs of a session by its id; raises AgentTuiError where it is there no
            longer, and it is left out.
    """
    found: list[SessionCosts] = []
    known, waiting = {session_id}, list(costs.subagents)
    for name in waiting:  # it grows
        if name in known:
            continue
        known.add(name)
        with suppress(AgentTuiError):
            found.append(await read(name))
            waiting += found[-1].subagents
    return found


def _rows(sums: dict[str, _Sum]) -> tuple[CostRow, ...]:
    return tuple(CostRow(name, each.calls, each.usage, each.cost) for name, each in sums.items())


def _find_reported(records: Iterable[Record]) -> Iterator[str]:
    """The ids of the sessions of subagents that reported in a log."""
    tasks = set[str]()
    for record in records:
        if isinstance(record, AssistantMessage):
            tasks |= {call.id for call in record.tool_calls if call.name == "task"}
        elif isinstance(record, ToolMessage) and record.tool_call_id in tasks:
            yield from SUBAGENT_SESSION.findall(text_of(record.content))[-1:]
