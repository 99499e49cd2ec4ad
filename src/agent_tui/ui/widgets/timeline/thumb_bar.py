"""A scroll bar that is redrawn only where an end of its thumb moved, or a mark in it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from rich.style import Style
from textual import events
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_tui.ui.widgets.timeline.minimap import Spots

_EIGHTHS = 8  # Textual draws a scroll bar to the eighth of a cell


class ThumbBar(ScrollBar):
    """Textual's vertical scroll bar, but moving its thumb redraws a few cells instead of all."""

    @dataclass
    class SpotPressed(Message):
        """A mark in the bar was clicked; ``block`` is what it stands for."""

        block: int

    def __init__(self, *, thickness: int = 1) -> None:
        super().__init__(name="vertical", thickness=thickness)
        self._strips: list[Strip] = []
        self._look: object = None
        self._spots: Spots = {}

    def move(self, total: int, height: int, position: float) -> None:
        """Show ``height`` of so many rows, from a row on."""
        before = self._edges()
        self.set_reactive(ScrollBar.window_virtual_size, total)
        self.set_reactive(ScrollBar.window_size, height)
        self.set_reactive(ScrollBar.position, position)
        after = self._edges()
        if regions := list(self._changed(before, after)):
            self.refresh(*regions)

    def show_spots(self, spots: Spots) -> None:
        """Mark these cells."""
        before, self._spots = self._spots, spots
        if before is spots:
            return
        self._look = None
        cells = {*before, *spots}
        if changed := [y for y in cells if before.get(y, ("",))[0] != spots.get(y, ("",))[0]]:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """A click on a mark leads to what it stands for; the thumb above it can be dragged."""
        spot = self._spots.get(event.y)
        if spot is not None and not self._has_thumb(event.y):
            event.prevent_default()
            event.stop()
            self.post_message(self.SpotPressed(spot[1]))

    def _has_thumb(self, y: int) -> bool:
        start, end = self._edges()
        return start <= y * _EIGHTHS + _EIGHTHS // 2 < end

    def _edges(self) -> tuple[int, int]:
        """Where the thumb begins and ends, in eighths of a cell, as Textual draws it."""
        cells, total, height = self.size.height, self.window_virtual_size, self.window_size
        if not cells or not height or height >= total or cells == total:
            return 0, 0
        thumb = max(1.0, height * cells / total)
        start = int((cells - thumb) * self.position / (total - height) * _EIGHTHS)
        return start, start + ceil(thumb * _EIGHTHS)

    def _changed(self, before: tuple[int, int], after: tuple[int, int]) -> Iterator[Region]:
        """The cells that look different: those from where an edge was to where it is."""
        width, cells = self.size
        for was, now in zip(before, after, strict=True):
            first, last = min(was, now) // _EIGHTHS, min(max(was, now) // _EIGHTHS, cells - 1)
            if was != now and first <= last:
                yield Region(0, first, width, last + 1 - first)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The cells in view; they are drawn again only where they look different."""
        # Not the theme's name: that changes a moment before the styles that follow from it.
        colours = self._colours()
        look = (self.size, self._edges(), self.mouse_over, self.grabbed is None, *colours)
        if look != self._look:
            self._look, self._strips = look, self._draw()
        if not self._strips:
            return super().render_lines(crop)
        return self._strips[crop.y : crop.bottom]

    def _colours(self) -> tuple[object, ...]:
        """What the colours of the cells are made of, whatever state the bar is in."""
        if not isinstance(self.parent, Widget):
            return ()
        styles = self.parent.styles
        bar = (styles.scrollbar_color, styles.scrollbar_color_hover, styles.scrollbar_color_active)
        return (*bar, styles.scrollbar_background, self.app.theme_variables)

    def _draw(self) -> list[Strip]:
        """Every cell, without the styling that a bar does not have."""
        bar = self.render()
        style = bar.style if isinstance(bar, ScrollBarRender) else None
        if not isinstance(bar, ScrollBarRender) or not isinstance(style, Style):
            return []
        if style.bgcolor is None or style.color is None:
            return []
        drawn = bar.render_bar(
            self.size.height,
            bar.virtual_size,
            bar.window_size,
            bar.position,
            self.size.width,
            back_color=style.bgcolor,
            bar_color=style.color,
        )
        alike = {id(cell): Strip([cell], self.size.width) for cell in drawn.segments}
        strips = [alike[id(cell)] for cell in drawn.segments]
        if self._spots:
            self._draw_spots(strips, style)
        background = self.background_colors[1]
        for line_filter in self.get_line_filters():
            if not isinstance(line_filter, ANSIToTruecolor):
                different = {id(strip): strip for strip in strips}  # a few of all these cells
                shown = {
                    key: strip.apply_filter(line_filter, background)
                    for key, strip in different.items()
                }
                strips = [shown[id(strip)] for strip in strips]
        return strips

    def _draw_spots(self, strips: list[Strip], bar: Style) -> None:
        from agent_tui.ui.widgets.timeline.minimap import draw_spot

        for y, (kind, _) in self._spots.items():
            if y < len(strips):
                on_thumb = self._has_thumb(y)
                cell = draw_spot(kind, self.app.theme_variables, bar, on_thumb=on_thumb)
                strips[y] = Strip([cell], self.size.width)


class ThumbScrollView(ScrollView):
    """Scrolls by such a bar."""

    @property
    def vertical_scrollbar(self) -> ThumbBar:
        """The scroll bar, made when it is first asked for."""
        if not isinstance(self._vertical_scrollbar, ThumbBar):
            self._vertical_scrollbar = ThumbBar(thickness=self.scrollbar_size_vertical)
            self._vertical_scrollbar.display = False
            self.app._start_widget(self, self._vertical_scrollbar)
        return self._vertical_scrollbar
