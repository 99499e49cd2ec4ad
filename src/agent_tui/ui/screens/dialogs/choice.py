"""A short list to choose one thing from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.text import clean, first_line
from agent_tui.resources import stylesheet
from agent_tui.ui.commands import spell_key
from agent_tui.ui.screens.dialogs.popup import POPUP_SHEETS, Popup, without_rows
from agent_tui.ui.widgets.lists.rows import Rows

_LEAST_NOTE = 6
_RENEW_SECONDS = 0.5


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
        enter: what Enter does to the one that is chosen; empty where it only closes the list.
        begin_at: the value on which the cursor starts; the current one without it.
        renew: gives the choices as they are now, with the same values, where their notes change.
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
        begin_at: str = "",
        renew: Callable[[], Sequence[Choice]] | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._choices = choices
        self._current = current
        self._renew = renew
        self._note = clean(note)
        hints = (("↑↓", "choose" if enter else "move"), ("Enter", enter), ("Esc", "back"))
        offered = hints if choices else without_rows(hints)
        self._hints = [hint for hint in offered if hint[1]]
        at = begin_at or current
        self._place = next((i for i, each in enumerate(choices) if each.value == at), 0)
        self._label_width = max((cell_len(first_line(each.label)) for each in choices), default=0)
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
        if self._renew is not None:
            self.set_interval(_RENEW_SECONDS, self._show_news)

    def _show_news(self) -> None:
        if self._renew is not None and (now := list(self._renew())) != self._choices:
            self._choices = now
            self._rows.redraw()

    def fit(self) -> None:
        self._rows.styles.height = max(1, min(len(self._choices) or 1, self.room.height - 6))

    def _draw(self, index: int, width: int) -> Content:
        choice = self._choices[index]
        label = first_line(choice.label)
        label += " " * (self._label_width - cell_len(label))
        mark = ("● " if choice.value == self._current else "  ", "$user")
        current = (mark,) if self._current else ()
        key = spell_key(choice.key)
        room = width - (cell_len(key) + 1 if key else 0)
        note = first_line(choice.note, 200)
        left = room - sum(cell_len(text) for text, _ in current) - cell_len(label) - 2
        if left < min(_LEAST_NOTE, cell_len(note)):
            note = ""  # a letter or two of it would say nothing
        line = Content.assemble(*current, label, "  ", (note, "$muted"))
        if not key:
            return line
        line = line.truncate(room, ellipsis=True)
        return Content.assemble(line.pad_right(room + 1 - line.cell_length), (key, "$faint"))

    def on_key(self, event: events.Key) -> None:
        """A choice's own key chooses it."""
        chosen = next((each for each in self._choices if each.key == event.key), None)
        if chosen is not None:
            event.stop()
            self.dismiss(chosen.value)

    @on(Rows.Chosen)
    def _choose(self, event: Rows.Chosen) -> None:
        self.dismiss(self._choices[event.index].value)
