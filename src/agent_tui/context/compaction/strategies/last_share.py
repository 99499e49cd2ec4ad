"""Keeps the newest share of the context, and shows the files that matter as they are now."""

from __future__ import annotations

from dataclasses import dataclass

from agent_tui.context.compaction.selection import Room


@dataclass(frozen=True, slots=True)
class LastShare:
    """Keeps the newest ``share`` of all tokens and adds the most important files."""

    share: float = 0.2
    name: str = "last-share"
    asks_model: bool = True
    adds_files: bool = True

    def describe(self, window: int) -> str:
        """In a few words, whatever the window."""
        return f"keep the newest {self.share:.0%}, and add the most important files"

    def keep(self, room: Room) -> frozenset[int]:
        """The newest steps that fit into the share."""
        return room.newest(round(sum(room.tokens) * self.share))
