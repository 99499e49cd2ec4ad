"""A long list to choose one thing from, found by a few letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.content import Content
from textual.fuzzy import Matcher

from agent_tui.core.text import first_line
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.filtered_popup import FilteredPopup
from agent_tui.ui.screens.dialogs.popup import POPUP_SHEETS

_HINTS = (("↑↓", "choose"), ("Enter", "select"), ("Esc", "back"))
_MOST_ROWS = 16
_WIDEST_LABEL = 32
_MOST_MATCHED = 2_000


@dataclass(frozen=True, slots=True)
class Pick:
    """One thing to choose: ``value`` is what the screen is dismissed with."""

    value: str
    label: str
    note: str = ""
    right: str = ""


class PickerScreen(FilteredPopup):
    """Is dismissed with the value of the pick, or None on Esc.

    Args:
        title: what is chosen.
        picks: what there is, in an order that makes sense without a query.
        current: the value that is in force: the cursor starts there.
        empty: what to say where nothing fits.
    """

    CSS_PATH = [*POPUP_SHEETS, stylesheet("screens/picker.tcss")]

    def __init__(
        self, title: str, picks: Sequence[Pick], current: str = "", empty: str = "No matches."
    ) -> None:
        super().__init__(
            self._search, self._draw, self._value_of, most_rows=_MOST_ROWS, empty=empty
        )
        self._title = title
        self._picks = picks
        self._current = current
        self._found: Sequence[Pick] = picks
        self._has_current = any(pick.value == current for pick in picks if current)
        labels = (cell_len(first_line(pick.label, 120)) for pick in picks if pick.note)
        self._label_width = min(_WIDEST_LABEL, max(labels, default=0))

    def compose(self) -> ComposeResult:
        yield from self.compose_list(self._title, "Search", _HINTS, "picker")

    def on_mount(self) -> None:
        places = (place for place, pick in enumerate(self._picks) if pick.value == self._current)
        self.show_found("", next(places, 0))

    def _search(self, query: str) -> int:
        self._found = find_picks(self._picks, query) if query else self._picks
        return len(self._found)

    def _value_of(self, index: int) -> str:
        return self._found[index].value

    def _draw(self, index: int, width: int) -> Content:
        pick = self._found[index]
        mark = ("● " if pick.value == self._current else "  ", "$user")
        current = (mark,) if self._has_current else ()
        label = first_line(pick.label, 120)
        label = f"{label:<{self._label_width}}" if pick.note else label
        left = Content.assemble(*current, label, "  ", (first_line(pick.note, 200), "$muted"))
        right = first_line(pick.right, 60)
        room = width - len(right) - 2
        if room < 20:
            return left
        left = left.truncate(room, ellipsis=True)
        return Content.assemble(
            left, " " * (width - left.cell_length - len(right)), (right, "$faint")
        )


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
