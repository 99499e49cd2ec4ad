"""What a compaction keeps: indices of messages, never a call without its result."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from agent_tui.context.compaction.summary_message import is_summary
from agent_tui.core.errors import CompactionError
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage, is_prompt
from agent_tui.core.summary import Fate
from agent_tui.core.text import format_count

REQUESTS_KEPT = 3
REQUEST_TOKENS = 4_000
_ASIDES = ("checkpoint", "reminder")


@dataclass(frozen=True, slots=True)
class Room:
    """What a strategy is told of the context: its messages, their tokens, the window."""

    messages: Sequence[Message]
    tokens: Sequence[int]
    window: int

    def newest(self, budget: int) -> frozenset[int]:
        """The newest messages that fit into a budget of tokens, whole steps at a time."""
        kept: set[int] = set()
        left = budget
        for step in reversed(steps_of(self.messages)):
            left -= sum(self.tokens[index] for index in step)
            if left < 0:
                break
            kept.update(step)
        return frozenset(kept)


@dataclass(frozen=True, slots=True)
class Selection:
    """The fate of every message; indices in order. Those that are ``masked`` are kept too."""

    kept: tuple[int, ...]
    summarised: tuple[int, ...]
    dropped: tuple[int, ...]
    masked: frozenset[int] = frozenset()

    def fates(self) -> list[Fate]:
        """The fate of each message, by index."""
        fates: dict[int, Fate] = dict.fromkeys(self.kept, "kept")
        fates |= dict.fromkeys(self.masked, "masked")
        fates |= dict.fromkeys(self.summarised, "summarised")
        fates |= dict.fromkeys(self.dropped, "dropped")
        return [fates[index] for index in range(len(fates))]


def steps_of(messages: Sequence[Message]) -> list[list[int]]:
    """The messages in groups that belong together: an answer that calls tools, and its results.

    A result belongs to the latest unanswered call of its id, whatever stands between them; a
    result without a call is in no group.
    """
    groups: list[list[int]] = []
    waiting: dict[str, list[int]] = {}
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            group = waiting.pop(message.tool_call_id, None)
            if group is not None:
                group.append(index)
            continue
        group = [index]
        groups.append(group)
        if isinstance(message, AssistantMessage):
            waiting = {call.id: group for call in message.tool_calls}
    return groups


def select(room: Room, kept: Collection[int], pins: Collection[int] = ()) -> Selection:
    """Settle every message's fate, from what a strategy keeps and what a person pinned.

    The user's last requests are kept too, within a budget; a previous summary never is, because
    the new one takes it up. What is kept by rule may fill half the window at most, oldest first
    out; pins always stay.

    Raises:
        CompactionError: nothing would be summarised.
    """
    messages = room.messages
    steps = steps_of(messages)
    pinned = _whole_steps(steps, pins)
    stays = _within(room, steps, set(kept) - pinned, room.window // 2)
    stays |= pinned | _last_requests(room, stays)
    stays -= {i for i in stays - pinned if is_summary(messages[i])}
    in_steps = {index for step in steps for index in step}
    dropped = {i for i, m in enumerate(messages) if i not in stays and _says_nothing(m)}
    dropped |= set(range(len(messages))) - in_steps
    stays -= dropped
    gone = set(range(len(messages))) - stays - dropped
    if not any(not is_summary(messages[index]) for index in gone):
        way = "Continue, or unpin some." if pinned else "Continue the conversation first."
        count = format_count(len(messages), "message")
        raise CompactionError(f"Nothing to compact: {count}, all would be kept. {way}")
    return Selection(tuple(sorted(stays)), tuple(sorted(gone)), tuple(sorted(dropped)))


def select_all(room: Room) -> Selection:
    """Every message stays, except results that belong to no call."""
    in_steps = {index for step in steps_of(room.messages) for index in step}
    loose = set(range(len(room.messages))) - in_steps
    return Selection(tuple(sorted(in_steps)), (), tuple(sorted(loose)))


def _whole_steps(steps: Sequence[Sequence[int]], chosen: Collection[int]) -> set[int]:
    wanted = frozenset(chosen)
    return {index for step in steps if not wanted.isdisjoint(step) for index in step}


def _within(room: Room, steps: Sequence[list[int]], kept: set[int], budget: int) -> set[int]:
    stays: set[int] = set()
    for step in reversed(steps):
        if kept.isdisjoint(step):
            continue
        budget -= sum(room.tokens[index] for index in step)
        if budget < 0:
            break
        stays.update(step)
    return stays


def _last_requests(room: Room, stays: Collection[int]) -> set[int]:
    """The newest things that the user really asked for, whole, within a budget."""
    budget = min(REQUEST_TOKENS, room.window // 10)
    found: set[int] = set()
    asked = [i for i, message in enumerate(room.messages) if is_request(message)]
    for index in reversed(asked[-REQUESTS_KEPT:]):
        if index not in stays:
            budget -= room.tokens[index]
        if budget < 0:
            break
        found.add(index)
    return found


def is_request(message: Message) -> bool:
    """Whether a message is something that a person asked for."""
    return is_prompt(message) and not is_summary(message) and bool(text_of(message.content).strip())


def _says_nothing(message: Message) -> bool:
    match message:
        case UserMessage(origin=origin):
            return origin in _ASIDES
        case AssistantMessage(content=content, tool_calls=calls):
            return not calls and not text_of(content).strip()
        case ToolMessage():
            return False


def indices_of(keys: Iterable[str], messages: Sequence[Message]) -> frozenset[int]:
    """The indices of the messages with these keys; unknown keys are passed over."""
    wanted = frozenset(keys)
    return frozenset(i for i, m in enumerate(messages) if message_key(i, m) in wanted)


def message_key(index: int, message: Message) -> str:
    """What names a message across reloads: its uuid, or its place where it has none."""
    return message.stamp.uuid or f"#{index}"
