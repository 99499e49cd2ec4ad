"""Every strategy by its name: a new one is a file beside this and a line here."""

from __future__ import annotations

from agent_tui.context.compaction.strategies.fallback import Fallback
from agent_tui.context.compaction.strategies.last_messages import LastMessages
from agent_tui.context.compaction.strategies.last_share import LastShare
from agent_tui.context.compaction.strategies.mask import Mask
from agent_tui.context.compaction.strategies.recent_tokens import RecentTokens
from agent_tui.context.compaction.strategies.strategy import Strategy
from agent_tui.core.errors import UsageError
from agent_tui.core.summary import CompactionAmounts, StrategySummary

DEFAULT_STRATEGY = "last-messages"
FALLBACK, MASK = "fallback", "mask"
_DEFAULTS = CompactionAmounts()


def strategies(amounts: CompactionAmounts = _DEFAULTS) -> dict[str, Strategy]:
    """Every strategy by its name, keeping as much as is set."""
    every: tuple[Strategy, ...] = (
        LastMessages(amounts.kept_messages),
        LastShare(amounts.kept_share),
        RecentTokens(amounts.recent_tokens),
        Mask(amounts.unmasked_tokens),
        Fallback(amounts.fallback_share),
    )
    return {strategy.name: strategy for strategy in every}


def describe_strategies(
    window: int, amounts: CompactionAmounts = _DEFAULTS
) -> tuple[StrategySummary, ...]:
    """Every strategy with what it keeps in a window of so many tokens."""
    every = strategies(amounts).values()
    return tuple(StrategySummary(each.name, each.describe(window)) for each in every)


def find_strategy(name: str = "", amounts: CompactionAmounts = _DEFAULTS) -> Strategy:
    """The strategy of a name; the default one for an empty name.

    Raises:
        UsageError: no strategy is called that.
    """
    known_ones = strategies(amounts)
    strategy = known_ones.get(name or DEFAULT_STRATEGY)
    if strategy is None:
        known = ", ".join(known_ones)
        raise UsageError(f"There is no compaction strategy {name!r}; choose one of: {known}.")
    return strategy
