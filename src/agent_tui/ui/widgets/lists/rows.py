"""A list of any length that renders only the rows in view: one line of text to a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

DrawRow: TypeAlias = Callable[[int, int], Content]
"""Gives the text of a row from its index and the width in cells; asked only for rows in view."""

_KEPT_STRIPS = 512
_POINTER = "\u276f "
_REVERSE = Style(reverse=True)


class Rows(ScrollView, can_focus=True):
    """A virtual list with a cursor; its owner draws rows on demand and hears what is chosen.

    Args:
        draw: gives the text of a row; it must hold no newline. Longer text is cut.
        choose_on_click: one click chooses; otherwise the first click only moves the cursor.
        has_cursor: without one the list only scrolls.
        pointer: the row under the cursor is also marked with a sign, as popups do.
        steps_over: tells the rows that the cursor goes past: heads, and what only separates.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "jump(0)", "First", show=False),
        Binding("end", "jump(-1)", "Last", show=False),
        Binding("enter", "choose", "Choose", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--hover", "rows--empty"}

    cursor: reactive[int] = reactive(0, repaint=False)
    hover: reactive[int] = reactive(-1)

    @dataclass
    class Highlighted(Message):
        """The cursor moved to a row."""

        rows: Rows
        index: int

        @property
        def control(self) -> Rows:
            return self.rows

    @dataclass
    class Chosen(Message):
        """A row was chosen with Enter or the mouse."""

        rows: Rows
        index: int

        @property
        def control(self) -> Rows:
            return self.rows

    def __init__(
        self,
        draw: DrawRow | None = None,
        *,
        count: int = 0,
        choose_on_click: bool = False,
        has_cursor: bool = True,
        pointer: bool = False,
        empty: Content | None = None,
        steps_over: Callable[[int], bool] | None = None,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._draw = draw
        self._count = count
        self._choose_on_click = choose_on_click
        self._has_cursor = has_cursor
        self._pointer = pointer
        self._empty = empty or Content("")
        self._steps_over = steps_over
        self._strips: LRUCache[tuple[int, int, str], Strip] = LRUCache(_KEPT_STRIPS)
        self._empty_strips: list[Strip] | None = None

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self._count

    def draw_row(self, index: int, width: int) -> Content:
        """The text of one row; a subclass may override this instead of passing ``draw``."""
        return self._draw(index, width) if self._draw else Content("")

    def steps_over(self, index: int) -> bool:
        """Whether the cursor goes past a row, which is not chosen with the mouse either."""
        return self._steps_over is not None and self._steps_over(index)

    def show_rows(self, count: int, *, cursor: int | None = None) -> None:
        """Show a new number of rows, all drawn again; the cursor stays where possible."""
        was_empty, self._count = not self._count, count
        self._forget_strips()
        self._fit()
        wanted = self.cursor if cursor is None else cursor
        self.set_reactive(Rows.cursor, max(0, min(wanted, count - 1)))
        self._show_cursor()
        self.refresh()
        if count:
            self.post_message(self.Highlighted(self, self.cursor))
        if was_empty == bool(count) and self.is_attached:
            self.screen.refresh_bindings()  # keys about rows come and go with them

    def show_empty(self, text: Content) -> None:
        """Say this where there are no rows."""
        self._empty = text
        self.redraw()

    def redraw(self) -> None:
        """Draw the rows in view again: what they show has changed, their number has not."""
        self._forget_strips()
        self.refresh()

    def on_mount(self) -> None:
        self._fit()

    def on_resize(self) -> None:
        self._empty_strips = None
        self._fit()
        self._show_cursor()

    def notify_style_update(self) -> None:
        self._forget_strips()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One line of the view, from the cache where possible."""
        width = self.scrollable_content_region.width
        index = y + round(self.scroll_y)
        if not 0 <= index < self._count:
            return self._blank_line(y, width)
        state = self._row_state(index)
        key = (index, width, state)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._render_row(index, width, state)
        return strip

    def _render_row(self, index: int, width: int, state: str) -> Strip:
        style = self.get_visual_style(state) if state else self.visual_style
        text = self._pointed(index, width, state).truncate(width, ellipsis=True)
        # Textual's visual styles know no reverse, and 16-colour terminals have nothing else.
        is_reverse = bool(state and self.get_component_styles(state).text_style.reverse)
        if is_reverse:
            text = text.without_spans
        parts = text.render(style, end="", parse_style=self.app.stylesheet.parse_style)
        # Visual.to_strips would also wrap, and note offsets for text selection: four times slower.
        segments = [Segment(part, (style + part_style).rich_style) for part, part_style in parts]
        strip = Strip(segments, text.cell_length).adjust_cell_length(width, style.rich_style)
        return strip.apply_style(_REVERSE) if is_reverse else strip

    def _pointed(self, index: int, width: int, state: str) -> Content:
        if not self._pointer:
            return self.draw_row(index, width)
        sign = _POINTER if state == "rows--cursor" else " " * len(_POINTER)
        row = self.draw_row(index, width - len(_POINTER))
        return Content.assemble((sign, "bold $user"), row)

    def _blank_line(self, y: int, width: int) -> Strip:
        if not self._count and self._empty:
            if self._empty_strips is None:
                self._empty_strips = self._render_empty(width)
            if y < len(self._empty_strips):
                return self._empty_strips[y]
        return Strip.blank(width, self.visual_style.rich_style)

    def _render_empty(self, width: int) -> list[Strip]:
        style = self.get_visual_style("rows--empty")
        lines = Visual.to_strips(self, self._empty, max(1, width), None, style)
        return [line.adjust_cell_length(width, style.rich_style) for line in lines]

    def _forget_strips(self) -> None:
        self._strips.clear()
        self._empty_strips = None

    def _row_state(self, index: int) -> str:
        if self._has_cursor and index == self.cursor:
            return "rows--cursor"
        return "rows--hover" if index == self.hover else ""

    def validate_cursor(self, cursor: int) -> int:
        row = max(0, min(cursor, self._count - 1))
        ways = [range(row, self._count), range(min(row, self._count - 1), -1, -1)]
        tried = chain.from_iterable(reversed(ways) if row < self.cursor else ways)
        return next((each for each in tried if not self.steps_over(each)), row)

    def watch_cursor(self, old: int, new: int) -> None:
        self.refresh()
        self._show_cursor()
        if old != new and self._count:
            self.post_message(self.Highlighted(self, new))

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self._forget_strips()
        self.refresh()

    def _fit(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self._count)

    def _show_cursor(self) -> None:
        height = self.scrollable_content_region.height
        if not height or not self._has_cursor:
            return
        top = round(self.scroll_y)
        if self.cursor < top:
            self._scroll_now(self.cursor)
        elif self.cursor >= top + height:
            self._scroll_now(self.cursor - height + 1)
        above = self.cursor - 1
        if 0 <= above < round(self.scroll_y) and self.steps_over(above):
            self._scroll_now(above)

    def _scroll_now(self, top: int) -> None:
        # By force: rows that were given a moment ago have no scroll bar yet.
        self.scroll_to(y=top, animate=False, immediate=True, force=True)

    def action_move(self, step: int) -> None:
        if self._has_cursor:
            self.cursor += step
        else:
            self.scroll_relative(y=step, animate=False)

    def action_page(self, direction: int) -> None:
        step = max(1, self.scrollable_content_region.height - 1) * direction
        self.action_move(step)

    def action_jump(self, index: int) -> None:
        if self._has_cursor:
            self.cursor = index if index >= 0 else self._count - 1
        else:
            self.scroll_to(y=0 if index >= 0 else self._count, animate=False)

    def action_choose(self) -> None:
        if self._count and self._has_cursor:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        index = self._index_at(event)
        if index < 0 or not self._has_cursor:
            return
        event.stop()
        again = index == self.cursor
        self.cursor = index
        if again or self._choose_on_click:
            self.post_message(self.Chosen(self, index))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._has_cursor:
            self.hover = self._index_at(event)

    def on_leave(self) -> None:
        self.hover = -1

    def _index_at(self, event: events.MouseEvent) -> int:
        offset = event.get_content_offset(self)
        if offset is None:
            return -1
        index = offset.y + round(self.scroll_y)
        return index if 0 <= index < self._count and not self.steps_over(index) else -1
