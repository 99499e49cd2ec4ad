"""Every strategy by its name: a new one is a file beside this and a line here."""

from __future__ import annotations

from agent_tui.context.compaction.strategies.fallback import Fallback
from agent_tui.context.compaction.strategies.last_messages import LastMessages
from agent_tui.context.compaction.strategies.last_share import LastShare
from agent_tui.context.compaction.strategies.recent_tokens import RecentTokens
from agent_tui.context.compaction.strategies.strategy import Strategy
from agent_tui.core.errors import UsageError
from agent_tui.core.summary import StrategySummary

DEFAULT_STRATEGY = "last-messages"
FALLBACK: Strategy = Fallback()
_ALL: tuple[Strategy, ...] = (LastMessages(), LastShare(), RecentTokens(), FALLBACK)
STRATEGIES: dict[str, Strategy] = {strategy.name: strategy for strategy in _ALL}


def describe_strategies(window: int) -> tuple[StrategySummary, ...]:
    """Every strategy with what it keeps in a window of so many tokens."""
    return tuple(StrategySummary(each.name, each.describe(window)) for each in _ALL)


def find_strategy(name: str = "") -> Strategy:
    """The strategy of a name; the default one for an empty name.

    Raises:
        UsageError: no strategy is called that.
    """
    strategy = STRATEGIES.get(name or DEFAULT_STRATEGY)
    if strategy is None:
        known = ", ".join(STRATEGIES)
        raise UsageError(f"There is no compaction strategy {name!r}; choose one of: {known}.")
    return strategy
