"""Numbers about tokens: what a provider billed, and how full the context is."""

from __future__ import annotations

from agent_tui.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one model call, as the provider reported them.

    ``input_tokens`` counts everything that was sent; ``cached_tokens`` of it were read from a
    cache, ``cache_write_tokens`` written into one.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True)
class Share:
    """One part of what fills the context: ``kind`` groups it, ``detail`` names a tool or file.

    ``compaction_frees`` and ``revert_frees`` are the tokens of it that would go.
    """

    kind: str
    tokens: int
    detail: str = ""
    compaction_frees: int = 0
    revert_frees: int = 0


@dataclass(frozen=True, slots=True)
class Gauge:
    """How full the context is.

    Attributes:
        tokens: tokens that the next request would send.
        window: the model's context window in tokens.
        trigger_at: the token count at which auto-compaction fires; 0 when it is off.
        estimated: whether ``tokens`` is our count rather than the provider's (shown as ``~``).
        shares: what the tokens are made of; empty until attribution has run.
    """

    tokens: int
    window: int
    trigger_at: int
    estimated: bool
    shares: tuple[Share, ...] = ()

    @property
    def fraction(self) -> float:
        """Fullness from 0.0 to 1.0 (above 1.0 when the window is overrun)."""
        return self.tokens / self.window if self.window else 0.0
