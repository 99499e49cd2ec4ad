"""What a renderer draws on: a width, a palette, and the languages known so far."""

from __future__ import annotations

from dataclasses import dataclass

from agent_tui.ui.palette import Palette
from agent_tui.ui.renderers.languages import Languages

PROSE_LIMIT = 104
"""Lines of prose longer than this are hard to read, however wide the screen is."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """Where a block is drawn. ``width`` is what a block may fill, without the gutter."""

    width: int
    palette: Palette
    languages: Languages

    @property
    def prose_width(self) -> int:
        """The width for running text."""
        return min(self.width, PROSE_LIMIT)
