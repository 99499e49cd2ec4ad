"""A question in the place of the prompt: what it is about stays readable above, and scrolls."""

from __future__ import annotations

from time import monotonic
from typing import Protocol, TypeVar

from textual import events, on
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget

from agent_tui.resources import stylesheet
from agent_tui.ui.commands.table import BY_NAME
from agent_tui.ui.screens.dialogs.answer_guard import (
    GUARD_SECONDS,
    TYPING_GUARD_SECONDS,
    AnswerGuard,
)
from agent_tui.ui.screens.dialogs.typed_answers import Draft, NoDraft
from agent_tui.ui.screens.dismissed_once import DismissedOnce
from agent_tui.ui.screens.fitted_screen import FittedScreen

Result = TypeVar("Result")

SHEET_SHEETS = [
    stylesheet("widgets/rows.tcss"),
    stylesheet("widgets/line_input.tcss"),
    stylesheet("screens/sheet.tcss"),
]
_WHEEL_ROWS = 3
_WITH_STATUS = 12
"""From this height on the line of state below stays in view."""
_LOW_HEIGHT, _ROOMY_HEIGHT = 16, 22
_LEAST_ABOVE = 3
"""Rows that the conversation keeps on a low screen; on a roomy one it is a third of them."""
_SETTLE_SECONDS = 0.05
"""What stands beside a conversation comes and goes a moment after a change of size."""


_MODE = BY_NAME["mode"]


class Above(Protocol):
    """What a question is about: it stands above, gives way to the question, and scrolls."""

    @property
    def at_end(self) -> bool:
        """Whether its last row is in view."""
        ...

    @property
    def side_width(self) -> int:
        """The columns beside it that the question leaves free."""
        ...

    def scroll_rows(self, rows: int) -> None:
        """Scroll down, or up, by so many rows."""
        ...

    def page(self, step: int) -> None:
        """Scroll down, or up, by as much as is in view."""
        ...

    def give_way(self, rows: int) -> None:
        """End so many rows above the line of state; 0: where it ends without a question."""
        ...

    def change_mode(self) -> str:
        """Work in the next approval mode from the next action on; gives a sentence about it."""
        ...


class NothingAbove:
    """Where a question stands alone."""

    at_end = True
    side_width = 0

    def scroll_rows(self, rows: int) -> None: ...

    def page(self, step: int) -> None: ...

    def give_way(self, rows: int) -> None: ...

    def change_mode(self) -> str:
        return ""


class SheetFrame(Vertical):
    """The frame of a question; says how high it came out."""

    class Fitted(Message):
        """It has another height than before."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id, classes="sheet")

    def on_resize(self) -> None:
        self.post_message(self.Fitted())


class Sheet(ModalScreen[Result], FittedScreen[Result], DismissedOnce[Result]):
    """Takes the place of the prompt; ignores keys that were meant for what was there before.

    Args:
        draft: the prompt behind the question: what is typed goes there.
        above: what the question is about.

    Attributes:
        guard: tells which keys and clicks came after the question was on the screen.
        text_pane: the part that scrolls by itself where the question is long; each question's own.
    """

    text_pane: Widget

    CSS_PATH = [*SHEET_SHEETS]
    lingers = True
    BINDINGS = [
        Binding("escape", "back", "Back", show=False),
        Binding("pageup", "page(-1)", "A page up", show=False, priority=True),
        Binding("pagedown", "page(1)", "A page down", show=False, priority=True),
        Binding("ctrl+up,shift+pageup", "scroll_above(-1)", "Conversation up", show=False),
        Binding("ctrl+down,shift+pagedown", "scroll_above(1)", "Conversation down", show=False),
        Binding(
            _MODE.key, "change_mode", _MODE.title, show=False, priority=True, id=_MODE.binding_id
        ),
        Binding("f1", "show_keys", "These keys", show=False),
    ]

    def __init__(self, draft: Draft | None, above: Above | None) -> None:
        super().__init__()
        self._prompt = draft or NoDraft()
        self._above = above or NothingAbove()
        self.guard = AnswerGuard(TYPING_GUARD_SECONDS if self._prompt.text else GUARD_SECONDS)
        self._press_counts = False

    @property
    def most_rows(self) -> int:
        """How many rows it may take: on a very low screen all there are."""
        height = self.room.height - self._rows_below
        if height < _ROOMY_HEIGHT:
            return height - _LEAST_ABOVE * (height >= _LOW_HEIGHT)
        return height - max(2 * _LEAST_ABOVE, height // 3)

    @property
    def columns(self) -> int:
        """How many cells there are within its frame."""
        styles = self.query_one(SheetFrame).styles
        width = (self.room or self.size).width
        most = width if styles.max_width is None else int(styles.max_width.value)
        return min(most, width - styles.margin.width) - styles.gutter.width

    @property
    def _rows_below(self) -> int:
        return int(self.room.height >= _WITH_STATUS)

    def fit(self) -> None:
        """Leave in view what stands below and beside the conversation."""
        margin = (0, self._above.side_width, self._rows_below, 0)
        self.query_one(SheetFrame).styles.margin = margin

    def on_resize(self) -> None:
        self.set_timer(_SETTLE_SECONDS, self.fit)

    @on(SheetFrame.Fitted)
    def _take_room(self) -> None:
        if self.is_active:
            rows = self.query_one(SheetFrame).outer_size.height
            self._above.give_way(rows - 1 + self._rows_below)

    def action_scroll_above(self, step: int) -> None:
        """Scroll what the question is about."""
        self._above.page(step)

    def action_change_mode(self) -> None:
        """Change the approval mode; what is asked now still needs its answer."""
        if told := self._above.change_mode():
            self.tell(told)

    def action_show_keys(self) -> None:
        """Say what every key does here."""
        from agent_tui.ui.screens.dialogs.keys import KeysScreen

        self.app.push_screen(KeysScreen(self))

    def tell(self, sentence: str) -> None:
        """Show a sentence in place of the key hints."""
        self.query_one(SheetFrame).border_subtitle = Content(sentence)

    def action_page(self, step: int) -> None:
        """Scroll the conversation above and the question itself, as if they were one text."""
        pane = self.text_pane
        if pane.scroll_y > 0 if step < 0 else self._above.at_end:
            rows = max(1, pane.scrollable_content_region.height - 1)
            pane.scroll_relative(y=step * rows, animate=False)
        else:
            self._above.page(step)

    def _forward_event(self, event: events.Event) -> None:
        """Drop clicks that came too early; a click is as old as the press that it ends."""
        if isinstance(event, events.MouseScrollUp | events.MouseScrollDown):
            if not self._scrolls_itself(event):
                is_up = isinstance(event, events.MouseScrollUp)
                self._above.scroll_rows(-_WHEEL_ROWS if is_up else _WHEEL_ROWS)
                return
        elif isinstance(event, events.MouseDown):
            self._press_counts = self.guard.accepts(event.time, monotonic())
        elif isinstance(event, events.Click) and not self._press_counts:
            return
        super()._forward_event(event)

    def _scrolls_itself(self, event: events.MouseEvent) -> bool:
        frame = self.query_one(SheetFrame)
        return frame.region.contains(event.screen_x, event.screen_y)
