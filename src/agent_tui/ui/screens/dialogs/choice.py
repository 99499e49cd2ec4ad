"""A short list to choose one thing from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.text import clean, first_line
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.popup import POPUP_SHEETS, Popup
from agent_tui.ui.widgets.lists.rows import Rows


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose: ``value`` is what the screen is dismissed with; ``key`` chooses it."""

    value: str
    label: str
    note: str = ""
    key: str = ""


class ChoiceScreen(Popup[str]):
    """Is dismissed with the value of the choice, or None on Esc.

    Args:
        title: what is chosen.
        choices: what there is, best first.
        current: the value that is in force: it is marked, and the cursor starts on it.
        empty: what to say when there is nothing to choose from.
        note: a sentence over the choices.
        enter: what Enter does to the one that is chosen.
    """

    CSS_PATH = [*POPUP_SHEETS, stylesheet("screens/choice.tcss")]
    AUTO_FOCUS = "Rows"

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        current: str = "",
        empty: str = "Nothing here.",
        note: str = "",
        enter: str = "select",
    ) -> None:
        super().__init__()
        self._title = title
        self._choices = choices
        self._current = current
        self._note = clean(note)
        self._hints = (("↑↓", "choose"), ("Enter", enter), ("Esc", "back"))
        self._place = next((i for i, each in enumerate(choices) if each.value == current), 0)
        self._label_width = max((len(first_line(each.label)) for each in choices), default=0)
        self._rows = Rows(
            self._draw,
            count=len(choices),
            choose_on_click=True,
            pointer=True,
            empty=Content(empty),
        )

    def compose(self) -> ComposeResult:
        with self.frame(self._title, self._hints, id="choice"):
            if self._note:
                yield Static(Content.styled(self._note, "$attention"))
            yield self._rows

    def on_mount(self) -> None:
        self._rows.cursor = self._place

    def on_resize(self) -> None:
        self._rows.styles.height = max(1, min(len(self._choices) or 1, self.size.height - 6))

    def _draw(self, index: int, width: int) -> Content:
        choice = self._choices[index]
        label = first_line(choice.label).ljust(self._label_width)
        mark = ("● " if choice.value == self._current else "  ", "$user")
        current = (mark,) if self._current else ()
        note = (first_line(choice.note, 200), "$muted")
        line = Content.assemble(*current, label, "  ", note)
        if not choice.key:
            return line
        room = width - len(choice.key) - 1
        line = line.truncate(room, ellipsis=True)
        return Content.assemble(line.pad_right(room + 1 - line.cell_length), (choice.key, "$faint"))

    def on_key(self, event: events.Key) -> None:
        """A choice's own key chooses it."""
        chosen = next((each for each in self._choices if each.key == event.key), None)
        if chosen is not None:
            event.stop()
            self.dismiss(chosen.value)

    @on(Rows.Chosen)
    def _choose(self, event: Rows.Chosen) -> None:
        self.dismiss(self._choices[event.index].value)
