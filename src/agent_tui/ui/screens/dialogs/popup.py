"""The one style of everything that opens over a screen: a frame with a title, and hints below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen

from agent_tui.core.text import clean, first_line
from agent_tui.resources import stylesheet
from agent_tui.ui.commands import label_of
from agent_tui.ui.screens.dismissed_once import DismissedOnce
from agent_tui.ui.screens.fitted_screen import FittedScreen
from agent_tui.ui.screens.remapping import Remappable

Result = TypeVar("Result")
Hints: TypeAlias = Sequence[tuple[str, str]]
"""Keys and what they do, for the lower edge of the frame."""

_ABOUT_ROWS = ("↑↓", "Enter")
_EDGES = 6
"""The cells of a frame's lower edge that hints leave free."""

POPUP_SHEETS = [
    stylesheet("screens/popup.tcss"),
    stylesheet("widgets/rows.tcss"),
    stylesheet("widgets/line_input.tcss"),
]


class Popup(Remappable, ModalScreen[Result], FittedScreen[Result], DismissedOnce[Result]):
    """Opens over a screen, which stays readable; Esc closes it without a result."""

    CSS_PATH = [*POPUP_SHEETS]
    BINDINGS = [
        Binding("escape", "leave", "Back", show=False),
        Binding("f1", "show_keys", "These keys", show=False),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]

    class KeysWanted(Message):
        """What every key of the screen does is asked for; the app shows it."""

    def frame(self, title: str, hints: Hints, *, id: str | None = None) -> Vertical:  # noqa: A002
        """The frame to compose into."""
        box = Vertical(id=id, classes="popup")
        box.border_title = Content(first_line(clean(title), 200))
        box.border_subtitle = self._hints_with_room(hints)
        return box

    def show_hints(self, hints: Hints) -> None:
        """Say in the frame which keys do something now."""
        for box in self.query(".popup"):
            box.border_subtitle = self._hints_with_room(hints)

    def _hints_with_room(self, hints: Hints) -> Content:
        """As many of the hints as the lower edge of the frame holds."""
        named = ((self._key(key), word) for key, word in hints)
        shown = [hint for hint in named if hint[0]]
        # From the left: what leads out is last, and people know the arrows.
        while len(shown) > 1 and hint_line(shown).cell_length > self.app.size.width - _EDGES:
            shown = shown[1:]
        return hint_line(shown)

    def _key(self, label: str) -> str:
        """The key of a hint; for Esc the one that the settings put in its place."""
        names = [each.id or "" for each in self._bindings.key_to_bindings.get("escape", ())]
        if label != "Esc":
            return label
        labels = [label_of(self.app, name, label) for name in names]
        return label if label in labels else next(filter(None, labels), "")

    def action_show_keys(self) -> None:
        """Say what every key does here."""
        self.post_message(self.KeysWanted())

    def action_leave(self) -> None:
        self.dismiss(None)


def without_rows(hints: Hints) -> Hints:
    """The hints of a list that is empty: without the keys that move in it and choose."""
    return [hint for hint in hints if hint[0] not in _ABOUT_ROWS]


def hint_line(hints: Hints) -> Content:
    """Keys and words in one line, as every frame shows them."""
    parts = [Content.assemble((key, "$user"), " ", (word, "$muted")) for key, word in hints]
    return Content.styled(" · ", "$faint").join(parts)
