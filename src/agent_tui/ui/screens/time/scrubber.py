"""A session step by step: the context exactly as the model saw it at every moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content

from agent_tui.context.filters import ContextFilter
from agent_tui.core.format import format_clock, format_count, format_tokens
from agent_tui.core.text import clean, first_line
from agent_tui.core.tree import ContextAt
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.panel import ONE_PAGE, PANEL_SHEETS, Panel
from agent_tui.ui.screens.dialogs.reader import ReaderScreen
from agent_tui.ui.widgets.bars.track import Track
from agent_tui.ui.widgets.lists.fitted import Fitted
from agent_tui.ui.widgets.timeline.timeline import Timeline

_PARTS = ("", "newest 10 messages", "newest 2,000 tokens", "new since the previous moment")
"""Which part of the context is shown; all of it at first."""

_LEAST_FIRST = ("clock", "messages", "step", "tokens", "turn", "part")
"""What is said of a moment, in the order in which it goes where room is short."""

if TYPE_CHECKING:
    from agent_tui.history.scrub import Scrub


class ScrubberScreen(Panel[None]):
    """Replays a session moment by moment; each shows what was sent then.

    Args:
        load: finds the moments, for example ``lambda: start_scrub(tree)``.
        title: the session's.
        at: a place of the tree to begin at; the present when negative.
    """

    DEFAULT_CLASSES = ONE_PAGE
    CSS_PATH = [
        *PANEL_SHEETS,
        stylesheet("widgets/timeline.tcss"),
        stylesheet("screens/scrubber.tcss"),
    ]
    AUTO_FOCUS = "Track"
    BINDINGS = [
        Binding("left", "step(-1)", "moment", key_display="← →"),
        Binding("right", "step(1)", show=False),
        Binding("left_square_bracket", "turn(-1)", "turn", key_display="[ ]"),
        Binding("right_square_bracket", "turn(1)", show=False),
        Binding("home", "jump(0)", "first and last", key_display="Home End"),
        Binding("end", "jump(-1)", show=False),
        Binding("up", "scroll(-1)", "scroll", key_display="↑ ↓"),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("n", "next_part", "newest only"),
        Binding("p", "read_prompt", "system prompt"),
    ]

    def __init__(
        self, load: Callable[[], Awaitable[Scrub]], title: str = "", *, at: int = -1
    ) -> None:
        super().__init__()
        self._load_scrub = load
        self._session_title = title
        self._at = at
        self._scrub: Scrub | None = None
        self._look: ContextAt | None = None
        self._wanted = -1
        self._part = 0
        self._is_now = False
        self._track = Track()

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield Fitted(self._describe, id="moment")
        yield Timeline()
        yield self._track
        yield self.key_hints()

    def on_mount(self) -> None:
        self.timeline = self.query_one(Timeline)
        self.show_heading("Replay", "reading…")
        self._load()

    @work(exclusive=True, group="scrub-load")
    async def _load(self) -> None:
        scrub = await self.attempt(self._load_scrub())
        if scrub is None:
            self.show_heading("Replay", "not available")
            return
        self._scrub = scrub
        self._track.show_moments(scrub.moments())
        position = len(scrub) - 1 if self._at < 0 else scrub.find(self._at)
        self._track.position = position
        self._show(position)

    def _show(self, position: int) -> None:
        """Show a moment; of those asked for while one is being read, only the last one."""
        is_reading = self._wanted >= 0
        self._wanted = position
        if not is_reading:
            self._read()

    @work(group="scrub")
    async def _read(self) -> None:
        while self._scrub is not None and self._wanted >= 0:
            position, part = self._wanted, self._part
            look = await self.attempt(asyncio.to_thread(_look, self._scrub, position, part))
            if look is not None:
                self._draw(position, look)
            if (self._wanted, self._part) == (position, part):
                self._wanted = -1

    def _draw(self, position: int, look: ContextAt) -> None:
        assert self._scrub is not None
        self._look = look
        self._is_now = is_now = self._scrub.moment(position).kind == "now"
        count = len(self._scrub)
        self.show_heading(
            "Replay",
            "now" if is_now else f"moment {position + 1:,} of {count:,}",
            first_line(self._session_title, 60),
        )
        self.query_one("#moment").refresh()
        self.timeline.load(look.messages)

    def _describe(self, width: int) -> Content:
        if self._look is None:
            return Content("")
        return _describe(self._look, _PARTS[self._part], width, is_now=self._is_now)

    @on(Track.Moved)
    def _take_move(self, event: Track.Moved) -> None:
        self._show(event.position)

    @on(Track.TurnWanted)
    def _take_turn(self, event: Track.TurnWanted) -> None:
        self.action_turn(event.step)

    def action_step(self, step: int) -> None:
        self._track.action_step(step)

    def action_turn(self, step: int) -> None:
        if self._scrub is not None:
            self._track.move_to(self._scrub.next_turn(self._track.position, step))

    def action_jump(self, position: int) -> None:
        self._track.action_jump(position)

    def action_scroll(self, step: int) -> None:
        self.timeline.scroll_rows(2 * step)

    def action_page(self, step: int) -> None:
        self.timeline.action_page(step)

    def action_next_part(self) -> None:
        """Show the whole context, or only its newest part."""
        self._part = (self._part + 1) % len(_PARTS)
        if self._look is not None:
            self._show(self._track.position)

    def action_read_prompt(self) -> None:
        """Show the system prompt that was sent along."""
        if self._look is not None:
            text = self._look.system_prompt or "No system prompt was recorded."
            note = format_count(len(text), "character")
            self.app.push_screen(ReaderScreen("System prompt", note, text))


def _look(scrub: Scrub, position: int, part: int) -> ContextAt:
    """What was sent at a moment, as far as the part goes. Reads the disk."""
    match _PARTS[part]:
        case "newest 10 messages":
            return scrub.look(position, ContextFilter(max_messages=10))
        case "newest 2,000 tokens":
            return scrub.look(position, ContextFilter(max_tokens=2_000))
        case "new since the previous moment" if position:
            return scrub.look(position, ContextFilter(since=scrub.time_of(position - 1)))
        case _:
            return scrub.look(position)


def _describe(look: ContextAt, part: str, width: int, *, is_now: bool) -> Content:
    """What is known of a moment, in one line; what matters least goes where room is short."""
    if is_now:
        what = Content.styled("what the next request sends", "$ok")
    elif look.happened:
        what = Content.styled(clean(look.happened), "$compaction")
    else:
        what = Content.styled("what the model was sent", "$user")
    facts = {
        "turn": f"turn {look.turn}" if look.turn is not None else "",
        "step": f"step {look.step}" if look.step else "",
        "messages": format_count(look.message_count, "message"),
        "tokens": f"{format_tokens(look.tokens, estimated=look.estimated)} tokens"
        if look.tokens
        else "",
        "clock": format_clock(look.at),
        "part": f"shown: {part}" if part else "",
    }
    for least in ("", *_LEAST_FIRST):
        facts.pop(least, None)
        told = " · ".join(filter(None, facts.values()))
        line = Content.assemble(what, ("  " + told if told else "", "$muted"))
        if line.cell_length <= width:
            break
    return line
