"""What tokens cost."""

from __future__ import annotations

from agent_tui.core.dataclass import dataclass
from agent_tui.core.usage import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens of each kind."""

    input: float
    output: float
    cache_read: float
    cache_write: float

    def of(self, usage: Usage) -> float:
        """What one call cost, in dollars, with cache reads and writes at their own prices."""
        plain = max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens)
        return (
            plain * self.input
            + usage.cached_tokens * self.cache_read
            + usage.cache_write_tokens * self.cache_write
            + usage.output_tokens * self.output
        ) / _MILLION


def format_cost(dollars: float) -> str:
    """Dollars for people: to the cent, with more digits below one cent."""
    if dollars == 0:
        return "$0"
    if dollars < 0.01:
        return f"${dollars:.4f}"
    return f"${dollars:,.2f}"
