"""Keeps a fixed amount of the newest conversation, whatever the context has grown to."""

from __future__ import annotations

from dataclasses import dataclass

from agent_tui.context.selection import Room


@dataclass(frozen=True, slots=True)
class RecentTokens:
    """Keeps about ``tokens`` of the newest steps; a fifth of the window where that is less."""

    tokens: int = 20_000
    name: str = "recent-tokens"
    asks_model: bool = True
    adds_files: bool = False

    def keep(self, room: Room) -> frozenset[int]:
        """The newest steps that fit."""
        return room.newest(min(self.tokens, room.window // 5))
