"""What a renderer draws on: a width, a palette, the languages and pictures known so far."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from agent_tui.core.dataclass import dataclass
from agent_tui.ui.renderers.languages import Languages
from agent_tui.ui.renderers.lines import Line
from agent_tui.ui.themes.palette import Palette

if TYPE_CHECKING:
    from agent_tui.runtime.machine.pictures import Colour

COLUMN = 108
"""Text, code and figures share one column: longer lines are hard to read on a wide screen."""


_MOST_PICTURES = 32


class Pictures:
    """The pictures drawn last. ``find`` answers at once and remembers what it did not have.

    Like colours of code a picture comes later: it is decoded in a thread.
    """

    def __init__(self, *, decodes: bool = False) -> None:
        self._drawn: OrderedDict[tuple[int, int, int, Colour], list[Line]] = OrderedDict()
        self._decodes = decodes
        self.is_missing = False

    def decoding(self) -> Pictures:
        """The same pictures, for a thread: missing ones are decoded there."""
        other = Pictures(decodes=True)
        other._drawn = self._drawn
        return other

    def find(self, url: str, columns: int, rows: int, ground: Colour) -> list[Line]:
        """The rows of a picture; none where it cannot be shown, or not yet (``is_missing``)."""
        key = (hash(url), columns, rows, ground)
        known = self._drawn.get(key)
        if known is None and self._decodes:
            from agent_tui.runtime.machine.pictures import open_picture
            from agent_tui.ui.renderers.pictures import draw_half_blocks

            picture = open_picture(url)
            known = draw_half_blocks(picture, columns, rows, ground) if picture else []
            self._drawn[key] = known
            if len(self._drawn) > _MOST_PICTURES:
                self._drawn.popitem(last=False)
        self.is_missing = self.is_missing or known is None
        return known or []


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
