"""A field over a list of what fits the words in it: one row is chosen."""

from __future__ import annotations

from collections.abc import Callable

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input

from agent_tui.ui.screens.dialogs.popup import Hints, Popup, without_rows
from agent_tui.ui.widgets.lists.list_keys import take_list_key
from agent_tui.ui.widgets.lists.rows import DrawRow, Rows
from agent_tui.ui.widgets.prompt.line_input import LineInput


class FilteredPopup(Popup[str]):
    """Is dismissed with the value of the row, or None on Esc.

    Args:
        find: finds what fits some words; returns how many rows that are.
        draw: draws one of them.
        value_at: the value of one of them.
        most_rows: how many are shown at once.
        empty: what to say where nothing fits.
    """

    AUTO_FOCUS = "LineInput"

    def __init__(
        self,
        find: Callable[[str], int],
        draw: DrawRow,
        value_at: Callable[[int], str],
        *,
        most_rows: int,
        empty: str,
    ) -> None:
        super().__init__()
        self._find = find
        self._value_at = value_at
        self._most_rows = most_rows
        self._rows = Rows(draw, choose_on_click=True, pointer=True, empty=Content(empty))
        self._rows.can_focus = False
        self._hints: Hints = ()

    def compose_list(self, title: str, invitation: str, hints: Hints, name: str) -> ComposeResult:
        """The frame with the field and the list in it."""
        self._hints = hints
        with self.frame(title, hints, id=name):
            yield LineInput(invitation)
            yield self._rows

    def fit(self) -> None:
        self._fit_rows(self._rows.count)

    def show_found(self, query: str, cursor: int = 0) -> None:
        """Show what fits some words."""
        count = self._find(query)
        self._fit_rows(count)
        self._rows.show_rows(count, cursor=cursor)
        self.show_hints(self._hints if count else without_rows(self._hints))

    def _fit_rows(self, count: int) -> None:
        room = max(1, self.room.height - 8)
        self._rows.styles.height = max(1, min(count or 1, self._most_rows, room))

    @on(Input.Changed)
    def _take_query(self, event: Input.Changed) -> None:
        self.show_found(event.value.strip())

    def on_key(self, event: events.Key) -> None:
        if self._rows.count:
            take_list_key(event, self._rows, wraps=True)

    @on(Input.Submitted)
    def _take(self) -> None:
        if self._rows.count:
            self.dismiss(self._value_at(self._rows.cursor))

    @on(Rows.Chosen)
    def _choose(self, event: Rows.Chosen) -> None:
        self.dismiss(self._value_at(event.index))
