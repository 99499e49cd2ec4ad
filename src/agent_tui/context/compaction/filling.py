"""What kinds of things fill a context, kept up as it grows: a turn costs what it added."""

from __future__ import annotations

import threading
from collections import Counter

from agent_tui.context.compaction.attribution import (
    Pile,
    scale_piles,
    tokens_of_fixed,
    tokens_of_message,
)
from agent_tui.context.context import Context
from agent_tui.context.tokens.message_tokens import Place, messages_of
from agent_tui.core.usage import Share


class Filling:
    """Follows one context; may be asked from any thread.

    It is the attribution without its details: what the gauge is coloured by after every turn.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self._lock = threading.Lock()
        self._place: Place | None = None
        self._exact = False
        self._tokens: Counter[str] = Counter()
        self._calls: dict[str, str] = {}

    def shares(self, total: int) -> tuple[Share, ...]:
        """One share for each kind, in the order of a request; their sum is ``total``."""
        context = self.context
        with self._lock:
            self._follow()
            piles = {(kind, ""): Pile(tokens) for kind, tokens in self._tokens.items()}
        for kind, _, tokens in tokens_of_fixed(
            context.system_prompt, context.tools, context.counter
        ):
            piles.setdefault((kind, ""), Pile()).tokens += tokens
        return scale_piles(piles, total)

    def _follow(self) -> None:
        """Count the messages that came since the last time; all, where the history changed."""
        counter, state = self.context.counter, self.context.state
        place, known = Place.of(state), self._place
        if known is None or not known.leads_to(state) or self._exact is not counter.exact:
            self._tokens, self._calls, known = Counter(), {}, None
        done = known.length if known else 0
        for message in messages_of(state.messages[done : place.length]):
            for kind, _, tokens in tokens_of_message(message, counter, self._calls):
                self._tokens[kind] += tokens
        self._place, self._exact = place, counter.exact
