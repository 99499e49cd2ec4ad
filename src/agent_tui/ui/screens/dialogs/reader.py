"""One text, whole, to be read and searched."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding

from agent_tui.resources import stylesheet
from agent_tui.ui.renderers.long_text import MOST_CHARS
from agent_tui.ui.screens.dialogs.panel import ONE_PAGE, PANEL_SHEETS, Panel
from agent_tui.ui.widgets.panes.reading import Reading
from agent_tui.ui.widgets.prompt.find_bar import FindBar


class ReaderScreen(Panel[None]):
    """Shows a message or a summary; scrolls with the arrow keys.

    Args:
        find: a text to find in it at once; it is shown as it was written then, and all of it.
        markdown: whether it is drawn as Markdown at first, not as it was written.
    """

    DEFAULT_CLASSES = ONE_PAGE
    CSS_PATH = [
        *PANEL_SHEETS,
        stylesheet("widgets/find_bar.tcss"),
        stylesheet("screens/reader.tcss"),
    ]
    AUTO_FOCUS = "#reader"
    BINDINGS = [
        Binding("slash,ctrl+f", "find", "find", key_display="/"),
        Binding("m", "switch_source", "Markdown/source"),
    ]

    def __init__(
        self, title: str, note: str, text: str, *, find: str = "", markdown: bool = False
    ) -> None:
        super().__init__()
        self._heading = (title, note)
        self._find = find
        is_drawn = markdown and not find and len(text) <= MOST_CHARS
        self._reading = Reading(text, markdown=is_drawn, id="reader")
        self._find_bar = FindBar(is_hinted=True)

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield self._reading
        yield self._find_bar
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading(*self._heading)
        if self._find:
            self.call_after_refresh(self._find_bar.start, self._reading, self._find)

    def action_find(self) -> None:
        """Find text, while it is typed."""
        self._find_bar.start(self._reading)

    def action_switch_source(self) -> None:
        """Show the text as it was written, or drawn as Markdown."""
        self._reading.switch_source()

    def on_find_bar_closed(self) -> None:
        self._reading.focus()
