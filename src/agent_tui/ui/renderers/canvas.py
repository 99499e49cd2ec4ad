"""What a renderer draws on: a width, a palette, and the languages known so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.core.dataclass import dataclass
from agent_tui.ui.renderers.languages import Languages
from agent_tui.ui.themes.palette import Palette

if TYPE_CHECKING:
    from agent_tui.ui.renderers.pictures import Pictures

COLUMN = 108
"""Text, code and figures share one column: longer lines are hard to read on a wide screen."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """Where a block is drawn.

    ``width`` is what a block may fill, without the gutter; ``pictures`` is None where the terminal
    has too few colours for them.
    """

    width: int
    palette: Palette
    languages: Languages
    pictures: Pictures | None = None

    @property
    def prose_width(self) -> int:
        """The width for running text."""
        return min(self.width, COLUMN)
