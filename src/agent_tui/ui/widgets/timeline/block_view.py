"""A window on very many blocks: which rows are in view, and painting no more than what changed.

The truth about the position is a place (block and row), not a number of rows: heights become exact
as blocks come into view, and the scroll offset follows, so that nothing on the screen jumps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from textual.app import App
from textual.filter import ANSIToTruecolor
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from agent_tui.core.format import format_count
from agent_tui.ui.renderers.canvas import COLUMN, Canvas, Pictures
from agent_tui.ui.renderers.drawing import GUTTER, MARGIN_RIGHT
from agent_tui.ui.renderers.languages import Languages
from agent_tui.ui.renderers.lines import Row
from agent_tui.ui.themes.palette import Palette, read_palette
from agent_tui.ui.widgets.timeline.block_list import BlockList
from agent_tui.ui.widgets.timeline.drawn_blocks import Drawn, Place
from agent_tui.ui.widgets.timeline.reading_place import ReadingPlace
from agent_tui.ui.widgets.timeline.thumb_bar import ThumbScrollView

if TYPE_CHECKING:
    from agent_tui.ui.widgets.timeline.minimap import Minimap

_NARROWEST = 16
_WITH_MINIMAP = 60
_MINIMAP_SECONDS = 0.02
_MANY_COLOURS = ("truecolor", "256")


class BlockView(ThumbScrollView):
    """Shows a stretch of a block list and keeps either its place or the end in view.

    Attributes:
        lines_below: rows that came below while the user looked elsewhere; 0 at the end.
        is_followed: ``at_end``, for those who want to hear when it changes.
        fold_changes: how often the reader opened or folded something, for those who keep it.
    """

    lines_below: reactive[int] = reactive(0, repaint=False)
    is_followed: reactive[bool] = reactive(default=True, repaint=False)
    fold_changes: reactive[int] = reactive(0, repaint=False)

    class AllToggled(Message):
        """A key opened or folded all blocks."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._blocks = BlockList()
        self._languages = Languages()
        self._pictures = Pictures()
        self._palette: Palette | None = None
        self._columns = 0
        self._column = self._left = 0
        self._reading = ReadingPlace(self._blocks)
        self._painted: list[Strip] = []
        self._kept: dict[int, tuple[Row, Strip]] = {}
        self._placing = self._is_fitting = False
        self._colouring = False
        self._minimap: Minimap | None = None
        self._mapping = False

    @property
    def at_end(self) -> bool:
        """Whether the last row is in view and new ones will be followed."""
        return self._reading.follows

    @property
    def view_height(self) -> int:
        """How many rows can be seen at once; 0 before anything was laid out."""
        return self.scrollable_content_region.height if self._columns else 0

    def active_blocks(self) -> tuple[int | None, int | None]:
        """The block under the cursor, and the one under the pointer."""
        return None, None

    # From a place to rows on the screen.

    def place(self, place: Place) -> None:
        """The reader goes to a place: it comes to the top of the screen, or the end below."""
        self._reading.go_to(place, self.view_height)
        self.show_rows()

    def show_rows(self) -> None:
        """Show what is in view."""
        if not self.view_height:
            return
        if self._reading.shows_end:
            self.lines_below = 0
        self.is_followed = self.at_end
        self.fold_changes = self._blocks.folds.changes
        self._tell_textual()
        self.paint()

    def action_toggle_all(self) -> None:
        """Open all blocks, or fold them."""
        self._blocks.show_all(shown=not self.shows_all)
        self.show_change()
        self.post_message(self.AllToggled())

    @property
    def shows_all(self) -> bool:
        """Whether blocks are open, except those that were folded one by one."""
        return self._blocks.folds.all_open

    def show_all(self, *, shown: bool) -> None:
        """Open blocks, or fold them, from now on, but for those that were folded or opened."""
        self._blocks.show_usually(shown=shown)
        self.show_change()

    def show_change(self, *, came: int = 0) -> None:
        """Blocks changed: keep the end in view, or keep what is in view where it is."""
        if not self.at_end:
            self.lines_below += max(0, came)
        self._reading.stay(self.view_height)
        self.show_rows()

    def redraw_call(self, call: str) -> None:
        """A record came that says more of a call, or of a command, that is shown already."""
        self._blocks.redraw_call(call)
        self.show_change()

    def scroll_rows(self, rows: int) -> None:
        """Move the view down (or up) by exactly so many rows."""
        if len(self._blocks):
            self.place(self._blocks.walk(self._reading.top, rows))

    def draw_ahead(self, step: int) -> None:
        """Draw the screenful after (or before) the one in view, so that it is there when wanted."""
        if view := self._reading.view:
            edge = view[-1] if step > 0 else view[0]
            self._blocks.walk(edge, step * self.view_height)
            self._tell_textual()

    def lay_out(self) -> None:
        """The width or the colours changed: draw everything for them."""
        columns = self.scrollable_content_region.width
        if columns < 1:
            return
        self._columns = columns
        self._palette = read_palette(self.app.theme_variables)
        self._column = min(columns, COLUMN + GUTTER + MARGIN_RIGHT)
        self._left = (columns - self._column) // 2
        room = max(_NARROWEST, self._column - GUTTER - MARGIN_RIGHT)
        pictures = self._pictures if has_colours(self.app) else None
        canvas = Canvas(room, self._palette, self._languages, pictures)
        whole = self._reading.is_in_open  # or the place would be one of the rows that are there
        self._reading.draw_anew(lambda: self._blocks.draw_on(canvas, self._column, whole=whole))
        self.show_change()

    def _tell_textual(self) -> None:
        """Make Textual's numbers (virtual size, offset) say what is on the screen."""
        self._placing = True
        try:
            size = Size(self._columns, self._blocks.heights.total)
            if size != self.virtual_size:
                # Without the layout of every widget that setting the attribute would ask for.
                self.set_reactive(Widget.virtual_size, size)
            index, offset = self._reading.top
            self.scroll_target_y = self.scroll_y = self._blocks.heights.top(index) + offset
            height = max(1, self.view_height)
            self.vertical_scrollbar.move(size.height, height, self.scroll_y)
            self._show_spots()
        finally:
            self._placing = False

    def _show_spots(self) -> None:
        """Mark in the scroll bar where prompts, steps, compactions and errors stand."""
        blocks, bar = self._blocks, self.vertical_scrollbar
        if self.size.width < _WITH_MINIMAP or blocks.heights.total <= self.view_height:
            bar.show_spots({})
            return
        if self._minimap is None:
            from agent_tui.ui.widgets.timeline.minimap import Minimap  # not for the first answer

            self._minimap = Minimap(blocks)
        if not self._minimap.keep_up() and not self._mapping:
            self._mapping = True
            self.set_timer(_MINIMAP_SECONDS, self._map_more)
        bar.show_spots(self._minimap.spots(self.view_height))

    def _map_more(self) -> None:
        self._mapping = False
        if self._minimap is not None:
            self._minimap.catch_up()
            self._show_spots()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Textual scrolled (the bar was dragged): go to the place that this means."""
        if self._placing or round(old_value) == round(new_value):
            return
        index, offset = self._reading.top
        rows = round(new_value) - self._blocks.heights.top(index) - offset
        if abs(rows) <= 3 * self.view_height:
            self.scroll_rows(rows)
        else:
            self.place(self._blocks.heights.locate(round(new_value)))

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self.lay_out())

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        """Show the rows of another height in the frame that gives it, not in the next one."""
        self._placing = True  # an offset that no longer fits is none that anybody asked for
        try:
            is_changed = super()._size_updated(size, virtual_size, container_size, layout)
        finally:
            self._placing = False
        is_as_wide = self.scrollable_content_region.width == self._columns
        if self._painted and is_as_wide and len(self._painted) != self.view_height:
            self._is_fitting = True
            self.show_change()
            self._is_fitting = False
        return is_changed

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._columns:
            self.lay_out()
        else:
            self.show_change()

    def _colour(self) -> None:
        draw = None if self._languages.missing else self._blocks.next_rough()
        self.run_worker(self._work_on_colours(draw), group="colours")

    async def _work_on_colours(self, draw: Callable[[], Drawn] | None) -> None:
        """Load the languages of the code in view, or draw one long block (in a thread)."""

        def work() -> tuple[bool, Drawn | None]:
            gained = self._languages.load_missing() if self._languages.missing else False
            return gained, draw() if draw else None

        gained, drawn = await asyncio.to_thread(work)
        self._take_colours(drawn, gained=gained)

    def _take_colours(self, drawn: Drawn | None, *, gained: bool) -> None:
        self._colouring = False
        if gained:
            self._blocks.redraw()
        if drawn:
            came = self._blocks.refine(*drawn)
            self._reading.move_rows(drawn[0], came, beyond=self.view_height)
        self.show_change()

    # Painting.

    def paint(self) -> None:
        """Compose the rows in view and ask Textual for those that are not what they were."""
        palette = self._palette
        if palette is None:
            return
        strips = self._compose_strips(palette)
        strips += [Strip.blank(self._columns, palette.base)] * (self.view_height - len(strips))
        if self.lines_below and strips:
            strips[-1] = self._with_hint(strips[-1], palette)
        before, self._painted = self._painted, strips
        if not self._colouring and (self._languages.missing or self._blocks.has_rough):
            self._colouring = True
            self.call_after_refresh(self._colour)
        if self._is_fitting:
            return  # the frame that is on its way shows all of it
        if len(before) != len(strips):
            self.refresh()
            return
        # The end of an answer is drawn anew at every frame, and most of its rows are as they were.
        changed = [y for y, strip in enumerate(strips) if strip != before[y]]
        if len(changed) * 2 > len(strips):
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, y, self._columns, 1) for y in changed))

    def _compose_strips(self, palette: Palette) -> list[Strip]:
        """The strips of the view; a row that only moved keeps its strip, rendered as it is."""
        active = self.active_blocks()
        strips: list[Strip] = []
        kept: dict[int, tuple[Row, Strip]] = {}
        for index, offset in self._reading.view:
            row = self._blocks.rows(index, active=index in active)[offset]
            known = self._kept.get(id(row))
            strip = known[1] if known and known[0] is row else self._centred(row, palette)
            kept[id(row)] = (row, strip)
            if index == active[0] and offset >= self.first_row(index):
                bar = Segment("▎", palette.user)
                left = self._left
                strip = Strip([*strip.crop(0, left), bar, *strip.crop(left + 1)], self._columns)
            strips.append(strip)
        self._kept = kept
        return strips

    def _centred(self, row: Row, palette: Palette) -> Strip:
        """A row of the reading column, in the middle of the screen."""
        right = self._columns - self._left - self._column
        if not self._left and not right:
            return Strip(row, self._columns)
        before, after = (Segment(" " * cells, palette.base) for cells in (self._left, right))
        return Strip([before, *row, after], self._columns)

    def first_row(self, index: int) -> int:
        """Rows of empty space above a block's own."""
        rows = self._blocks.rows(index)
        return 1 if len(rows) > 1 and all(not text.strip() for text, _, _ in rows[0]) else 0

    def _with_hint(self, strip: Strip, palette: Palette) -> Strip:
        text = f" ↓ {format_count(self.lines_below, 'new line')} "
        start = max(0, self._left + self._column - len(text) - 1)
        hint = Segment(text, palette.user + palette.user_surface)
        return Strip.join([strip.crop(0, start), Strip([hint]), strip.crop(start + len(text))])

    def strips_in_view(self, first: int, stop: int) -> list[Strip]:
        """The painted rows of the view from one to another."""
        return self._painted[first:stop]

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows as they are: no border, padding or tint of ours needs Textual's styling."""
        strips = self.strips_in_view(crop.y, crop.bottom)
        if missing := crop.height - len(strips):
            strips += [Strip.blank(crop.right, self.rich_style)] * missing
        if self._columns < self.scrollable_content_region.width:  # it is yet to be laid out for it
            strips = [strip.adjust_cell_length(crop.right, self.rich_style) for strip in strips]
        if crop.x or crop.right < self._columns:
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        background = self.background_colors[1]
        for line_filter in self.get_line_filters():
            if isinstance(line_filter, ANSIToTruecolor):
                continue  # costly, and nothing here is in ANSI colours unless the theme is
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return strips


def has_colours(app: App[Any]) -> bool:
    """Whether the screen has enough colours for pictures."""
    many = app.console.color_system in _MANY_COLOURS
    return many and not app.no_color and not app.native_ansi_color
