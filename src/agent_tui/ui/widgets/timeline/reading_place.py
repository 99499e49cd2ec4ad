"""Where the reader is in a block list, and which rows are in view for that.

A window so high that the end comes into view shows what is above the place too. Neither that nor a
change of heights moves the reader: once the window is low again, the place is at its top as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent_tui.ui.widgets.timeline.block_list import BlockList
from agent_tui.ui.widgets.timeline.drawn_blocks import Place


class ReadingPlace:
    """A place of the blocks, or their end, which is then followed; only the reader moves it.

    Attributes:
        view: the place of each row in view.
        follows: whether the end is kept in view.
    """

    def __init__(self, blocks: BlockList) -> None:
        self._blocks = blocks
        self._place: Place = (0, 0)
        self._share = 0.0  # of its block's rows are above it, as it was when the reader came
        self._drawn: tuple[Place, int] | None = None  # where that led to, in so many rows
        self.view: list[Place] = []
        self.follows = True

    @property
    def top(self) -> Place:
        """What the first row shows."""
        return self.view[0] if self.view else (0, 0)

    @property
    def shows_end(self) -> bool:
        """Whether no row is below the view."""
        if not self.view:
            return True
        index, offset = self.view[-1]
        if offset < self._blocks.height(index) - 1:
            return False
        later = range(index + 1, len(self._blocks))
        return all(not self._blocks.height(block) for block in later)

    @property
    def is_in_open(self) -> bool:
        """Whether the reader has stopped within the answer that is being written."""
        return not self.follows and self._blocks.is_open(self._place[0])

    def go_to(self, place: Place, height: int) -> None:
        """Move to a place; if the end comes into view there, it is followed.

        ``height``: the rows of the window; 0 where it has none yet.
        """
        self._place, self._drawn, self.follows = place, None, False
        if height:
            self._fill(place, height)
            self._place, self.follows = self.top, self.shows_end

    def stay(self, height: int) -> None:
        """After blocks or the window changed, keep the place at the top, or the end in view."""
        if not height:
            return
        self.follows = self.follows or not len(self._blocks)
        if self.follows:
            self._fill(self._blocks.end(height), height)
            self._place = self.top
        else:
            self._place = self.nearest(self._place)
            self._fill(self._place, height)

    def nearest(self, place: Place) -> Place:
        """The place itself, or the nearest that still exists."""
        index = max(0, min(place[0], len(self._blocks) - 1))
        height = self._blocks.height(index) if len(self._blocks) else 0
        return index, max(0, min(place[1], height - 1))

    def move_blocks(self, count: int) -> None:
        """So many blocks were inserted before all others."""
        self._place = self._place[0] + count, self._place[1]

    def renumber(self, moved: Mapping[int, int]) -> None:
        """Blocks have other indexes; who is in one that is gone stays behind the one before it."""
        known = [index for index in moved if index <= self._place[0]]
        if known:
            nearest = max(known)
            self._place = moved[nearest] + self._place[0] - nearest, self._place[1]

    def move_rows(self, index: int, count: int, beyond: int) -> None:
        """A block gained rows: who is further down in it than ``beyond`` sees what is its end."""
        if count and index == self._place[0] and self._place[1] > beyond:
            self._place = index, max(0, self._place[1] + count)

    def draw_anew(self, draw: Callable[[], None]) -> None:
        """Have the blocks drawn for another width: of a long one the same words stay at the top."""
        index, offset = self._place
        is_inside = (offset or self._drawn is not None) and index < len(self._blocks)
        before = self._blocks.height(index) if is_inside else 0
        if before and self._drawn != (self._place, before):
            self._share = offset / before  # not what was rounded for one width after another
        draw()
        if before:
            rows = self._blocks.height(index)
            self._place = index, round(self._share * rows)
            self._drawn = self._place, rows

    def _fill(self, place: Place, height: int) -> None:
        """Have in view what begins at a place, or the last rows where that is fewer."""
        self.view = self._blocks.span(place, height)
        if len(self.view) < height and place != (0, 0):
            self.view = self._blocks.span(self._blocks.end(height), height)
