"""The answer to a side question, as it arrives; it is stored nowhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.text import clean
from agent_tui.resources import stylesheet
from agent_tui.ui.commands import label_of
from agent_tui.ui.screens.dialogs.popup import POPUP_SHEETS, Hints, Popup
from agent_tui.ui.widgets.panes.reading import Reading
from agent_tui.ui.widgets.prompt.find_bar import FindBar

Ask = Callable[[str, Callable[[str], None]], Awaitable[str]]
"""Asks a question, tells each piece of the answer, and returns it whole."""

_FRAME_ROWS, _LOW_FRAME_ROWS = 10, 4
"""The rows around the answer: frame, air, question, and what stays in view of the conversation."""


class AsideScreen(Popup[None]):
    """Asks when it is shown, over the conversation; Esc leaves it, and ends the request."""

    CSS_PATH = [
        *POPUP_SHEETS,
        stylesheet("widgets/find_bar.tcss"),
        stylesheet("screens/aside.tcss"),
    ]
    AUTO_FOCUS = "#answer"
    BINDINGS = [
        Binding("slash,ctrl+f", "find", "Find", show=False),
        Binding("m", "switch_source", "Markdown/source", show=False),
    ]

    def __init__(self, question: str, ask: Ask) -> None:
        super().__init__()
        self._question = question
        self._ask = ask
        self._pieces: list[str] = []
        self._has_failed = False
        self._reading = Reading("…", markdown=True, id="answer")
        self._find_bar = FindBar(is_hinted=True)

    def compose(self) -> ComposeResult:
        with self.frame("Side question (not kept)", self._hints(), id="aside"):
            yield Static(Content(clean(self._question)), id="question")
            yield self._reading
            yield self._find_bar

    def _hints(self) -> Hints:
        """The keys that do something now: a letter is typed into the line that finds."""
        if self.focused is not None and self._find_bar in self.focused.ancestors:
            return (("Esc", "close"),)
        find = label_of(self.app, "aside-find", "/")
        source = label_of(self.app, "aside-switch-source", "m")
        return ((find, "find"), (source, "source"), ("Esc", "back"))

    def on_descendant_focus(self) -> None:
        if not self._has_failed:  # what went wrong stands there
            self.show_hints(self._hints())

    def on_mount(self) -> None:
        self.watch(self._reading, "virtual_size", self._fit, init=False)
        self._answer()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """As high as what has come of the answer, and never higher than the screen."""
        around = _LOW_FRAME_ROWS if self.has_class("-low") else _FRAME_ROWS
        asked = self.query_one("#question").size.height
        room = self.size.height - around - asked
        self._reading.styles.height = max(1, min(self._reading.virtual_size.height, room))

    @work(exit_on_error=False)
    async def _answer(self) -> None:
        try:
            self._reading.show_text(await self._ask(self._question, self._add))
        except AgentTuiError as error:
            self._has_failed = True
            self.query_one("#aside").border_subtitle = Content.styled(clean(str(error)), "$danger")

    def _add(self, piece: str) -> None:
        self._pieces.append(piece)
        self._reading.show_text("".join(self._pieces))

    def action_find(self) -> None:
        """Find text, while it is typed."""
        self._find_bar.start(self._reading)

    def action_switch_source(self) -> None:
        """Show the answer as it was written, or drawn as Markdown."""
        self._reading.switch_source()

    def on_find_bar_closed(self) -> None:
        self._reading.focus()
