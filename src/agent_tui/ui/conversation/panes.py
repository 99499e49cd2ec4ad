"""The widgets of the conversation; the timeline comes a moment after the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.ui.commands.table import name_keys
from agent_tui.ui.widgets.bars.gauge import is_near

if TYPE_CHECKING:
    from agent_tui.ui.conversation.side import Side
    from agent_tui.ui.widgets.bars.gauge import TokenGauge
    from agent_tui.ui.widgets.bars.status_line import StatusLine
    from agent_tui.ui.widgets.panes.welcome import Welcome
    from agent_tui.ui.widgets.prompt.prompt_box import PromptBox
    from agent_tui.ui.widgets.timeline.timeline import Timeline

WIDE = 160
"""Columns from which on something stands beside the conversation."""

_INVITATION = (
    "Ask anything, or press ↓ to choose from above",
    "Ask anything, or press ↓ to choose",
    "Ask, or press ↓ to choose",
)

_TO_END = ("Ask anything, or press End for the newest", "Ask, or End for the newest")


class Panes:
    """Where the conversation is shown.

    Attributes:
        has_timeline: whether ``timeline`` is there: the first frame does without it.
        side: what stands beside the conversation on a wide screen; it comes last of all.
    """

    timeline: Timeline

    def __init__(
        self, prompt_box: PromptBox, status: StatusLine, gauge: TokenGauge, welcome: Welcome
    ) -> None:
        self.prompt_box = prompt_box
        self.status = status
        self.gauge = gauge
        self.welcome = welcome
        self.has_timeline = False
        self.side: Side | None = None
        self.invited = ""

    def add_timeline(self, timeline: Timeline) -> None:
        """From here on there is a timeline."""
        self.timeline = timeline
        self.has_timeline = True
        self.prompt_box.watch(timeline, "is_followed", self._show_invitation, init=False)
        self.prompt_box.watch(self.gauge, "gauge", self._show_invitation, init=False)
        self.prompt_box.watch(self.welcome, "chosen", self._show_next_step, init=False)

    def _show_next_step(self) -> None:
        self.prompt_box.frame.next_step = self.welcome.cursor >= 0

    def show_keys(self) -> None:
        """The keys may have changed: show them again."""
        self.status.refresh()
        self.welcome.refresh()
        self.prompt_box.frame.show_all()
        self.update_side()

    def update_side(self) -> None:
        """What stands beside the conversation may have changed."""
        if self.side is not None:
            self.side.update()

    @property
    def side_width(self) -> int:
        """The columns that the side panel takes from the conversation."""
        return self.side.width if self.side is not None else 0

    def end_starting(self) -> None:
        """Starting is over: the prompt accepts input."""
        self.status.is_starting, self.status.reading = False, ""
        if self.prompt_box.disabled:
            self.prompt_box.disabled = False
            self.prompt_box.focus()

    @property
    def is_conversing(self) -> bool:
        """Whether the conversation is shown, and not the welcome in its place."""
        return self.has_timeline and self.timeline.display

    def show_conversation(self, *, shown: bool) -> None:
        """Show the timeline, or the welcome in its place."""
        self.timeline.display = shown
        if shown in (self.welcome.display, self.welcome.visible):  # else a layout for nothing
            self.welcome.display = self.welcome.visible = not shown
        if shown:
            self.welcome.chosen = None  # after a revert to the beginning it is as at the start
        has_side = self.side is not None  # else nothing looks different
        self.prompt_box.screen.set_class(shown, "-conversing", update=has_side)
        self.prompt_box.frame.invitation = self._invitation if shown else _INVITATION

    def invite(self, other: str) -> None:
        """Show in the empty prompt what could be done next; empty for the usual invitation."""
        self.invited = other
        self.prompt_box.frame.invitation = self._invitation

    @property
    def _invitation(self) -> tuple[str, ...]:
        """What could be done next; when the context is nearly full, how to make room."""
        other = self.invited
        if not other and is_near(self.gauge.gauge):
            other = name_keys(self.prompt_box.app, "press {compact} to compact")
        return (f"Ask anything, or {other}", f"Ask, or {other}") if other else ("Ask anything",)

    def _show_invitation(self) -> None:
        """Say it in the empty prompt, or how to return to the end while it is out of view."""
        if self.timeline.display:  # otherwise the welcome says what can be done
            followed = self.timeline.is_followed
            self.prompt_box.frame.invitation = self._invitation if followed else _TO_END

    def show_work(self, work: str) -> None:
        """Say in the status line what runs; an empty string where nothing does."""
        self.prompt_box.frame.running = bool(work)
        self.status.work = work
