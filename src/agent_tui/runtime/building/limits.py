"""The limits of turns and amounts of compactions, from the settings."""

from __future__ import annotations

from collections.abc import Callable

from agent_tui.agent.loop import Limits
from agent_tui.agent.policies import Ending, ParentLimits, Policy, PriceLimit, TimeLimit, TokenLimit
from agent_tui.config import ContextSettings, Settings
from agent_tui.core.cost import Price
from agent_tui.core.summary import CompactionAmounts
from agent_tui.core.text import first_line, reveal


def amounts_of(chosen: ContextSettings) -> CompactionAmounts:
    """How much a compaction keeps and adds: every amount has a setting of its name."""
    names = CompactionAmounts.__dataclass_fields__
    return CompactionAmounts(**{name: getattr(chosen, name) for name in names})


def unlimited_cost(settings: Settings, model: str, price: Price | None) -> str:
    """Why a cost limit has no effect, and what would help; empty if it has."""
    if price is not None or not settings.agent.max_cost:
        return ""
    return (
        f"What {first_line(reveal(model), 80)} costs is not known, so max_cost does not limit it. "
        "Set price_input and price_output of the model, or max_tokens."
    )


def limits_of(
    settings: Settings,
    price: Price | None = None,
    check_parent: Callable[[], Ending | None] | None = None,
) -> Limits:
    """How far a turn may go; 0 is no limit, and without a price cost has no limit.

    A subagent also ends when its parent must, towards whose limits its usage counts.
    """
    chosen = settings.agent
    more: list[Policy] = []
    if chosen.max_seconds:
        more.append(TimeLimit(chosen.max_seconds))
    if chosen.max_tokens:
        more.append(TokenLimit(chosen.max_tokens))
    if chosen.max_cost and price is not None:
        more.append(PriceLimit(chosen.max_cost, price.of))
    if check_parent is not None:
        more.append(ParentLimits(check_parent))
    return Limits(chosen.max_steps, chosen.max_attempts, tuple(more))
