"""A line over the prompt that finds text in the conversation while it is typed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rich.cells import cell_len
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from agent_tui.ui.widgets.prompt.line_input import LineInput

_LEAST = 2
_LEAST_TYPED = 18
"""The cells that are left for what is typed, in the smallest window too."""
_ELSEWHERE = ("in hidden rows · Tab open all", "Tab open all")


class Searched(Protocol):
    """What text can be found in, at places that have numbers.

    ``newest_first``: the first find is the lowest one; else it is the highest.
    """

    newest_first: bool

    async def find(self, text: str, tell: Callable[[list[int]], None]) -> list[int]:
        """The places that hold a text; ``tell`` hears of them while it searches."""
        ...

    def show_found(self, index: int, /, *, last: bool = False) -> bool:
        """Show the first or last row of a place that holds the text; False where none shows it."""
        ...

    def step_in_found(self, step: int, /) -> bool:
        """Go up (1) or down (-1) to the next such row of the same place; False where none is."""
        ...

    @property
    def place_in_found(self) -> tuple[int, int]:
        """Which of the rows of this place that hold the text is shown, and how many they are."""
        ...

    def stop_finding(self) -> None:
        """Remove the marks."""
        ...


async def find_text_in(timeline: Searched, prompt_box: Widget, text: str = "") -> None:
    """Find text in a timeline by a line over the prompt, which is made when it is first wanted."""
    bar = next(iter(prompt_box.query(FindBar)), None)
    if bar is None:
        bar = FindBar()
        await prompt_box.mount(bar, before=prompt_box.query("PromptQueue, PromptFrame").first())
    bar.start(timeline, text)


class FindBar(Horizontal):
    """Hidden until opened; arrows and Enter move between matches, Esc closes.

    Args:
        is_hinted: whether the screen says elsewhere that Esc closes it.
    """

    BINDINGS = [Binding("escape", "close", "close", key_display="Esc")]

    class Closed(Message):
        """The user closed the find bar."""

    @dataclass
    class WholeWanted(Message):
        """The user wants the match shown in the whole text."""

        text: str

    def __init__(self, *, is_hinted: bool = False) -> None:
        super().__init__()
        self.display = False
        self._way_out = "" if is_hinted else "Esc close"
        self._searched: Searched | None = None
        self._came_from: Widget | None = None
        self._line = LineInput("Find in this session")
        self._count = Static(id="find-count")
        self._found: list[int] = []
        self._place = 0
        self._is_shown = True

    def compose(self) -> ComposeResult:
        yield Static("⌕ ", id="find-sign")
        yield self._line
        yield self._count

    def start(self, searched: Searched, text: str = "") -> None:
        """Take the focus and search in this."""
        self._searched = searched
        if not self.has_focus_within:
            self._came_from = self.screen.focused
        self.display = True
        self._line.value = text or self._line.value
        self._line.focus()
        self._search(self._line.value)

    def action_close(self) -> None:
        """Hide again; the match stays in view, and the focus returns to where it was."""
        if self.has_focus_within and self._came_from is not None and self._came_from.is_attached:
            self.screen.set_focus(self._came_from, scroll_visible=False)
        self.display = False
        self._search("")
        if self._searched is not None:
            self._searched.stop_finding()
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
        up = -1 if self._searched is None or not self._searched.newest_first else 1
        steps = {"up": up, "down": -up}
        if event.key == "tab" and not self._is_shown:
            event.stop()
            event.prevent_default()
            self.post_message(self.WholeWanted(self._line.value))
        elif event.key in steps:
            event.stop()
            self._go(steps[event.key])

    @work(exclusive=True, group="find", exit_on_error=False)
    async def _search(self, text: str) -> None:
        self._found, self._place, self._is_shown = [], 0, True
        searched = self._searched
        if searched is None or len(text) < _LEAST:
            self._say(self._way_out)
            return

        was_shown = False

        def tell(found: list[int]) -> None:
            nonlocal was_shown
            if found and not was_shown:  # the list grows, it is the same each time
                was_shown = True
                self._is_shown = searched.show_found(found[0], last=searched.newest_first)
            self._found = found
            self._show_count(done=False)

        found = await searched.find(text, tell)
        tell(found)
        self._show_count(done=True)

    def _go(self, step: int) -> None:
        searched = self._searched
        if not self._found or searched is None:
            return
        if not searched.step_in_found(step):
            self._place = (self._place + step) % len(self._found)
            last = searched.newest_first and step > 0
            self._is_shown = searched.show_found(self._found[self._place], last=last)
        self._show_count(done=True)

    def _show_count(self, *, done: bool) -> None:
        if not self._found or self._searched is None:
            state = "not found" if done else "searching"
            self._say(" · ".join(filter(None, (state, self._way_out))))
            return
        more = "" if done else "+"
        arrows = "↑ older ↓ newer" if self._searched.newest_first else "↑↓ next"
        out = " · ".join(filter(None, (arrows, self._way_out)))
        ways = (out, arrows) if self._is_shown else _ELSEWHERE
        row, rows = self._searched.place_in_found
        here = f", line {row} of {rows:,}" if rows > 1 else ""
        count = f"{self._place + 1:,} of {len(self._found):,}{more}"
        told = (*(f"{count}{here} · {way}" for way in ways), f"{count}{here}", count)
        room = self.size.width - _LEAST_TYPED
        self._say(next((each for each in told if cell_len(each) <= room), count))

    def _say(self, text: str) -> None:
        self._count.update(Content.styled(text, "$muted"))
