"""Text selected by the mouse across very many blocks, also where it has left the view.

Textual knows the ends of a selection by line. Lines move here as heights become exact, so it is
told a number for each place that never changes and counts upwards with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from rich.segment import Segment
from rich.style import Style
from textual.selection import SelectEnd, Selection
from textual.strip import Strip

from agent_tui.ui.renderers.drawing import GUTTER
from agent_tui.ui.widgets.timeline.block_view import BlockView
from agent_tui.ui.widgets.timeline.drawn_blocks import Place

_ROWS_OF_A_BLOCK = 1 << 24
_MOST_ROWS = 20_000
"""Rows that are copied at most: all of them are drawn for it, while the keys wait."""


class SelectableBlocks(BlockView):
    """A block view in which text can be selected from one block to another, near or far."""

    def show_rows(self) -> None:
        super().show_rows()
        self._drag_on()

    def _drag_on(self) -> None:
        """The view moved below a pointer that is dragged: what lies below it now is the end."""
        if not self.is_attached or not self.screen._selecting:
            return
        state = self.screen._select_state
        if state is None or state.end is None or state.end.content_widget is not self:
            return
        widget, offset = self.screen.get_widget_and_offset_at(*state.screen_offset)
        if widget is self and offset is not None and offset != state.end.content_offset:
            end = SelectEnd(state.end.container, self, offset)
            self.screen._select_state = state.update_end(state.screen_offset, end)

    def render_line(self, y: int) -> Strip:
        """One row with the offsets by which Textual finds selected text (it is not painted)."""
        strip = self._painted[y] if y < len(self._painted) else Strip.blank(self._columns)
        return strip.apply_offsets(0, self._number_of(y))

    def _number_of(self, y: int) -> int:
        """The number of what stands in a row of the view."""
        view = self._reading.view
        beyond = y - len(view)
        index, offset = view[y] if beyond < 0 else (len(self._blocks), beyond)
        return index * _ROWS_OF_A_BLOCK + offset

    def strips_in_view(self, first: int, stop: int) -> list[Strip]:
        strips = super().strips_in_view(first, stop)
        if self.text_selection is None:
            return strips
        return [self._with_selection(strip, y) for y, strip in enumerate(strips, first)]

    def _with_selection(self, strip: Strip, y: int) -> Strip:
        selection = self.text_selection
        span = selection and selection.get_span(self._number_of(y))
        if not span:
            return strip
        start, end = span
        end = strip.cell_length if end == -1 else end
        colour = self.screen.get_component_rich_style("screen--selection").bgcolor
        segments = Segment.apply_style(strip.crop(start, end), post_style=Style(bgcolor=colour))
        return Strip.join([strip.crop(0, start), Strip(segments), strip.crop(end)])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text without the gutter; it ends with the view where it has no other end."""
        lines = []
        for index, offset in islice(self._selected_places(selection), _MOST_ROWS):
            span = selection.get_span(index * _ROWS_OF_A_BLOCK + offset)
            if span is not None:
                start, end = span
                text = "".join(text for text, _, _ in self._blocks.rows(index)[offset])
                stop = None if end == -1 else max(0, end - self._left)
                lines.append(text[max(start - self._left, GUTTER) : stop].rstrip())
        if len(lines) == _MOST_ROWS:
            told = f"Only the first {_MOST_ROWS:,} rows of the selection were copied."
            self.notify(told, markup=False)
        return "\n".join(lines), "\n"

    def _selected_places(self, selection: Selection) -> Iterator[Place]:
        if not (view := self._reading.view):
            return
        first, last = view[0], view[-1]
        if selection.start is not None:
            first = divmod(selection.start.y, _ROWS_OF_A_BLOCK)
        if selection.end is not None:
            last = divmod(selection.end.y, _ROWS_OF_A_BLOCK)
        for index in range(first[0], min(last[0] + 1, len(self._blocks))):
            start = first[1] if index == first[0] else 0
            yield from ((index, row) for row in range(start, self._blocks.height(index)))

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()
