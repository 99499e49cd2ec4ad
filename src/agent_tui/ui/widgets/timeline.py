"""The conversation on screen: a virtual list that draws only the rows in view.

The truth about the position is a place (block and row), not a number of rows: heights become exact
as blocks come into view, and the scroll offset follows, so that nothing on the screen jumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from agent_tui.core.records import Record
from agent_tui.ui.blocks import (
    AssistantBlock,
    Block,
    CheckpointBlock,
    CompactionBlock,
    DamageBlock,
    RevertBlock,
    ToolBlock,
    UnknownBlock,
    UserBlock,
    plain_text,
)
from agent_tui.ui.format import format_count
from agent_tui.ui.palette import Palette, read_palette
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.drawing import GUTTER, MARGIN_RIGHT
from agent_tui.ui.renderers.languages import Languages
from agent_tui.ui.widgets.block_list import BlockList, Place, is_marker

_FRAMES_PER_SECOND = 30
_WHEEL_ROWS = 3
_NARROWEST = 16


class Timeline(ScrollView, can_focus=True):
    """Shows the blocks of a session and lets the user move among them, open them and go back.

    Attributes:
        lines_below: rows that came below while the user looked elsewhere; 0 at the end.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Next", show=False),
        Binding("up,k", "move(-1)", "Previous", show=False),
        Binding("right_square_bracket", "move_prompt(1)", "Next prompt", show=False),
        Binding("left_square_bracket", "move_prompt(-1)", "Previous prompt", show=False),
        Binding("enter,space", "activate", "Open", show=False),
        Binding("ctrl+o", "toggle_all", "Open all", show=False),
        Binding("y", "copy", "Copy", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("home,g", "first", "Beginning", show=False),
        Binding("end,G,shift+g", "last", "End", show=False),
    ]

    lines_below: reactive[int] = reactive(0)

    @dataclass
    class CheckpointPressed(Message):
        """A checkpoint's row was clicked or entered: the user wants to go back there."""

        checkpoint: int

    @dataclass
    class CompactionPressed(Message):
        """A compaction's row was opened; ``archive`` names the log from before it."""

        archive: int

    @dataclass
    class ArchivePressed(Message):
        """A revert's row was opened; ``archive`` holds what left."""

        archive: int

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._blocks = BlockList()
        self._languages = Languages()
        self._palette: Palette | None = None
        self._columns = 0
        self._anchor: Place = (0, 0)
        self._view: list[Place] = []
        self._placing = False
        self._following = True
        self._cursor: int | None = None
        self._hovered: int | None = None
        self._frames: Timer | None = None

    # What it shows.

    def load(self, records: Sequence[Record], *, damaged: int = 0) -> None:
        """Show a session's records, the end in view. The sequence is kept and may grow."""
        self._blocks.load(records)
        self._cursor = self._hovered = None
        self._following = True
        if damaged:
            self._blocks.append(DamageBlock(damaged))
        self.lines_below = 0
        self._show()

    def clear(self) -> None:
        """Show nothing."""
        self.load(())

    def settle(self) -> None:
        """Show the records that were written meanwhile in place of the live blocks."""
        self._blocks.settle()
        self._show()

    def append(self, block: Block) -> int:
        """Add a live block at the end; returns the index by which it can be replaced."""
        before = self._rows_in_all()
        index = self._blocks.append(block)
        self._blocks.rows(index)
        self._show(came=self._rows_in_all() - before)
        return index

    def replace(self, index: int, block: Block) -> None:
        """Change a live block."""
        self._blocks.replace(index, block)
        self._show()

    def discard(self, index: int) -> None:
        """Take a live block away; the indexes of those after it sink by one."""
        self._blocks.remove(index)
        self._show()

    def block(self, index: int) -> Block | None:
        """The block at an index; None where a record shows nothing."""
        return self._blocks.block(index)

    def stream_text(self, text: str) -> None:
        """More of the answer; drawn with the next frame."""
        self._blocks.open_answer().add_text(text)
        self._wake()

    def stream_thinking(self, text: str) -> None:
        """More of the reasoning; drawn with the next frame."""
        self._blocks.open_answer().add_thinking(text)
        self._wake()

    def close_answer(self) -> None:
        """The answer is complete."""
        if self._blocks.open is not None:
            self._draw_frame()
            self._blocks.close_answer()
            self._show()

    @property
    def at_end(self) -> bool:
        """Whether the last row is in view and new ones will be followed."""
        return self._following

    def go_to_record(self, index: int) -> None:
        """Bring a record into view, the cursor on it or on the next that shows something."""
        if not len(self._blocks):
            return
        index = max(0, min(index, len(self._blocks) - 1))
        shown = self._next_shown(index, 1)
        self._cursor = shown if shown is not None else self._next_shown(index, -1)
        self._following = False
        self._place((self._cursor or 0, 0))

    # Placing: from a place to rows on the screen.

    def _place(self, place: Place) -> None:
        """Put a place at the top of the screen, or the end at its bottom."""
        height = self.scrollable_content_region.height
        if not self._columns or not height:
            return
        view = self._blocks.span(place, height)
        if len(view) < height and place != (0, 0):
            place = self._blocks.end(height)
            view = self._blocks.span(place, height)
        place = view[0] if view else (0, 0)
        self._anchor, self._view = place, view
        self._following = self._is_end(view)
        if self._following:
            self.lines_below = 0
        self._scroll_there(place)
        self.refresh()

    def _is_end(self, view: list[Place]) -> bool:
        if not view:
            return True
        index, offset = view[-1]
        if offset < self._blocks.rows(index) - 1:
            return False
        return all(not self._blocks.rows(later) for later in range(index + 1, len(self._blocks)))

    def _scroll_there(self, place: Place) -> None:
        """Make Textual's numbers (virtual size, offset) say what is on the screen."""
        self._placing = True
        try:
            size = Size(self._columns, self._rows_in_all())
            if size != self.virtual_size:
                # Set without the layout that a change of virtual size would ask of every widget.
                self.set_reactive(Widget.virtual_size, size)
                self.vertical_scrollbar.window_virtual_size = size.height
            row = self._blocks.heights.top(place[0]) + place[1]
            self.scroll_target_y = self.scroll_y = row
        finally:
            self._placing = False

    def _show(self, *, came: int = 0) -> None:
        """Something changed: keep the end in view, or keep what is in view where it is."""
        if self._following or not len(self._blocks):
            self._place(self._blocks.end(self.scrollable_content_region.height))
            return
        index = min(self._anchor[0], len(self._blocks) - 1)
        offset = min(self._anchor[1], max(0, self._blocks.rows(index) - 1))
        self.lines_below += max(0, came)
        self._place((index, offset))

    def _rows_in_all(self) -> int:
        return self._blocks.heights.total

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._placing or round(old_value) == round(new_value):
            return
        rows = round(new_value) - self._blocks.heights.top(self._anchor[0]) - self._anchor[1]
        if abs(rows) <= 3 * self.size.height:
            self._place(self._blocks.walk(self._anchor, rows))
        else:
            self._place(self._blocks.heights.locate(round(new_value)))

    def _scroll_rows(self, rows: int) -> None:
        if len(self._blocks):
            self._place(self._blocks.walk(self._anchor, rows))

    def on_mount(self) -> None:
        self._frames = self.set_interval(1 / _FRAMES_PER_SECOND, self._draw_frame, pause=True)
        self.app.theme_changed_signal.subscribe(self, lambda _: self._lay_out())

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._columns:
            self._lay_out()
        else:
            self._show()

    def _lay_out(self) -> None:
        """The width or the colours changed."""
        columns = self.scrollable_content_region.width
        if columns < 1:
            return
        self._columns = columns
        self._palette = read_palette(self.app.theme_variables)
        room = max(_NARROWEST, columns - GUTTER - MARGIN_RIGHT)
        self._blocks.draw_on(Canvas(room, self._palette, self._languages), columns)
        self._show()

    # Drawing.

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        palette = self._palette
        if palette is None:
            return Strip.blank(width, self.rich_style)
        if y >= len(self._view):
            return Strip.blank(width, palette.base)
        index, offset = self._view[y]
        strips = self._blocks.strips(index, active=index in (self._hovered, self._focused_block))
        if offset >= len(strips):
            return Strip.blank(width, palette.base)
        strip = strips[offset]
        if index == self._focused_block and offset >= self._first_row(index):
            bar = Segment("▎", palette.base + palette.user)
            strip = Strip([bar, *strip.crop(1, strip.cell_length)], strip.cell_length)
        if self.lines_below and y == self.size.height - 1:
            strip = self._with_hint(strip, palette)
        return self._with_selection(strip, y + self.scroll_offset.y)

    @property
    def _focused_block(self) -> int | None:
        return self._cursor if self.has_focus else None

    def _first_row(self, index: int) -> int:
        """Rows of empty space above a block's own."""
        strips = self._blocks.strips(index)
        return 1 if len(strips) > 1 and not strips[0].text.strip() else 0

    def _with_hint(self, strip: Strip, palette: Palette) -> Strip:
        text = f" ↓ {format_count(self.lines_below, 'new line')} "
        start = max(0, strip.cell_length - len(text) - 1)
        hint = Segment(text, palette.base + palette.user_surface + palette.user)
        return Strip.join([strip.crop(0, start), Strip([hint]), strip.crop(start + len(text))])

    def _with_selection(self, strip: Strip, row: int) -> Strip:
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(row)) is not None:
            start, end = span
            end = strip.cell_length if end == -1 else end
            style = self.screen.get_component_rich_style("screen--selection")
            marked = Strip(
                Segment.apply_style(strip.crop(start, end), post_style=Style(bgcolor=style.bgcolor))
            )
            strip = Strip.join([strip.crop(0, start), marked, strip.crop(end)])
        return strip.apply_offsets(0, row)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, without the gutter."""
        lines = []
        for y, (index, offset) in enumerate(self._view):
            span = selection.get_span(y + self.scroll_offset.y)
            if span is None:
                continue
            text = self._blocks.strips(index)[offset].text
            start, end = span
            lines.append(text[max(start, GUTTER) : None if end == -1 else end].rstrip())
        return "\n".join(lines), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def _wake(self) -> None:
        if self._frames is not None:
            self._frames.resume()

    def _draw_frame(self) -> None:
        """Draw what streamed in since the last frame; sleep when nothing did."""
        answer = self._blocks.open
        if answer is None or not answer.advance():
            if self._frames is not None:
                self._frames.pause()
            return
        self._show(came=self._blocks.measure_open())
        self._load_languages()

    def _load_languages(self) -> None:
        if self._languages.missing:
            self.run_worker(self._colour_code, thread=True, group="languages", exclusive=True)

    def _colour_code(self) -> None:
        if self._languages.load_missing():
            self.app.call_from_thread(self._redraw)

    def _redraw(self) -> None:
        self._blocks.redraw()
        self._show()

    def refresh_lines_later(self) -> None:
        """Load colours for code that came into view, once the frame is out."""
        self.call_after_refresh(self._load_languages)

    # Moving and acting.

    def _next_shown(self, index: int, step: int) -> int | None:
        while 0 <= index < len(self._blocks):
            if self._blocks.rows(index):
                return index
            index += step
        return None

    def action_move(self, step: int) -> None:
        """Move the cursor to the next block, or on through one that is taller than the screen."""
        if self._cursor is None:
            self._start_cursor(step)
            return
        if self._scroll_inside(self._cursor, step):
            return
        target = self._next_shown(self._cursor + step, step)
        if target is not None:
            self._cursor = target
            self._reveal(target)

    def _start_cursor(self, step: int) -> None:
        if self._view:
            place = self._view[-1] if step < 0 or self._following else self._view[0]
            self._cursor = self._next_shown(place[0], -1 if step < 0 or self._following else 1)
            self.refresh()

    def _scroll_inside(self, index: int, step: int) -> bool:
        """Scroll on inside a block that reaches beyond the screen."""
        height = self.scrollable_content_region.height
        shown = [offset for block, offset in self._view if block == index]
        if not shown or self._blocks.rows(index) <= height:
            return False
        if (step > 0 and shown[-1] == self._blocks.rows(index) - 1) or (step < 0 and shown[0] == 0):
            return False
        self._scroll_rows(step * max(1, height // 2))
        return True

    def _reveal(self, index: int) -> None:
        """Scroll as little as makes a block visible."""
        height = self.scrollable_content_region.height
        rows = self._blocks.rows(index)
        if index < self._anchor[0] or (index == self._anchor[0] and self._anchor[1]):
            self._place((index, 0))
            return
        shown = [offset for block, offset in self._view if block == index]
        if len(shown) < min(rows, height):
            if rows >= height:
                self._place((index, 0))
            else:
                self._place(self._blocks.walk((index, 0), rows - height))
            return
        self.refresh()

    def action_move_prompt(self, step: int) -> None:
        """Move the cursor to the next (or previous) thing the user said."""
        start = self._cursor
        if start is None:
            start = self._view[0][0] if self._view else 0
        index = start + step
        while 0 <= index < len(self._blocks):
            block = self._blocks.block(index)
            if isinstance(block, UserBlock) and block.origin in ("human", "steer"):
                self._cursor = index
                self._place((index, 0))
                return
            index += step

    def action_page(self, step: int) -> None:
        """Scroll by a screen, a little of it kept for the eye."""
        self._cursor = None
        self._scroll_rows(step * max(1, self.scrollable_content_region.height - 2))
        self.refresh_lines_later()

    def action_first(self) -> None:
        """Go to the beginning."""
        self._cursor = self._next_shown(0, 1)
        self._place((0, 0))

    def action_last(self) -> None:
        """Go to the end and follow what comes."""
        self._cursor = None
        self._place(self._blocks.end(self.scrollable_content_region.height))

    def action_toggle_all(self) -> None:
        """Open all blocks, or fold them."""
        self._blocks.toggle_all()
        self._show()

    def action_copy(self) -> None:
        """Copy the text of the block under the cursor."""
        if self._cursor is not None and (block := self._blocks.block(self._cursor)) is not None:
            self.app.copy_to_clipboard(plain_text(block))
            self.notify("Copied", timeout=1.5)

    def action_activate(self) -> None:
        """Open or fold the block under the cursor, or go where a marker leads."""
        if self._cursor is not None:
            self._activate(self._cursor)

    def _activate(self, index: int) -> None:
        match self._blocks.block(index):
            case CheckpointBlock(id=number):
                self.post_message(self.CheckpointPressed(number))
            case CompactionBlock(archive=archive) if archive:
                self.post_message(self.CompactionPressed(archive))
            case RevertBlock(archive=archive):
                self.post_message(self.ArchivePressed(archive))
            case ToolBlock() | AssistantBlock() | UserBlock() | UnknownBlock():
                self._following = False
                self._blocks.toggle(index)
                self._show()
            case _:
                pass

    # The mouse.

    def _block_at(self, y: int) -> Place | None:
        return self._view[y] if 0 <= y < len(self._view) else None

    def on_click(self, event: events.Click) -> None:
        if self.text_selection is not None:
            return
        if self.lines_below and event.y == self.size.height - 1:
            self.action_last()
            return
        place = self._block_at(event.y)
        if place is None:
            return
        index, offset = place
        if offset < self._first_row(index):
            return
        self._cursor = index
        block = self._blocks.block(index)
        head = offset == self._first_row(index)
        if (
            is_marker(block)
            or isinstance(block, (ToolBlock, UnknownBlock))
            or (head and isinstance(block, AssistantBlock) and block.thinking)
        ):
            self._activate(index)
        self.refresh()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        place = self._block_at(event.y)
        index = place[0] if place else None
        hovered = index if index is not None and is_marker(self._blocks.block(index)) else None
        if hovered != self._hovered:
            self._hovered = hovered
            self.refresh()

    def on_leave(self) -> None:
        if self._hovered is not None:
            self._hovered = None
            self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self._scroll_rows(_WHEEL_ROWS)
        self.refresh_lines_later()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self._scroll_rows(-_WHEEL_ROWS)
        self.refresh_lines_later()

    def on_focus(self) -> None:
        if self._cursor is None:
            self._start_cursor(-1)
