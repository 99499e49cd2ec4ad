"""Which calls of a turn still have no result in the log."""

from __future__ import annotations

from collections.abc import Sequence

from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, ToolMessage
from agent_tui.sessions.replay import Entry


def unanswered_calls(messages: Sequence[Entry], turn: int) -> list[ToolCall]:
    """The calls of the last answer without a result, where that answer belongs to the turn."""
    answered: set[str] = set()
    for entry in reversed(messages):
        record = entry.record
        if isinstance(record, ToolMessage):
            answered.add(record.tool_call_id)
        elif isinstance(record, AssistantMessage):
            if record.turn != turn:
                break
            return [call for call in record.tool_calls if call.id not in answered]
    return []
