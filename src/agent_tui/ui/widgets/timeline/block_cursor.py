"""Moving a cursor among very many blocks, and the view with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import var

from agent_tui.ui.blocks import ToolBlock, UserBlock
from agent_tui.ui.widgets.timeline.drawn_blocks import Place, is_marker
from agent_tui.ui.widgets.timeline.selectable_blocks import SelectableBlocks
from agent_tui.ui.widgets.timeline.thumb_bar import ThumbBar

_PAUSE_SECONDS = 0.02
_WHEEL_ROWS = 3


class BlockCursor(SelectableBlocks):
    """A block view in which one block may be under the cursor, and one under the pointer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Next", show=False, id="timeline-move-on"),
        Binding("up,k", "move(-1)", "Previous", show=False, id="timeline-move-back"),
        Binding(
            "right_square_bracket",
            "move_prompt(1)",
            "Next prompt",
            show=False,
            id="timeline-move-prompt-on",
        ),
        Binding(
            "left_square_bracket",
            "move_prompt(-1)",
            "Previous prompt",
            show=False,
            id="timeline-move-prompt-back",
        ),
        Binding("pagedown", "page(1)", "Page down", show=False, id="timeline-page-on"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="timeline-page-back"),
        Binding("home,g", "first", "Beginning", show=False, id="timeline-first"),
        Binding("end,G,shift+g", "last", "End", show=False, id="timeline-last"),
    ]

    class CursorMoved(Message):
        """Another block is under the cursor, or none."""

    _cursor: var[int | None] = var(None, init=False)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._hovered: int | None = None

    @property
    def call_at_cursor(self) -> str:
        """The id of the call under the cursor; empty where none is."""
        block = None if self._cursor is None else self._blocks.block(self._cursor)
        return block.call_id if isinstance(block, ToolBlock) else ""

    @property
    def log_end_at_cursor(self) -> int | None:
        """How many records of the log end with the block under the cursor.

        None where no block is under it, or no other that is shown follows.
        """
        if self._cursor is None or self._next_shown(self._cursor + 1, 1) is None:
            return None
        return self._cursor + 1 - self._blocks.first_of_log

    def _watch__cursor(self) -> None:
        self.post_message(self.CursorMoved())

    def active_blocks(self) -> tuple[int | None, int | None]:
        return self._cursor if self.has_focus else None, self._hovered

    def go_to_record(self, index: int) -> None:
        """Bring a record into view, the cursor on it or on the next that shows something."""
        if not len(self._blocks):
            return
        index = max(0, min(index, len(self._blocks) - 1))
        shown = self._next_shown(index, 1)
        self._cursor = shown if shown is not None else self._next_shown(index, -1)
        self.place((self._cursor or 0, 0))

    def go_to_log_record(self, place: int) -> None:
        """Bring a record of the log into view, given by its place there."""
        self.go_to_record(self._blocks.first_of_log + place)

    @on(ThumbBar.SpotPressed)
    def _go_to_spot(self, event: ThumbBar.SpotPressed) -> None:
        event.stop()
        self.go_to_record(event.block)

    def _next_shown(self, index: int, step: int) -> int | None:
        while 0 <= index < len(self._blocks):
            if self._blocks.height(index):
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
        if view := self._reading.view:
            is_upward = step < 0 or self.at_end
            place = view[-1] if is_upward else view[0]
            self._cursor = self._next_shown(place[0], -1 if is_upward else 1)
            self.paint()

    def _scroll_inside(self, index: int, step: int) -> bool:
        """Scroll on inside a block that reaches beyond the screen."""
        height = self.view_height
        shown = [offset for block, offset in self._reading.view if block == index]
        if not shown or self._blocks.height(index) <= height:
            return False
        if (step > 0 and shown[-1] == self._blocks.height(index) - 1) or (
            step < 0 and shown[0] == 0
        ):
            return False
        self.scroll_rows(step * max(1, height // 2))
        return True

    def _reveal(self, index: int) -> None:
        """Scroll as little as makes a block visible."""
        height = self.view_height
        rows, top = self._blocks.height(index), self._reading.top
        if index < top[0] or (index == top[0] and top[1]):
            self.place((index, 0))
            return
        shown = [offset for block, offset in self._reading.view if block == index]
        if len(shown) < min(rows, height):
            if rows >= height:
                self.place((index, 0))
            else:
                self.place(self._blocks.walk((index, 0), rows - height))
            return
        self.paint()

    def show_opened(self, change: Callable[[], None]) -> None:
        """The reader opens or folds something in view: the first row stays where it is."""
        top = self._reading.top
        change()
        self.place(self._reading.nearest(top))

    def action_move_prompt(self, step: int) -> None:
        """Move the cursor to the next (or previous) prompt."""
        start = self._cursor
        if start is None:
            start = view[-1 if step < 0 else 0][0] if (view := self._reading.view) else 0
        index = start + step
        while 0 <= index < len(self._blocks):
            block = self._blocks.block(index)
            if isinstance(block, UserBlock) and block.origin in ("human", "steer"):
                self._cursor = index
                self.place((index, 0))
                return
            index += step

    def action_page(self, step: int) -> None:
        """Scroll by a screen, keeping a few rows in view."""
        self._cursor = None
        self.scroll_rows(step * max(1, self.view_height - 2))
        self.set_timer(_PAUSE_SECONDS, lambda: self.draw_ahead(step))

    def action_first(self) -> None:
        """Go to the beginning."""
        self._cursor = self._next_shown(0, 1)
        self.place((0, 0))

    def action_last(self) -> None:
        """Go to the end and follow what comes."""
        self._cursor = None
        self._reading.follows = True
        self.show_change()

    def watch_has_focus(self, has_focus: bool) -> None:
        # Not in a handler of the events, which run before this is set.
        super().watch_has_focus(has_focus)
        if has_focus and self._cursor is None:
            self._start_cursor(-1)
        self.paint()

    def _block_at(self, y: int) -> Place | None:
        return self._reading.view[y] if 0 <= y < len(self._reading.view) else None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        place = self._block_at(event.y)
        index = place[0] if place else None
        hovered = index if index is not None and is_marker(self._blocks.block(index)) else None
        if hovered != self._hovered:
            self._hovered = hovered
            self.paint()

    def on_leave(self) -> None:
        if self._hovered is not None:
            self._hovered = None
            self.paint()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self.scroll_rows(_WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self.scroll_rows(-_WHEEL_ROWS)
