"""Masking: old tool output gives way to a line that says what it was, and that recall has it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from agent_tui.core.arguments import show_arguments
from agent_tui.core.messages import ToolCall, text_of
from agent_tui.core.records import UNSTAMPED, AssistantMessage, Message, Stamp, ToolMessage
from agent_tui.core.summary import CompactionAmounts
from agent_tui.core.text import first_line, format_count

_LONGEST_ARGUMENTS = 120


def outputs_to_mask(
    messages: Sequence[Message],
    tokens: Sequence[int],
    staying: Collection[int],
    pinned: Collection[int],
    amounts: CompactionAmounts,
) -> frozenset[int]:
    """Which of the messages that stay are long tool output that the newest tokens do not hold.

    What failed stays as it is: errors are what is asked for again.
    """
    if not amounts.masked_from:
        return frozenset()
    newest, masks = amounts.unmasked_tokens, set()
    for index in sorted(staying, reverse=True):
        newest -= tokens[index]
        message = messages[index]
        if newest >= 0 or index in pinned or not isinstance(message, ToolMessage):
            continue
        plain = not (message.is_error or message.interrupted or message.masked)
        if plain and tokens[index] >= amounts.masked_from:
            masks.add(index)
    return frozenset(masks)


def mask_output(message: ToolMessage, call: ToolCall | None) -> ToolMessage:
    """The result with a line in the place of its output; it stays the same record of the log."""
    text = text_of(message.content)
    lines = text.count("\n") + 1
    key = message.stamp.uuid or ""
    how = f' Call recall with message "{key}" to read it.' if key else ""
    said = (
        f"[Output of {_describe(call)} removed to save space: {format_count(lines, 'line')}, "
        f"{format_count(len(text), 'character')}.{how}]"
    )
    stamp = Stamp(key or None, None, message.stamp.at) if key else UNSTAMPED
    return replace(message, content=said, display=None, masked=True, stamp=stamp)


def calls_of(messages: Sequence[Message]) -> dict[str, ToolCall]:
    """The last call of each id."""
    return {
        call.id: call
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    }


def _describe(call: ToolCall | None) -> str:
    if call is None:
        return "a tool"
    values = " ".join(show_arguments(call.arguments).values())
    return f"{call.name} {first_line(values, _LONGEST_ARGUMENTS)}".strip()
