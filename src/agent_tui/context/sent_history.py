"""The messages as they are sent: repaired once, so that a step costs what is new in it."""

from __future__ import annotations

from dataclasses import field

from agent_tui.context.tokens.message_tokens import Place, messages_of
from agent_tui.core.dataclass import dataclass
from agent_tui.core.records import AssistantMessage, Message
from agent_tui.sessions.replay import SessionState
from agent_tui.sessions.sent_messages import repaired_messages


@dataclass(slots=True)
class SentHistory:
    """Follows a state; what lies before its last answer is final and not looked at again."""

    _place: Place | None = None
    _settled: list[Message] = field(default_factory=list)
    _done: int = 0
    _whole: tuple[Message, ...] = ()

    def behind(self, state: SessionState) -> int:
        """How many messages of a state ``of`` has yet to look at."""
        known = self._place is not None and self._place.leads_to(state)
        return len(state.messages) - (self._done if known else 0)

    def of(self, state: SessionState) -> tuple[Message, ...]:
        """Every call with its result right behind it, and nothing that hangs loose."""
        place = Place.of(state)
        if self._place is not None and self._place.leads_to(state):
            if self._place.length == place.length:
                return self._whole
        else:
            self._settled, self._done = [], 0
        fresh = messages_of(state.messages[self._done :])
        answers = (i for i in range(len(fresh) - 1, 0, -1) if _is_answer(fresh[i]))
        cut = next(answers, 0)
        self._settled += repaired_messages(fresh[:cut])
        self._done += cut
        self._whole = (*self._settled, *repaired_messages(fresh[cut:]))
        self._place = place
        return self._whole


def _is_answer(message: Message) -> bool:
    return isinstance(message, AssistantMessage)
