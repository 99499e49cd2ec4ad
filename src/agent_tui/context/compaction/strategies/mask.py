"""Keeps every message, and only takes the long output of older tools out of the context."""

from __future__ import annotations

from dataclasses import dataclass

from agent_tui.context.compaction.selection import Room


@dataclass(frozen=True, slots=True)
class Mask:
    """Masks tool output that the newest ``tokens`` do not hold; nothing is summarised."""

    tokens: int = 10_000
    name: str = "mask"
    asks_model: bool = False
    adds_files: bool = False

    def describe(self, window: int) -> str:
        """In a few words, whatever the window."""
        return f"mask tool output older than {self.tokens:,} tokens"

    def keep(self, room: Room) -> frozenset[int]:
        """Everything."""
        return frozenset(range(len(room.messages)))
