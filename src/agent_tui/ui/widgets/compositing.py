"""Painting a change without asking widgets for lines that it does not touch.

Textual asks every widget between the first changed cell and the last, also those that lie behind
others: a word of an answer and a moved scroll bar would have the whole screen drawn again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.screen import Screen, ScreenResultType
from textual.strip import Strip
from textual.widget import Widget

Render = tuple[Region, Region, list[Strip]]
"""Where a widget stands, where it may be seen, and its lines."""


class SparingCompositor(Compositor):
    """Textual's compositor; what will not be seen is not rendered."""

    def __init__(self) -> None:
        super().__init__()
        self._changed: list[Region] = []
        self._asks_all = False

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = list(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = []

    def _render_chops(
        self, crop: Region, is_rendered_line: Callable[[int], bool]
    ) -> Sequence[Mapping[int, Strip]]:
        """The pieces of each line; one that drew less than its place shows what lies behind it.

        A widget may be wider than its lines until it hears that it was resized. Textual ends the
        program at a piece of a whole screen that nobody drew.
        """
        chops = super()._render_chops(crop, is_rendered_line)
        if self._changed or not any(None in line.values() for line in chops):
            return chops
        self._asks_all = True
        try:
            return super()._render_chops(crop, is_rendered_line)
        finally:
            self._asks_all = False

    def _get_renders(self, crop: Region | None = None) -> Iterable[Render]:
        wanted = self._seen_in(self._changed or [crop or self.size.region])
        for widget, region, clip in self._attached():
            if widget in wanted or self._asks_all:
                seen = region.intersection(clip)
                yield region, clip, widget.render_lines(seen.translate(-region.offset))

    def _attached(self) -> Iterator[tuple[Widget, Region, Region]]:
        """The widgets from the front to the back, each where it stands and where it may be seen.

        One that was removed keeps its place until the next layout, but cannot draw any longer.
        """
        for widget, (region, clip) in self.visible_widgets.items():
            if widget is self.root or widget.is_attached:
                yield widget, region, clip

    def _seen_in(self, regions: Iterable[Region]) -> set[Widget]:
        """The widgets of which something is seen there: none lies wholly behind another."""
        shown = [(widget, region.intersection(clip)) for widget, region, clip in self._attached()]
        wanted: set[Widget] = set()
        for changed in regions:
            rows = set(changed.line_range)  # of which something behind what was looked at is seen
            for widget, seen in shown:  # from the front to the back
                if seen.overlaps(changed) and not rows.isdisjoint(seen.line_range):
                    wanted.add(widget)
                    if seen.x <= changed.x and seen.right >= changed.right:
                        rows.difference_update(seen.line_range)
        return wanted


class SparingScreen(Screen[ScreenResultType]):
    """A screen that paints sparingly, and only once when much changes at once."""

    HAS_TOASTS: ClassVar[bool] = True
    """Whether Textual's widgets for toasts and tooltips stand ready."""

    def __init__(self) -> None:
        super().__init__()
        self._compositor = SparingCompositor()

    def _extend_compose(self, widgets: list[Widget]) -> None:
        if self.HAS_TOASTS:
            super()._extend_compose(widgets)

    def _on_timer_update(self) -> None:
        """Lay out and paint in one go: Textual paints what was moved, and then all of it."""
        draws = self.is_current and not self.app._batch_count  # else what it owes is kept
        if draws and self._layout_required and self._repaint_required:
            self._repaint_required = False
            self._dirty_widgets.add(self)
        super()._on_timer_update()

    def _update_focus_styles(
        self, focused: Widget | None = None, blurred: Widget | None = None
    ) -> None:
        """Restyle only what contains the focus; everything else looks as before."""
        touched = [widget for widget in (focused, blurred) if widget is not None]
        above = {node for widget in touched for node in widget.ancestors_with_self}
        within = [node for node in above if node._has_focus_within]
        self.app.stylesheet.update_nodes(within, animate=True)

    async def draw_in_parts(self) -> None:
        """Draw widget by widget, yielding to the loop before each, ready for the next frame."""
        for widget, (region, clip) in list(self._compositor.visible_widgets.items()):
            await asyncio.sleep(0)
            if widget is not self and widget.is_attached:
                widget.render_lines(region.intersection(clip).translate(-region.offset))
