"""A summary being edited by hand."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from agent_tui.core.text import clean
from agent_tui.ui.widgets.pastes import literal_paste
from agent_tui.ui.widgets.prompt import Prompt


class SummaryEditor(Vertical):
    """A text field with a frame that says how to leave it."""

    BINDINGS = [Binding("ctrl+s", "save", "Save", show=False)]

    @dataclass
    class Saved(Message):
        """The edited text is to be used."""

        text: str

    def __init__(self) -> None:
        super().__init__()
        self._field = Prompt(lambda _key: False, self._paste)

    def compose(self) -> ComposeResult:
        yield self._field

    def on_mount(self) -> None:
        self.border_title = Content("Summary")
        self.border_subtitle = Content("Ctrl+S takes it · Esc leaves it")

    @property
    def text(self) -> str:
        """The text as edited so far."""
        return self._field.text

    def begin(self, text: str) -> None:
        """Show the text for editing."""
        self.display = True
        self._field.set_text(clean(text), at_end=False)
        self._field.move_cursor((0, 0))
        self._field.focus()

    def _paste(self, text: str) -> None:
        self._field.replace(literal_paste(text), *self._field.selection)

    def action_save(self) -> None:
        self.post_message(self.Saved(self._field.text))
