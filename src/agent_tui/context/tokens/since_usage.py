"""The tokens behind the last usage that a provider reported: a new message costs its own count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from agent_tui.context.tokens.message_tokens import Place, messages_of
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.dataclass import dataclass
from agent_tui.core.records import AssistantMessage, Message, ToolMessage
from agent_tui.sessions.replay import Entry, SessionState
from agent_tui.sessions.sent_messages import repaired_messages


@dataclass(slots=True)
class TokensSinceUsage:
    """Follows a state; used from the event loop only."""

    counter: TokenCounter
    _place: Place | None = None
    _mark: int = 0
    _done: int = 0
    _exact: bool = False
    _known: int = 0
    _sent: int = 0
    _answers: dict[str, int] = field(default_factory=dict)

    def of(self, state: SessionState) -> int:
        """What will be sent behind the last usage, with the repairs of calls without a result."""
        entries, since = state.messages, state.messages_since_usage
        if since == 0 and not (entries and isinstance(entries[-1].record, AssistantMessage)):
            return 0
        mark = len(entries) - since
        if not self._goes_on(state, mark):
            self._begin(entries, mark)
        for message in messages_of(entries[self._done :]):
            self._take(message)
        self._done, self._place = len(entries), Place.of(state)
        return max(0, self._sent - self._known)

    def _goes_on(self, state: SessionState, mark: int) -> bool:
        same = self._mark == mark and self._exact is self.counter.exact
        return same and self._place is not None and self._place.leads_to(state)

    def _begin(self, entries: Sequence[Entry], mark: int) -> None:
        """Begin at the answer on whose calls the first messages may be results, known as it is."""
        start = mark - 1
        while start >= 0 and isinstance(entries[start].record, ToolMessage):
            start -= 1
        if start < 0 or not isinstance(entries[start].record, AssistantMessage):
            start = mark
        self._mark, self._done, self._exact = mark, start, self.counter.exact
        self._known = sum(self.counter.count_messages(messages_of(entries[start:mark])))
        self._sent = 0
        self._answers = {}

    def _take(self, message: Message) -> None:
        """Add what a message changes in the repaired history: it answers a call, or is sent."""
        if isinstance(message, ToolMessage):
            before = self._answers.get(message.tool_call_id)
            if before is not None:
                now = self.counter.count_message(message)
                self._answers[message.tool_call_id] = now
                self._sent += now - before
            return
        sent, *answers = repaired_messages((message,))
        self._sent += self.counter.count_message(sent)
        if isinstance(message, AssistantMessage):
            self._answers = {
                answer.tool_call_id: self.counter.count_message(answer)
                for answer in answers
                if isinstance(answer, ToolMessage)
            }
            self._sent += sum(self._answers.values())
