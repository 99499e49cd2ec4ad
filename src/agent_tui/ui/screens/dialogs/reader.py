"""One text, whole, to be read."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.text import clean
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS, Panel


class ReaderScreen(Panel[None]):
    """Shows a message or a summary; scrolls with the arrow keys."""

    CSS_PATH = [*PANEL_SHEETS, stylesheet("screens/reader.tcss")]
    AUTO_FOCUS = "#reader"

    def __init__(self, title: str, note: str, text: str) -> None:
        super().__init__()
        self._heading = (title, note)
        self._body = clean(text)

    def compose(self) -> ComposeResult:
        yield self.heading()
        with VerticalScroll(id="reader"):
            yield Static(Content(self._body))
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading(*self._heading)
