"""Keeps a fixed amount of the newest conversation, whatever the context has grown to."""

from __future__ import annotations

from dataclasses import dataclass

from agent_tui.context.compaction.selection import Room


@dataclass(frozen=True, slots=True)
class RecentTokens:
    """Keeps about ``tokens`` of the newest steps; a fifth of the window where that is less."""

    tokens: int = 20_000
    name: str = "recent-tokens"
    asks_model: bool = True
    adds_files: bool = False

    def describe(self, window: int) -> str:
        """In a few words, with the tokens that this window leaves it."""
        return f"keep up to {self._budget(window):,} tokens of the newest messages"

    def keep(self, room: Room) -> frozenset[int]:
        """The newest steps that fit."""
        return room.newest(self._budget(room.window))

    def _budget(self, window: int) -> int:
        return min(self.tokens, window // 5)
