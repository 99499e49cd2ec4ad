"""Keeps the last few messages of user and assistant, with the results that belong to them."""

from __future__ import annotations

from dataclasses import dataclass

from agent_tui.context.compaction.selection import Room, steps_of
from agent_tui.core.text import format_count


@dataclass(frozen=True, slots=True)
class LastMessages:
    """Keeps the last ``count`` user and assistant messages: short memory, smallest context."""

    count: int = 2
    name: str = "last-messages"
    asks_model: bool = True
    adds_files: bool = False

    def describe(self, window: int) -> str:
        """In a few words, whatever the window."""
        return f"keep the last {format_count(self.count, 'message')} of user and agent as they are"

    def keep(self, room: Room) -> frozenset[int]:
        """The last messages and their results."""
        steps = steps_of(room.messages)[-self.count :] if self.count else []
        return frozenset(index for step in steps for index in step)
