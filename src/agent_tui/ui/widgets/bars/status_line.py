"""The last line of the screen: one place for state, from what runs now to what it costs."""

from __future__ import annotations

from math import ceil
from time import monotonic

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from agent_tui.core.modes import MODE_WORDS, SANDBOX_ON, ApprovalMode
from agent_tui.core.text import first_line, format_count, late_pattern
from agent_tui.ui.commands import key_label
from agent_tui.ui.commands.table import footer_commands

_SPINNER = "◐◓◑◒"
_FRAME_SECONDS = 0.25
_LEAST_STATE = 12
_ADDRESS = late_pattern(r"https?://\S*[^\s:;,.\"]")
_QUESTION = late_pattern(r": [^:]*\?$")
_NOTHING = Content("")
WAITING = "waiting for you"
"""What ``work`` says while a person is waited for."""

_FOLDS = ("steps", "rate", "cost", "sandbox", "branch", "place", "model")
"""What goes when room is short, first to last; the state and the mode always stay."""
_UNCONFINED_FOLDS = ("steps", "rate", "cost", "branch", "place", "model", "sandbox")
"""The same where commands are not confined as expected: that must stay on screen."""


class StatusLine(Widget):
    """State and mode at the left, then sandbox, place, model and cost; keys where there is room.

    ``work`` is what runs now ("thinking", "running a tool"), empty when nothing does. ``banner`` is
    a lasting sign, such as "open in another window"; ``mode`` is what runs without asking;
    ``is_connected`` is whether there is a model to ask;
    ``steps`` is how many steps the turn has taken so far, or the last one took;
    ``background`` is how many commands of the agent run in the background.
    ``reading`` names the file that is about to be shown.
    ``notice`` is a sentence for some seconds; it is drawn here only where ``shows_notice``, since
    the prompt's frame has more room for it.
    """

    ALLOW_SELECT = False

    work: reactive[str] = reactive("")
    is_starting: reactive[bool] = reactive(default=False)
    reading: reactive[str] = reactive("")
    is_connected: reactive[bool] = reactive(default=True)
    banner: reactive[str] = reactive("")
    mode: reactive[ApprovalMode] = reactive("ask")
    background: reactive[int] = reactive(0)
    sandbox: reactive[str] = reactive("")
    place: reactive[str] = reactive("")
    branch: reactive[str] = reactive("")
    model: reactive[str] = reactive("")
    cost: reactive[str] = reactive("")
    rate: reactive[str] = reactive("")
    steps: reactive[int] = reactive(0)
    title: reactive[str] = reactive("")
    notice: reactive[str] = reactive("")
    shows_notice: reactive[bool] = reactive(default=False)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._timer: Timer | None = None
        self._began = self._step_began = 0.0
        self._retry = "", ""
        self._retry_said, self._retry_at = "", 0.0
        self._places: list[tuple[int, int, str]] = []

    def on_mount(self) -> None:
        self._timer = self.set_interval(
            _FRAME_SECONDS, self._tick, pause=self.work in ("", WAITING)
        )

    @property
    def _is_turning(self) -> bool:
        """Whether the mark turns and the clock runs: not while a person is waited for."""
        return self.work not in ("", WAITING)

    def show_retry(self, attempt: int, wait_seconds: float, reason: str) -> None:
        """Say that a request failed and when it will be repeated, in few words; counts down.

        Addresses take room, and so does what to look into: both are said when all tries failed.
        """
        brief = _QUESTION.sub("", _ADDRESS.sub("the server", reason))
        self._retry = f"Retry {attempt}", brief
        self._retry_at = monotonic() + wait_seconds
        self._tell_retry()

    def _tell_retry(self) -> None:
        which, reason = self._retry
        left = ceil(self._retry_at - monotonic())
        when = f" in {_clock(left)}" if left > 0 else ""
        self.notice = self._retry_said = f"{which}{when}: {reason}"

    def _tick(self) -> None:
        self.refresh()
        if self._retry_said and self.notice == self._retry_said:
            self._tell_retry()
        else:  # something else is said by now
            self._retry_said = ""

    def begin_step(self, step: int) -> None:
        """A step of the turn began, the first is 1: the model is being asked."""
        self._step_began = monotonic()
        self.steps = step

    def show_rate(self, tokens: int) -> None:
        """Show how fast the model writes: tokens since the step began."""
        seconds = monotonic() - self._step_began
        if tokens and seconds > 0:
            self.rate = f"{max(1, round(tokens / seconds)):,} tok/s"

    def watch_work(self, old: str, new: str) -> None:
        if new and not old:
            self._began = monotonic()
        if self._timer is None:
            return
        if self._is_turning:
            self._timer.resume()
        else:
            self._timer.pause()

    async def on_click(self, event: events.Click) -> None:
        """A click on a key hint does what the key does."""
        offset = event.get_content_offset(self)
        for start, end, name in self._places:
            if offset is not None and start <= offset.x < end:
                await self.screen.run_action(f"command('{name}')")

    def render(self) -> Content:
        return self.draw(self.size.width)

    def draw(self, width: int) -> Content:
        """The line in so many cells."""
        self._places.clear()
        mode, state = self._mode(), self._state()
        is_told = bool(self.notice) and self.shows_notice
        if is_told and self.mode != "auto":
            mode = _NOTHING  # a sentence needs the room, and what never asks is never left out
        room = max(_LEAST_STATE, width - mode.cell_length - 2)  # what never asks is never cut off
        state = state.truncate(room, ellipsis=True)
        left = Content("  ").join([part for part in (state, mode, self._commands()) if part])
        left = left.truncate(width, ellipsis=True)
        if is_told:
            text = Content.styled(first_line(self.notice, 200), "$attention")
            room = width - left.cell_length - 2
            return Content.assemble(left, "  ", text.truncate(max(0, room), ellipsis=True))
        right = self._facts(width - left.cell_length - 3)
        keys = self._keys(left.cell_length + 3, width - left.cell_length - right.cell_length - 6)
        gap = width - left.cell_length - right.cell_length - keys.cell_length - 3
        return Content.assemble(left, "   ", keys, " " * max(0, gap), right).truncate(width)

    def _state(self) -> Content:
        if self.banner:
            return Content.styled(f" {first_line(self.banner, 60)} ", "$danger on $danger-surface")
        if not self.work:
            if self.reading:
                return Content.styled(f"○ Reading {first_line(self.reading, 60)}…", "$muted")
            if self.is_starting:
                return Content.styled("○ starting", "$muted")
            if not self.is_connected:
                return Content.styled("○ no model connected", "$attention")
            return Content.styled("● ready", "$ok")
        seconds = monotonic() - self._began
        still = self.app.animation_level == "none"
        frame = _SPINNER[0 if still else int(seconds / _FRAME_SECONDS) % len(_SPINNER)]
        clock = f" {_clock(seconds)}" if seconds >= 1 and self._is_turning else ""
        return Content.assemble(
            (f"{frame} {first_line(self.work, 40)}", "$user"), (f"{clock} · Esc", "$muted")
        )

    def _mode(self) -> Content:
        """The approval mode; auto is never drawn quietly."""
        style = {"ask": "$muted", "accept-edits": "$attention", "plan": "$user"}.get(self.mode)
        return Content.styled(MODE_WORDS[self.mode], style or "bold $danger")

    def _commands(self) -> Content:
        """How many commands of the agent run in the background."""
        return Content.styled(f"{self.background} in background" * bool(self.background), "$user")

    def _facts(self, room: int) -> Content:
        """The facts that fit; what matters least is dropped first."""
        facts = {
            "sandbox": first_line(self.sandbox, 24),
            "place": first_line(self.place, 24),
            "branch": first_line(self.branch, 24),
            "model": first_line(self.model, 30),
            "steps": format_count(self.steps, "step") * (self.steps > 1),
            "rate": first_line(self.rate, 12),
            "cost": first_line(self.cost, 12),
        }
        folds = _FOLDS if self.sandbox == SANDBOX_ON else _UNCONFINED_FOLDS
        for gone in range(len(folds) + 1):
            shown = {n: text for n, text in facts.items() if text and n not in folds[:gone]}
            drawn = _joined(shown)
            if drawn.cell_length <= room:
                return drawn
        return _NOTHING

    def _keys(self, start: int, room: int) -> Content:
        hints: list[Content] = []
        used = 0
        for command in footer_commands():
            key = key_label(self.app, command)
            if not key:
                continue
            width = len(key) + 1 + len(command.footer)
            if self.work or used + width > room:
                break
            hint = Content.assemble((key, "$user"), " ", (command.footer, "$muted"))
            hints.append(hint)
            self._places.append((start + used, start + used + width, command.name))
            used += width + 2
        return Content("  ").join(hints)


def _joined(facts: dict[str, str]) -> Content:
    where = " · ".join(facts[name] for name in ("place", "branch") if name in facts)
    groups = [
        facts.get("sandbox", ""),
        where,
        *(facts.get(name, "") for name in ("model", "steps", "rate", "cost")),
    ]
    return Content("  ").join([Content.styled(group, "$muted") for group in groups if group])


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes else f"{rest} s"
