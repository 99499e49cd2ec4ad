"""The life of a session as a line: how full the context was at every moment, and where we are.

Keys and the mouse move along it. A column stands for one moment or, in long sessions, for many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from agent_tui.core.tree import Moment

_BLOCKS = " ▁▂▃▄▅▆▇█"
_COLOURS = {"compaction": "$compaction", "change": "$checkpoint"}
_PAST, _HERE, _LATER = "$share-3", "$user", "$edge"
_WITH_GAPS = 4
"""From so many columns a moment on, the last of them is left free: each moment is a bar then."""


class Track(Widget, can_focus=True):
    """Bars over a pointer; posts where the user wants to go.

    Attributes:
        position: the moment that is shown.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "moment", key_display="← →"),
        Binding("right,l", "step(1)", show=False),
        Binding("left_square_bracket", "turn(-1)", "turn", key_display="[ ]"),
        Binding("right_square_bracket", "turn(1)", show=False),
        Binding("shift+left,ctrl+left", "stride(-1)", show=False),
        Binding("shift+right,ctrl+right", "stride(1)", show=False),
        Binding("home,g", "jump(0)", "first", key_display="Home"),
        Binding("end,G,shift+g", "jump(-1)", "now", key_display="End"),
    ]

    position: reactive[int] = reactive(0)

    @dataclass
    class Moved(Message):
        """The user wants to see a moment."""

        position: int

    @dataclass
    class TurnWanted(Message):
        """The user wants the next turn (1) or the previous one (-1)."""

        step: int

    def __init__(self) -> None:
        super().__init__()
        self._moments: Sequence[Moment] = ()
        self._highest = 1
        self._bars: tuple[tuple[int, int], list[tuple[int, str]]] | None = None

    def show_moments(self, moments: Sequence[Moment]) -> None:
        """Draw these moments."""
        self._moments = moments
        self._highest = max((moment.tokens for moment in moments), default=0) or 1
        self._bars = None
        self.refresh()

    def validate_position(self, position: int) -> int:
        return max(0, min(position, len(self._moments) - 1))

    def action_step(self, step: int) -> None:
        self.move_to(self.position + step)

    def action_stride(self, step: int) -> None:
        """Go a tenth of the way."""
        self.move_to(self.position + step * max(2, len(self._moments) // 10))

    def action_jump(self, position: int) -> None:
        self.move_to(position if position >= 0 else len(self._moments) - 1)

    def action_turn(self, step: int) -> None:
        self.post_message(self.TurnWanted(step))

    def move_to(self, position: int) -> None:
        """Go to a moment and post ``Moved``."""
        before = self.position
        self.position = position
        if self.position != before:
            self.post_message(self.Moved(self.position))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._follow(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if event.button:
            self._follow(event)

    def on_mouse_up(self) -> None:
        self.release_mouse()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_step(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_step(-1)

    def _follow(self, event: events.MouseEvent) -> None:
        if self._moments:
            x = max(0, min(event.x, self._drawn_width - 1))
            self.move_to(x * len(self._moments) // self._drawn_width)

    @property
    def _drawn_width(self) -> int:
        """Columns that the moments take together."""
        return max(1, self.content_size.width)

    def column_of(self, position: int) -> int:
        """The middle of the columns that a moment takes."""
        count = max(1, len(self._moments))
        return (2 * position + 1) * self._drawn_width // (2 * count)

    def render(self) -> Content:
        if not self._moments:
            return Content("")
        rows = max(1, self.content_size.height - 1)
        bars = self._columns()
        here = min(self.column_of(self.position), self._drawn_width - 1)
        lines = [self._draw_bars(bars, here, level, rows) for level in range(rows - 1, -1, -1)]
        pointer = Content.assemble(
            ("─" * here, "$user"), ("▲", "bold $user"), ("─" * (len(bars) - here - 1), "$line")
        )
        return Content("\n").join([*lines, pointer])

    def _columns(self) -> list[tuple[int, str]]:
        """For each column the most tokens of its moments, and the colour of what changed there."""
        key = (self._drawn_width, len(self._moments))
        if self._bars is not None and self._bars[0] == key:
            return self._bars[1]
        width, count = key
        columns = []
        for x in range(width):
            stretch = self._moments_in(x)
            here = self._moments[stretch.start : stretch.stop]
            if width >= _WITH_GAPS * count and x + 1 < width and self._moments_in(x + 1) != stretch:
                columns.append((0, ""))
                continue
            colours = [_COLOURS[m.kind] for m in here if m.kind in _COLOURS]
            columns.append((max(m.tokens for m in here), colours[0] if colours else ""))
        self._bars = (key, columns)
        return columns

    def _moments_in(self, x: int) -> range:
        """The moments that a column stands for."""
        width, count = self._drawn_width, len(self._moments)
        first = x * count // width
        return range(first, max(first + 1, (x + 1) * count // width))

    def _draw_bars(self, bars: list[tuple[int, str]], here: int, level: int, rows: int) -> Content:
        parts: list[tuple[str, str]] = []
        for x, (tokens, changed) in enumerate(bars):
            eighths = max(bool(tokens), round(tokens * rows * 8 / self._highest))
            block = _BLOCKS[max(0, min(8, eighths - level * 8))]
            style = changed or (_PAST if x <= here else _LATER)
            if self.position in self._moments_in(x):
                style = _HERE
            if parts and parts[-1][1] == style:
                parts[-1] = (parts[-1][0] + block, style)
            else:
                parts.append((block, style))
        return Content.assemble(*parts)
