"""The last line of the screen: what the agent does, which session, which model, which keys."""

from __future__ import annotations

import re
from time import monotonic

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from agent_tui.core.modes import MODE_WORDS, ApprovalMode
from agent_tui.core.text import first_line
from agent_tui.ui.commands import footer_commands

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_SECONDS = 0.1
_ADDRESS = re.compile(r"https?://\S*[^\s:;,.\"]")
_NOTHING = Content("")
_TITLE_LIMITS = (60, 50, 40, 32, 24)
_KEYS_WIDTH = 36
"""Room for the first three keys: a long title gives way to them, down to its last limit."""


class StatusLine(Widget):
    """State at the left, session and model at the right; keys between them where there is room.

    ``work`` is what runs now ("thinking", "running a tool"), empty when nothing does.
    ``notice`` replaces the keys: a retry, a warning. ``banner`` is a lasting sign, such as
    "open in another window". ``mode`` is how much runs without asking.
    """

    ALLOW_SELECT = False

    title: reactive[str] = reactive("")
    model: reactive[str] = reactive("")
    work: reactive[str] = reactive("")
    notice: reactive[str] = reactive("")
    banner: reactive[str] = reactive("")
    mode: reactive[ApprovalMode] = reactive("ask")

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._timer: Timer | None = None
        self._began = 0.0
        self._places: list[tuple[int, int, str]] = []
        self._middle_start = 0

    def on_mount(self) -> None:
        self._timer = self.set_interval(_FRAME_SECONDS, self.refresh, pause=not self.work)

    def show_retry(self, attempt: int, wait_seconds: float, reason: str) -> None:
        """Say that a request failed and when it will be made again; addresses take room, and go."""
        brief = _ADDRESS.sub("the server", reason)
        self.notice = f"retry {attempt} in {wait_seconds:.0f} s: {brief}"

    def watch_work(self, old: str, new: str) -> None:
        if new and not old:
            self._began = monotonic()
        if self._timer is None:
            return
        if new:
            self._timer.resume()
        else:
            self._timer.pause()

    async def on_click(self, event: events.Click) -> None:
        """A click on a key hint does what the key does."""
        offset = event.get_content_offset(self)
        for start, end, name in self._places:
            if offset is not None and start <= offset.x - self._middle_start < end:
                await self.screen.run_action(f"command('{name}')")

    def render(self) -> Content:
        width = self.size.width
        self._places.clear()
        left = Content.assemble(self._state(), "  ", self._mode()).truncate(width, ellipsis=True)
        asked = len(first_line(self.notice, 200)) + 6 if self.notice else 0
        right = self._names(max(0, width - left.cell_length - 2 - asked))
        self._middle_start = left.cell_length + 2
        room = width - left.cell_length - right.cell_length
        middle = self._middle(room - 4)
        gap = " " * max(0, room - middle.cell_length - 2)
        return Content.assemble(left, "  ", middle, gap, right).truncate(width)

    def _state(self) -> Content:
        if self.banner:
            return Content.styled(f" {first_line(self.banner, 60)} ", "$danger on $danger-surface")
        if not self.work:
            return Content.styled("● ready", "$ok")
        seconds = monotonic() - self._began
        frame = _SPINNER[int(seconds / _FRAME_SECONDS) % len(_SPINNER)]
        clock = f" {_clock(seconds)}" if seconds >= 1 else ""
        return Content.assemble(
            (f"{frame} {first_line(self.work, 40)}", "$assistant"), (clock, "$muted")
        )

    def _mode(self) -> Content:
        """What runs without asking; auto is never quiet."""
        style = {"ask": "$muted", "accept-edits": "$attention", "plan": "$user"}.get(self.mode)
        return Content.styled(MODE_WORDS[self.mode], style or "$danger bold")

    def _names(self, room: int) -> Content:
        model = first_line(self.model, 30)
        for limit in _TITLE_LIMITS:
            title = first_line(self.title, limit)
            parts = [(title, ""), (" · " if title and model else "", ""), (model, "$muted")]
            drawn = Content.assemble(*parts)
            beside = 0 if limit == _TITLE_LIMITS[-1] else _KEYS_WIDTH
            if drawn.cell_length + beside <= room:
                return drawn
        drawn = Content.styled(model, "$muted")
        return drawn if drawn.cell_length <= room else _NOTHING

    def _middle(self, room: int) -> Content:
        if self.notice:
            text = Content.styled(first_line(self.notice, 200), "$attention")
            return text.truncate(room, ellipsis=True) if room > 8 else _NOTHING
        hints: list[Content] = []
        used = 0
        for command in footer_commands():
            width = len(command.key_label) + 1 + len(command.footer)
            if used + width > room:
                break
            hint = Content.assemble((command.key_label, "$user"), " ", (command.footer, "$muted"))
            hints.append(hint)
            self._places.append((used, used + width, command.name))
            used += width + 2
        return Content("  ").join(hints)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes else f"{rest} s"
