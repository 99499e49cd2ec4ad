"""What the model is sent next: the live view of a session's log, and every change of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_tui.context.sent_history import SentHistory
from agent_tui.context.tokens.message_tokens import MessageTokens, messages_of
from agent_tui.context.tokens.since_usage import TokensSinceUsage
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.context.trigger import DEFAULT_RATIO, DEFAULT_RESERVED, trigger_at
from agent_tui.core.records import (
    Checkpoint,
    Message,
    Record,
    RevertReason,
)
from agent_tui.core.usage import Gauge
from agent_tui.sessions.log import Durability
from agent_tui.sessions.replay import SessionState
from agent_tui.sessions.session_log import SessionLog

if TYPE_CHECKING:
    from agent_tui.providers.base import ToolSchema


_MANY = 200  # more messages than this would be felt on the event loop


class Context:
    """The messages, checkpoints and token count of one session, always as its log has them.

    Attributes:
        log: the session's log; memory never runs ahead of it.
        counter: how its tokens are counted.
        tools: the tools that requests declare; they take room too.
        tokens: the tokens of each message.
    """

    def __init__(
        self, log: SessionLog, counter: TokenCounter, tools: Sequence[ToolSchema] = ()
    ) -> None:
        self.log = log
        self.counter = counter
        self.tools = tuple(tools)
        self._sent = SentHistory()
        self.tokens = MessageTokens(counter)
        self._since_usage = TokensSinceUsage(counter)

    @property
    def state(self) -> SessionState:
        """What the log adds up to now."""
        return self.log.state

    @property
    def messages(self) -> list[Message]:
        """The messages on the active path, as they stand in the log."""
        return messages_of(self.state.messages)

    @property
    def history(self) -> tuple[Message, ...]:
        """What is sent: every call has its result, and nothing hangs loose."""
        return self._sent.of(self.state)

    async def prepare_history(self) -> None:
        """Have ``history`` at hand: that of a long session is worked out in a thread."""
        if self._sent.behind(self.state) > _MANY:
            sent = SentHistory()
            await asyncio.to_thread(sent.of, self.state)
            self._sent = sent

    @property
    def system_prompt(self) -> str:
        """The system prompt in force."""
        return self.state.system_prompt

    @property
    def last_turn(self) -> int:
        """The number of the latest turn; 0 before the first."""
        return self.state.last_turn

    @property
    def n_checkpoints(self) -> int:
        """One more than the highest checkpoint id: the id of the next one."""
        return self.state.next_checkpoint_id

    @property
    def token_count(self) -> int:
        """The tokens that the next request sends: the last known usage, and what came since."""
        state = self.state
        if state.token_count:
            return state.token_count + self._since_usage.of(state)
        return self.overhead_tokens + self.tokens.total(state)

    @property
    def estimated(self) -> bool:
        """Whether the token count is ours in any part, rather than the provider's."""
        state = self.state
        return not state.token_count or state.token_estimated or bool(state.messages_since_usage)

    @property
    def overhead_tokens(self) -> int:
        """The tokens of the system prompt and the tools, which every request sends."""
        prompt = self.counter.count_text(self.system_prompt)
        return prompt + self.counter.count_tools(self.tools)

    def count_message(self, message: Message) -> int:
        """The tokens of one message."""
        return self.counter.count_message(message)

    async def warm(self) -> None:
        """Count every message exactly, in a thread: long histories begin with rough counts.

        Loads the ranks of the model where they are not yet.
        """
        await asyncio.to_thread(self.counter.warm)
        state = self.state
        entries = list(state.messages)
        if entries:
            messages = messages_of(entries)
            counts = await asyncio.to_thread(self.counter.count_messages, messages)
            self.tokens.remember(state, counts, entries[-1], better=True)

    async def append(self, *messages: Message, durability: Durability = Durability.D1) -> None:
        """Add messages; when this returns they are as durable as asked."""
        await self.log.append(*messages, durability=durability)

    async def note(self, *records: Record, durability: Durability = Durability.D0) -> None:
        """Write records that are not sent to the model."""
        await self.log.append(*records, durability=durability)

    async def checkpoint(self, turn: int | None = None, step: int | None = None) -> int:
        """Write a checkpoint; returns its id."""
        number = self.n_checkpoints
        await self.note(Checkpoint(number, turn, step))
        return number

    async def revert_to(self, checkpoint_id: int, reason: RevertReason = "user") -> int:
        """Go back to before a checkpoint; returns the number of the archive.

        Raises:
            UnknownCheckpoint: the log has no such checkpoint; nothing was changed.
        """
        return await self.log.revert(checkpoint_id, reason)

    def gauge(
        self, window: int, reserved: int = DEFAULT_RESERVED, ratio: float = DEFAULT_RATIO
    ) -> Gauge:
        """How full the context is; ``shares`` are empty: ``attribute_context`` counts them."""
        mark = trigger_at(window, reserved, ratio)
        return Gauge(self.token_count, window, mark, self.estimated)
