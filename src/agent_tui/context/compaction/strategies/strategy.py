"""What every strategy of compaction answers to."""

from __future__ import annotations

from typing import Protocol

from agent_tui.context.compaction.selection import Room


class Strategy(Protocol):
    """Chooses which messages a compaction keeps word for word.

    Pairs of calls and results, pins and the user's last requests are seen to by the pipeline.
    """

    @property
    def name(self) -> str:
        """The name by which config and commands choose it."""
        ...

    @property
    def asks_model(self) -> bool:
        """Whether a model writes a summary of what is not kept."""
        ...

    @property
    def adds_files(self) -> bool:
        """Whether the most important files stand behind the summary, as they are now."""
        ...

    def describe(self, window: int) -> str:
        """What it keeps in a window of so many tokens, in a few words."""
        ...

    def keep(self, room: Room) -> frozenset[int]:
        """The indices of the messages that stay."""
        ...
