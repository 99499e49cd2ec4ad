"""A question with one line for an answer."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.text import clean, first_line
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.popup import POPUP_SHEETS, Popup
from agent_tui.ui.widgets.prompt.line_input import LineInput


class AskLineScreen(Popup[str]):
    """Is dismissed with the line that was written, or None on Esc.

    Args:
        title: what is asked for.
        note: a sentence about what an answer does.
        value: what stands in the line at first.
        password: whether what is typed is hidden.
        act: what Enter does, in a word.
    """

    CSS_PATH = [*POPUP_SHEETS, stylesheet("screens/ask_line.tcss")]
    AUTO_FOCUS = "LineInput"

    def __init__(
        self,
        title: str,
        note: str = "",
        value: str = "",
        *,
        password: bool = False,
        act: str = "save",
    ) -> None:
        super().__init__()
        self._title = first_line(title)
        self._note = clean(note)
        self._value = value
        self._password = password
        self._act = act

    def compose(self) -> ComposeResult:
        with self.frame(self._title, (("Enter", self._act), ("Esc", "cancel")), id="ask"):
            line = LineInput(value=self._value)
            line.password = self._password
            yield line
            if self._note:
                yield Static(Content.styled(self._note, "$muted"))

    @on(LineInput.Submitted)
    def _take(self, event: LineInput.Submitted) -> None:
        self.dismiss(event.value)
