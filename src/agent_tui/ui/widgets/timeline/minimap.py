"""Where prompts, steps, compactions and errors stand in the scroll bar of very many blocks.

Blocks are looked at once, when they are added or change, a slice at a time. What a cell of the bar
shows is found by the row it begins at, so that it costs the same for any number of blocks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from agent_tui.ui.blocks import Landmark
from agent_tui.ui.themes.contrast import MARK, readable

if TYPE_CHECKING:
    from agent_tui.ui.widgets.timeline.block_list import BlockList

Spots = Mapping[int, tuple[Landmark, int]]
"""What stands in which cell of the bar: its kind, and its block."""

_SLICE = 4_000
"""Records that are looked at in one go: a fraction of a frame's time."""
_FEW = 1_000
"""Records that can be looked at while a frame is drawn."""

_LOOKS: dict[Landmark, tuple[str, str]] = {
    "step": ("·", "faint"),
    "prompt": ("─", "checkpoint"),
    "compaction": ("≡", "compaction"),
    "error": ("✗", "danger"),
}
"""Mark and colour of each, as in the gutter; a later one hides an earlier one in its cell."""

_GRAB = {"@mouse.down": "grab"}  # what Textual gives the cells of a thumb


class Minimap:
    """The landmarks of a block list, by the cells of a column beside it."""

    def __init__(self, blocks: BlockList) -> None:
        self._blocks = blocks
        self._places: dict[Landmark, list[int]] = {kind: [] for kind in _LOOKS}
        self._spots: Spots = {}
        self._drawn_for = (0, 0)

    @property
    def is_behind(self) -> bool:
        """Whether there are blocks that were not looked at yet."""
        return self._blocks.unmapped < len(self._blocks)

    def keep_up(self) -> bool:
        """Look at new blocks at once where they are few; otherwise ``catch_up`` is wanted."""
        if self.is_behind and len(self._blocks) - self._blocks.unmapped <= _FEW:
            self.catch_up()
        return not self.is_behind

    def catch_up(self) -> None:
        """Look at the next blocks that were added or changed."""
        first = self._blocks.unmapped
        stop = min(first + _SLICE, len(self._blocks))
        for places in self._places.values():
            del places[bisect_left(places, first) :]
        for index, kind in self._blocks.landmarks(first, stop):
            self._places[kind].append(index)
        self._blocks.unmapped = stop
        self._drawn_for = (0, 0)

    def spots(self, cells: int) -> Spots:
        """What to show in so many cells; the same object while nothing moved by a cell."""
        total = self._blocks.heights.total
        known, height = self._drawn_for
        if height != cells or abs(total - known) * cells >= max(1, total):
            self._spots, self._drawn_for = self._find(cells, total), (total, cells)
        return self._spots

    def _find(self, cells: int, total: int) -> Spots:
        """A kind that would stand in more than half of the cells says nothing: it is left out."""
        heights = self._blocks.heights
        edges = [heights.first_from(total * cell // max(1, cells)) for cell in range(cells)]
        edges.append(len(self._blocks))
        spots: dict[int, tuple[Landmark, int]] = {}
        for kind, places in self._places.items():
            found: dict[int, tuple[Landmark, int]] = {}
            for cell in range(cells):
                place = bisect_left(places, edges[cell])
                if place < len(places) and places[place] < edges[cell + 1]:
                    found[cell] = kind, places[place]
            if len(found) * 2 <= cells:
                spots |= found
        return spots


def draw_spot(
    kind: Landmark, variables: Mapping[str, str], bar: Style, *, on_thumb: bool
) -> Segment:
    """A cell of the bar with a landmark in it.

    Args:
        kind: what stands there.
        variables: the app's ``theme_variables``.
        bar: the colours of the bar: its thumb's, upon what is below it.
        on_thumb: whether the thumb is there.
    """
    glyph, token = _LOOKS[kind]
    colour = Color.parse(variables[token])
    if not on_thumb:
        return Segment(glyph, Style(color=colour.rich_color, bgcolor=bar.bgcolor))
    if bar.color is None or bar.color.triplet is None:  # one of the terminal's own sixteen
        return Segment(glyph, bar + Style(reverse=True, meta=_GRAB))
    thumb = Color.from_rich_color(bar.color)
    seen = readable(colour, [thumb], MARK).rich_color
    return Segment(glyph, Style(color=seen, bgcolor=bar.color, meta=_GRAB))
