"""A line over the prompt that finds text in the conversation while it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from agent_tui.ui.widgets.prompt.line_input import LineInput

if TYPE_CHECKING:
    from agent_tui.ui.widgets.timeline.found_text import FoundText

_LEAST = 2


async def find_text_in(timeline: FoundText, prompt_box: Widget, text: str = "") -> None:
    """Find text in a timeline by a line over the prompt, which is made when it is first wanted."""
    bar = next(iter(prompt_box.query(FindBar)), None)
    if bar is None:
        bar = FindBar()
        await prompt_box.mount(bar, before="PromptQueue")
    bar.start(timeline, text)


class FindBar(Horizontal):
    """Hidden until it is opened; Enter and Up go to older finds, Down to newer ones, Esc closes."""

    class Closed(Message):
        """The user is done with finding."""

    def __init__(self) -> None:
        super().__init__()
        self.display = False
        self._timeline: FoundText | None = None
        self._line = LineInput("Find in this session")
        self._count = Static(id="find-count")
        self._found: list[int] = []
        self._place = 0

    def compose(self) -> ComposeResult:
        yield Static("⌕ ", id="find-sign")
        yield self._line
        yield self._count

    def start(self, timeline: FoundText, text: str = "") -> None:
        """Take the keys and find in this timeline."""
        self._timeline = timeline
        self.display = True
        self._line.value = text or self._line.value
        self._line.focus()
        self._search(self._line.value)

    def close(self) -> None:
        """Hide again; the timeline stays where it is."""
        self.display = False
        self._search("")
        if self._timeline is not None:
            self._timeline.stop_finding()
        self.post_message(self.Closed())

    @on(Input.Changed)
    def _take_text(self, event: Input.Changed) -> None:
        event.stop()
        if self.display:
            self._search(event.value)

    @on(Input.Submitted)
    def _take_enter(self, event: Input.Submitted) -> None:
        event.stop()
        self._go(1)

    def on_key(self, event: events.Key) -> None:
        steps = {"up": 1, "down": -1}
        if event.key == "escape":
            event.stop()
            self.close()
        elif event.key in steps:
            event.stop()
            self._go(steps[event.key])

    @work(exclusive=True, group="find", exit_on_error=False)
    async def _search(self, text: str) -> None:
        self._found, self._place = [], 0
        timeline = self._timeline
        if timeline is None or len(text) < _LEAST:
            self._say("")
            return

        def tell(found: list[int]) -> None:
            if found and not self._found:
                timeline.show_found(found[0])
            self._found = found
            self._show_count(done=False)

        found = await timeline.find(text, tell)
        tell(found)
        self._show_count(done=True)

    def _go(self, step: int) -> None:
        if self._found and self._timeline is not None:
            self._place = (self._place + step) % len(self._found)
            self._timeline.show_found(self._found[self._place])
            self._show_count(done=True)

    def _show_count(self, *, done: bool) -> None:
        if not self._found:
            self._say("not found" if done else "searching")
            return
        more = "" if done else "+"
        self._say(f"{self._place + 1} of {len(self._found):,}{more} · ↑↓ next · Esc close")

    def _say(self, text: str) -> None:
        self._count.update(Content.styled(text, "$muted"))
