"""A long list to choose one thing from, found by a few letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.fuzzy import Matcher
from textual.widgets import Input

from agent_tui.core.text import first_line
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.popup import POPUP_SHEETS, Popup
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.prompt.line_input import LineInput

_HINTS = (("↑↓", "choose"), ("Enter", "select"), ("Esc", "back"))
_MOST_ROWS = 16
_MOST_MATCHED = 2_000
_LIST_KEYS = frozenset({"up", "down", "pageup", "pagedown"})


@dataclass(frozen=True, slots=True)
class Pick:
    """One thing to choose: ``value`` is what the screen is dismissed with."""

    value: str
    label: str
    note: str = ""
    right: str = ""


class PickerScreen(Popup[str]):
    """Is dismissed with the value of the pick, or None on Esc.

    Args:
        title: what is chosen.
        picks: what there is, in an order that makes sense without a query.
        current: the value that is in force: the cursor starts there.
        empty: what to say where nothing fits.
    """

    CSS_PATH = [*POPUP_SHEETS, stylesheet("screens/picker.tcss")]
    AUTO_FOCUS = "LineInput"

    def __init__(
        self, title: str, picks: Sequence[Pick], current: str = "", empty: str = "No matches."
    ) -> None:
        super().__init__()
        self._title = title
        self._picks = picks
        self._current = current
        self._found: Sequence[Pick] = picks
        self._rows = Rows(self._draw, choose_on_click=True, pointer=True, empty=Content(empty))
        self._rows.can_focus = False

    def compose(self) -> ComposeResult:
        with self.frame(self._title, _HINTS, id="picker"):
            yield LineInput("Search")
            yield self._rows

    def on_mount(self) -> None:
        places = [place for place, pick in enumerate(self._picks) if pick.value == self._current]
        self._show(self._picks, places[0] if places else 0)

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        room = max(1, self.size.height - 8)
        self._rows.styles.height = max(1, min(len(self._found) or 1, _MOST_ROWS, room))

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        query = event.value.strip()
        self._show(find_picks(self._picks, query) if query else self._picks, 0)

    def _show(self, found: Sequence[Pick], cursor: int) -> None:
        self._found = found
        self._fit()
        self._rows.show_rows(len(found), cursor=cursor)

    def _draw(self, index: int, width: int) -> Content:
        pick = self._found[index]
        mark = ("● ", "$user") if pick.value == self._current else ""
        left = Content.assemble(
            mark, first_line(pick.label, 120), "  ", (first_line(pick.note, 200), "$muted")
        )
        right = first_line(pick.right, 60)
        room = width - len(right) - 2
        if room < 20:
            return left
        left = left.truncate(room, ellipsis=True)
        return Content.assemble(
            left, " " * (width - left.cell_length - len(right)), (right, "$faint")
        )

    def on_key(self, event: events.Key) -> None:
        if event.key in _LIST_KEYS and self._found:
            event.stop()
            step = 1 if event.key.endswith("down") else -1
            if event.key.startswith("page"):
                self._rows.action_page(step)
            else:
                self._rows.cursor = (self._rows.cursor + step) % len(self._found)

    @on(Input.Submitted)
    def _take(self) -> None:
        if self._found:
            self.dismiss(self._found[self._rows.cursor].value)

    @on(Rows.Chosen)
    def _choose(self, event: Rows.Chosen) -> None:
        self.dismiss(self._found[event.index].value)


def find_picks(picks: Sequence[Pick], query: str) -> list[Pick]:
    """The picks that fit a query, best first."""
    letters = [letter for letter in query.lower() if not letter.isspace()]
    possible = [pick for pick in picks if _is_within(letters, pick.label.lower())]
    matcher = Matcher(query)
    scored = [
        (matcher.match(pick.label), -place, pick)
        for place, pick in enumerate(possible[:_MOST_MATCHED])
    ]
    return [pick for _, _, pick in sorted(scored, key=lambda row: row[:2], reverse=True)]


def _is_within(letters: Sequence[str], text: str) -> bool:
    """Whether the letters stand in the text in this order: cheap, so that few are matched."""
    place = 0
    for letter in letters:
        place = text.find(letter, place) + 1
        if not place:
            return False
    return True
