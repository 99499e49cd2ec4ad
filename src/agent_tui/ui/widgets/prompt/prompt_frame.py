"""The frame around the prompt: what the session is called, and what the keys do just now."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

from agent_tui.core.text import clean, first_line
from agent_tui.ui.commands.table import name_keys_of_hint
from agent_tui.ui.widgets.prompt.prompt import Prompt

if TYPE_CHECKING:
    from agent_tui.ui.widgets.prompt.completion import Completion, Kind

_SIGN = "\u276f"
_WIDTH = 112
"""The frame stands in the reading column, however wide the screen is."""
_EDGES = 8
"""The cells of the upper edge that its sentence leaves free."""


_State: TypeAlias = Literal[
    "read-only", "searching", "commanding", "steering", "shell", "waiting", "running", "idle"
]

_LIST_HINTS: dict[Kind, tuple[str, ...]] = {
    "command": ("↑↓ choose · Enter run · Tab complete · Esc close", "Enter run · Esc close"),
    "path": ("↑↓ choose · Enter insert · Esc close", "Enter insert · Esc close"),
    "history": ("↑↓ choose · Enter use · Esc back", "Enter use · Esc back"),
}
_NEXT_STEP_HINTS = ("↑↓ choose · Enter select · or type a prompt", "↑↓ choose · Enter select")
"""While one of the things to do next is chosen, which an empty prompt takes."""
_FOLDED_HINTS = (
    "{prompt-unfold:Ctrl+O} unfold the paste · Enter send",
    "{prompt-unfold:Ctrl+O} unfold",
)
"""While what was pasted stands there as a short token."""
_HINTS: dict[_State, tuple[str, ...]] = {
    "read-only": ("Tab into the conversation · {help} help", "{help} help"),
    "searching": ("No earlier prompt matches · Esc back", "No match · Esc back"),
    "commanding": ("NORMAL · i insert · Enter send", "NORMAL · i insert"),
    "steering": ("NORMAL · i insert · Enter steer · {interrupt} interrupt", "NORMAL · i insert"),
    "shell": ("Enter run in the shell", "Enter run"),
    "waiting": (
        "Enter send after the command · {prompt-new-line:Ctrl+J} new line · {interrupt} stop it",
        "Enter send after it · {interrupt} stop it",
        "{interrupt} stop it",
    ),
    "running": (
        "Enter steer · {prompt-new-line:Ctrl+J} new line · {interrupt} interrupt",
        "Enter steer · {interrupt} interrupt",
        "{interrupt} interrupt",
    ),
    "idle": (
        "Enter send · {prompt-new-line:Ctrl+J} new line · / commands · @ files · ! shell · "
        "{help} help",
        "Enter send · / commands · @ files · {help} help",
        "/ commands · {help} help",
    ),
}
"""The hints of each state in which the prompt can be."""
_TO_PROMPT = "Press Tab to write here"
"""What an empty prompt says while the conversation has the focus."""


class PromptFrame(Horizontal):
    """Holds the field of the prompt, and says in its edges what can be done there."""

    running: reactive[bool] = reactive(default=False, repaint=False, init=False)
    """Whether the agent runs: then Enter steers."""

    waits: reactive[bool] = reactive(default=False, repaint=False)
    """Whether a command of the person runs, at whose end the agent is asked."""

    shell: reactive[bool] = reactive(default=False, toggle_class="-shell", repaint=False)
    """Whether what is typed is for the shell."""

    folded: reactive[bool] = reactive(default=False, repaint=False)
    """Whether a paste is folded that can be shown whole."""

    searching: reactive[bool] = reactive(default=False, repaint=False)
    """Whether earlier prompts are searched for what is typed."""

    offered: reactive[Kind | None] = reactive(None, repaint=False)
    """What the list over the prompt offers to choose from just now."""

    next_step: reactive[bool] = reactive(default=False, repaint=False)
    """Whether Enter in the empty prompt takes something to do next, as the welcome shows it."""

    elsewhere: reactive[tuple[str, ...]] = reactive((), repaint=False)
    """The keys of what has the focus instead of the prompt, longest first; else empty."""

    invitation: reactive[tuple[str, ...]] = reactive(("Ask anything",), repaint=False)
    """What an empty prompt says, longest first."""

    notice: reactive[str] = reactive("", repaint=False)
    """A sentence for some seconds, shown in the upper edge of the frame."""

    session_title: reactive[str] = reactive("", repaint=False)
    """The session's name, shown there otherwise."""

    read_only: reactive[str] = reactive("", repaint=False)
    """Why nothing can be sent, or an empty string."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__()
        self._prompt = prompt
        self._sign = Static(_SIGN, id="prompt-sign")

    @property
    def parts(self) -> tuple[Widget, Widget]:
        """The sign at the left, and the field."""
        return self._sign, self._prompt

    def compose(self) -> ComposeResult:
        yield from self.parts

    def show_all(self) -> None:
        """Draw all its texts again, for its present size."""
        self._show_title()
        self._show_hint()

    @property
    def _room(self) -> int:
        parent = self.parent
        return min(parent.size.width, _WIDTH) if isinstance(parent, Widget) else 0

    def has_room_for(self, notice: str) -> bool:
        """Whether the upper edge holds a sentence whole."""
        return cell_len(notice) <= self._room - _EDGES

    def _show_title(self) -> None:
        text, style = self.session_title, "$muted"
        if self.notice:
            text, style = self.notice, "$attention"
        shown = Content.styled(first_line(text, 400), style)
        shown = shown.truncate(max(0, self._room - _EDGES), ellipsis=True)
        self.border_title = Content.assemble(" ", shown, " ") if text else None

    def _show_hint(self) -> None:
        self._prompt.read_only = bool(self.read_only)
        room = self._room - 6
        self._prompt.placeholder = self._fitting_placeholder(room)
        fitting = (hint for hint in self._hints() if len(hint) <= room)
        self.border_subtitle = Content.styled(next(fitting, ""), "$muted")
        self._prompt.refresh()

    watch_notice = watch_session_title = _show_title
    watch_elsewhere = watch_invitation = watch_offered = watch_next_step = _show_hint
    watch_waits = _show_hint
    watch_read_only = watch_searching = watch_shell = watch_folded = _show_hint

    def watch_running(self) -> None:
        self.set_class(self.running, "-running", update=False)
        self.app.stylesheet.update_nodes((self, self._sign))  # nothing else looks different
        self._show_hint()

    def follow(self, completion: Completion) -> None:
        """Say what the keys do in the list over the prompt, while it offers something."""
        self.watch(completion, "offered", partial(setattr, self, "offered"), init=False)

    @on(Prompt.Changed)
    def _follow_text(self) -> None:
        if self.next_step:
            self._show_hint()

    @on(Prompt.ModeChanged)
    def _show_mode(self) -> None:
        self._show_hint()

    def _fitting_placeholder(self, room: int) -> Content:
        placeholders = self._placeholders()
        if room <= 0:  # it has no size yet
            return Content(placeholders[0])
        fit = next((each for each in placeholders if cell_len(each) <= room), placeholders[-1])
        return Content(fit).truncate(room, ellipsis=True)

    def _placeholders(self) -> tuple[str, ...]:
        match self._state:
            case "read-only":
                fork = name_keys_of_hint(self.app, " ({read-only-fork:f} to fork)")
                return (f"Read-only{fork}: {clean(self.read_only)}",)
            case "searching":
                return ("Search earlier prompts",)
            case _ if self.elsewhere:
                return (_TO_PROMPT if any(self.elsewhere) else "",)
            case "waiting":
                return "Ask anything; it is sent when the command has ended", "Ask for later"
            case _:
                return ("Steer the agent",) if self.running else self.invitation

    @property
    def _state(self) -> _State:
        if self.read_only:
            return "read-only"
        if self.searching:
            return "searching"
        if self._prompt.is_commanding:
            return "steering" if self.running else "commanding"
        if self.shell:
            return "shell"
        if self.waits:
            return "waiting"
        return "running" if self.running else "idle"

    def _hints(self) -> tuple[str, ...]:
        if self.elsewhere:
            return self.elsewhere
        if self.offered is not None and not self.read_only:
            return _LIST_HINTS[self.offered]
        if self.next_step and not self._prompt.text:
            return _NEXT_STEP_HINTS
        is_plain = self.folded and self._state in ("idle", "waiting", "running")
        hints = _FOLDED_HINTS if is_plain else _HINTS[self._state]
        return tuple(name_keys_of_hint(self.app, hint) for hint in hints)
