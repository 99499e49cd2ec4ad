"""The tokens of each message of a state: a new one costs its own count, never the history's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.dataclass import dataclass
from agent_tui.core.records import Message, is_message
from agent_tui.sessions.replay import Entry, SessionState

_MANY = 200  # more new messages than this are counted roughly: nobody waits for a long history


@dataclass(frozen=True, slots=True)
class Place:
    """Where a state stood when something was worked out from it."""

    state: SessionState
    length: int
    last: Entry | None

    @classmethod
    def of(cls, state: SessionState) -> Place:
        """The place now."""
        messages = state.messages
        return cls(state, len(messages), messages[-1] if messages else None)

    def leads_to(self, state: SessionState) -> bool:
        """Whether a state only grew since."""
        if self.state is not state or self.length > len(state.messages):
            return False
        return self.length == 0 or state.messages[self.length - 1] is self.last


@dataclass(slots=True)
class MessageTokens:
    """Counts kept beside a state; used from the event loop only."""

    counter: TokenCounter
    _counts: list[int] = field(default_factory=list)
    _total: int = 0
    _place: Place | None = None
    _exact: bool = False

    def known(self, state: SessionState) -> list[int]:
        """The counts of the first messages of a state, as far as they are known."""
        return list(self._counts) if self._leads_to(state) else []

    def remember(
        self, state: SessionState, counts: Sequence[int], last: Entry, *, better: bool = False
    ) -> None:
        """Take over counts that were made elsewhere, of the first messages up to ``last``.

        Counts that are known already are only replaced by ``better`` ones.
        """
        if len(counts) > len(state.messages) or state.messages[len(counts) - 1] is not last:
            return
        if not better and len(counts) <= len(self.known(state)):
            return
        self._counts, self._total = list(counts), sum(counts)
        self._place, self._exact = Place(state, len(counts), last), self.counter.exact

    def total(self, state: SessionState) -> int:
        """The tokens of all messages."""
        if not self._leads_to(state):
            self._counts, self._total = [], 0
        fresh = count_fresh(self.counter, messages_of(state.messages[len(self._counts) :]))
        self._counts += fresh
        self._total += sum(fresh)
        self._place, self._exact = Place.of(state), self.counter.exact
        return self._total

    def _leads_to(self, state: SessionState) -> bool:
        place = self._place
        return place is not None and self._exact is self.counter.exact and place.leads_to(state)


def count_fresh(counter: TokenCounter, messages: Sequence[Message]) -> list[int]:
    """Count messages, roughly where there are many."""
    if len(messages) > _MANY:
        return [counter.quick_message_count(message) for message in messages]
    return counter.count_messages(messages)


def messages_of(entries: Sequence[Entry]) -> list[Message]:
    """The messages among entries."""
    records = (entry.record for entry in entries)
    return [r for r in records if is_message(r)]
