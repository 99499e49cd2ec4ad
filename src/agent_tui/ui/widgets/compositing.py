"""Painting a change without asking widgets for lines that it does not touch.

Textual asks every widget between the first changed cell and the last, also those that lie behind
others: a word of an answer and a moved scroll bar would have the whole screen drawn again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.screen import Screen, ScreenResultType
from textual.strip import Strip
from textual.widget import Widget

Render = tuple[Region, Region, list[Strip]]
"""Where a widget stands, where it may be seen, and its lines."""


class SparingCompositor(Compositor):
    """Textual's compositor; of a partial update only what will be seen is rendered."""

    def __init__(self) -> None:
        super().__init__()
        self._changed: list[Region] = []

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = list(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = []

    def _get_renders(self, crop: Region | None = None) -> Iterable[Render]:
        if not self._changed:
            yield from super()._get_renders(crop)
            return
        wanted = self._seen_in(self._changed)
        for widget, (region, clip) in self.visible_widgets.items():
            if widget in wanted:
                seen = region.intersection(clip)
                yield region, clip, widget.render_lines(seen.translate(-region.offset))

    def _seen_in(self, regions: Iterable[Region]) -> set[Widget]:
        """The widgets of which something is seen there: none lies wholly behind another."""
        shown = [
            (widget, region.intersection(clip))
            for widget, (region, clip) in self.visible_widgets.items()
        ]
        wanted: set[Widget] = set()
        for changed in regions:
            for widget, seen in shown:  # from the front to the back
                if seen.overlaps(changed):
                    wanted.add(widget)
                    if seen.contains_region(changed):
                        break
        return wanted


class SparingScreen(Screen[ScreenResultType]):
    """A screen that paints with it, and where much changes at once only once."""

    def __init__(self) -> None:
        super().__init__()
        self._compositor = SparingCompositor()

    def _on_timer_update(self) -> None:
        """Lay out and paint in one go: Textual paints what was moved, and then all of it."""
        draws = self.is_current and not self.app._batch_count  # else what it owes is kept
        if draws and self._layout_required and self._repaint_required:
            self._repaint_required = False
            self._dirty_widgets.add(self)
        super()._on_timer_update()

    async def draw_in_parts(self) -> None:
        """Draw each widget by itself, with a breath before it: the next frame finds all drawn."""
        for widget, (region, clip) in list(self._compositor.visible_widgets.items()):
            await asyncio.sleep(0)
            if widget is not self and widget.is_attached:
                widget.render_lines(region.intersection(clip).translate(-region.offset))
