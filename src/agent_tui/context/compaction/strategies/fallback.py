"""Keeps the newest share of the context without asking anybody: for when no model answers."""

from __future__ import annotations

from dataclasses import dataclass

from agent_tui.context.compaction.selection import Room


@dataclass(frozen=True, slots=True)
class Fallback:
    """Keeps the newest ``share`` of all tokens and drops the rest; the archive still has it."""

    share: float = 0.3
    name: str = "fallback"
    asks_model: bool = False
    adds_files: bool = False

    def describe(self, window: int) -> str:
        """In a few words, whatever the window."""
        return f"keep the newest {self.share:.0%} and drop the rest; asks no model"

    def keep(self, room: Room) -> frozenset[int]:
        """The newest steps that fit into the share."""
        return room.newest(round(sum(room.tokens) * self.share))
