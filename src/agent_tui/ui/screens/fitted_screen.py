"""A screen whose every frame fits its size, the first one and those after a resize included."""

from __future__ import annotations

from typing import TypeVar

from textual.geometry import Size
from textual.screen import Screen

Result = TypeVar("Result")


class FittedScreen(Screen[Result]):
    """Takes on what its size asks for before it is laid out.

    A handler of Resize comes too late: what was laid out is on the screen by then.

    Attributes:
        room: the size it is laid out for; ``size`` is that of the frame before.
    """

    room = Size(0, 0)

    def fit(self) -> None:
        """Set the heights that depend on ``room``; each screen's own."""

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        room = self.outer_size if size is None else size
        if self.is_mounted and room and room != self.room:
            self.room = room
            self._take_on_classes()
            self.fit()
        super()._refresh_layout(size, scroll)

    def _take_on_classes(self) -> None:
        """Those of the size, which Textual gives a screen once it has laid it out."""
        wide, high = self.HORIZONTAL_BREAKPOINTS or [], self.VERTICAL_BREAKPOINTS or []
        held = self._get_breakpoint_classes(self.room.width, wide)
        held |= self._get_breakpoint_classes(self.room.height, high)
        self.update_classes({name: name in held for _, name in (*wide, *high)}, animate=False)
