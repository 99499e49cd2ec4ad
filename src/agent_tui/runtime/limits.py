"""What the settings say of a turn and of a compaction, as the agent and the context take it."""

from __future__ import annotations

from agent_tui.agent.loop import Limits
from agent_tui.agent.policies import Policy, PriceLimit, TimeLimit, TokenLimit
from agent_tui.config import ContextSettings, Settings
from agent_tui.core.summary import CompactionAmounts
from agent_tui.providers.model_facts import facts_of


def amounts_of(chosen: ContextSettings) -> CompactionAmounts:
    """How much a compaction keeps and adds: every amount has a setting of its name."""
    names = CompactionAmounts.__dataclass_fields__
    return CompactionAmounts(**{name: getattr(chosen, name) for name in names})


def limits_of(settings: Settings, model: str = "") -> Limits:
    """How far a turn may go; a limit of 0 is none."""
    chosen = settings.agent
    more: list[Policy] = []
    if chosen.max_seconds:
        more.append(TimeLimit(chosen.max_seconds))
    if chosen.max_tokens:
        more.append(TokenLimit(chosen.max_tokens))
    price = facts_of(model, settings).price if chosen.max_cost else None
    if price is not None:
        more.append(PriceLimit(chosen.max_cost, price.of))
    return Limits(chosen.max_steps, chosen.max_attempts, tuple(more))
