"""Parts of a conversation: the newest of it, by tokens, messages or time. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_tui.context.compaction.selection import steps_of
from agent_tui.context.tokens.estimate import quick_token_count
from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    AssistantMessage,
    EnvironmentRecord,
    LabelRecord,
    Message,
    ModelRecord,
    Record,
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    is_message,
)

_IN_FORCE = (
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    ModelRecord,
    LabelRecord,
    EnvironmentRecord,
)

Count = Callable[[Message], int]
"""The tokens of one message."""


@dataclass(frozen=True, slots=True)
class ContextFilter:
    """Which part is wanted: all that fits all of these; 0 and empty set no limit.

    Attributes:
        max_tokens: as many as fit into so many tokens.
        max_messages: so many messages at most.
        since: those written at that time (RFC 3339, UTC, or a beginning of it) or later.
    """

    max_tokens: int = 0
    max_messages: int = 0
    since: str = ""

    def __bool__(self) -> bool:
        """Whether anything is left out at all."""
        return bool(self.max_tokens or self.max_messages or self.since)


def quick_message_count(message: Message) -> int:
    """About how many tokens a message takes, where no tokenizer is at hand."""
    calls = message.tool_calls if isinstance(message, AssistantMessage) else ()
    said = text_of(message.content) + "".join(call.name + call.arguments for call in calls)
    return quick_token_count(said) + 4


def filter_messages(
    messages: Sequence[Message], wanted: ContextFilter, count: Count = quick_message_count
) -> list[Message]:
    """The newest messages that fit, in order; a call and its results stay or go together."""
    tokens, number = wanted.max_tokens, wanted.max_messages
    kept: set[int] = set()
    for step in reversed(steps_of(messages)):
        tokens -= sum(count(messages[index]) for index in step) if wanted.max_tokens else 0
        number -= len(step) if wanted.max_messages else 0
        at = messages[step[0]].stamp.at
        too_old = bool(wanted.since) and at is not None and at < wanted.since
        if tokens < 0 or number < 0 or too_old:
            break
        kept.update(step)
    return [messages[index] for index in sorted(kept)]


def filter_records(records: Sequence[Record], wanted: ContextFilter) -> list[Record]:
    """The records of the newest messages that fit, behind those that are in force.

    What stands between messages that were left out (checkpoints, usages, markers) is left out too.
    """
    if not wanted:
        return list(records)
    kept = filter_messages([r for r in records if is_message(r)], wanted)
    names = {id(message) for message in kept}
    first = next((i for i, each in enumerate(records) if id(each) in names), len(records))
    before = [record for record in records[:first] if isinstance(record, _IN_FORCE)]
    behind = [record for record in records[first:] if not is_message(record) or id(record) in names]
    return [*before, *behind]
