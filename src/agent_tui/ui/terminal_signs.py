"""What the terminal shows around the screen: a title, a progress mark, a call when unfocused.

Title: OSC 0. Progress: OSC 9;4 (ConEmu, Windows Terminal, Ghostty, WezTerm). Call: BEL, or OSC 9.
Within tmux the last two go to the terminal around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from agent_tui.core.text import first_line
from agent_tui.runtime.machine.terminal import is_in_tmux
from agent_tui.ui.widgets.bars.status_line import WAITING

if TYPE_CHECKING:
    from textual.app import App

    from agent_tui.config.settings import UiSettings
    from agent_tui.ui.widgets.bars.status_line import StatusLine

_ESCAPE = "\x1b"
KEEP_TITLE = "\x1b[22;0t"
RESTORE_TITLE = "\x1b[23;0t"
NO_PROGRESS = "\x1b]9;4;0\x07"
_BUSY_PROGRESS = "\x1b]9;4;3\x07"
_WAITING_PROGRESS = "\x1b]9;4;4;100\x07"
_LONGEST = 80
State = Literal["ready", "working", "waiting"]
_MARKS: dict[State, str] = {"ready": "●", "working": "◐", "waiting": "?"}


def past_tmux(sequence: str) -> str:
    """A sequence wrapped to pass through tmux, which swallows what it does not know.

    tmux hands it on where its option ``allow-passthrough`` is on, and drops it elsewhere.
    """
    if not is_in_tmux():
        return sequence
    return f"\x1bPtmux;{sequence.replace(_ESCAPE, _ESCAPE * 2)}{_ESCAPE}\\"


class TerminalSigns:
    """Follows the status line, and tells the terminal what matters to a person elsewhere.

    Args:
        app: knows whether the terminal has the focus.
        status: what runs, and the title of the session.
        settings: which signs are wanted.
        write: writes to the terminal, through the app's driver.
    """

    def __init__(
        self,
        app: App[Any],
        status: StatusLine,
        settings: UiSettings,
        write: Callable[[str], None],
    ) -> None:
        self._app = app
        self._status = status
        self._settings = settings
        self._write = write
        self._state: State = "ready"
        self._title = ""
        app.watch(status, "work", self._follow)
        app.watch(status, "title", self._follow)

    def _follow(self) -> None:
        work = self._status.work
        state: State = "waiting" if work == WAITING else "working" if work else "ready"
        before, self._state = self._state, state
        self._show_title(state)
        if state == before:
            return
        if self._settings.progress:
            self._show_progress(state)
        if state != "working" and not self._app.app_focus:
            self._call("is waiting for you" if state == "waiting" else "has finished")

    def _show_title(self, state: State) -> None:
        session = first_line(self._status.title, _LONGEST)
        title = " ".join(filter(None, [_MARKS[state], session or "agent-tui"]))
        if self._settings.terminal_title and title != self._title:
            self._title = title
            self._write(f"\x1b]0;{title}\x07")

    def _show_progress(self, state: State) -> None:
        match state:
            case "ready":
                self._write(past_tmux(NO_PROGRESS))
            case "working":
                self._write(past_tmux(_BUSY_PROGRESS))
            case "waiting":
                self._write(past_tmux(_WAITING_PROGRESS))

    def _call(self, what: str) -> None:
        match self._settings.notify:
            case "off":
                pass
            case "bell":
                self._write("\x07")
            case "desktop":
                session = first_line(self._status.title, _LONGEST) or "The agent"
                self._write(past_tmux(f"\x1b]9;agent-tui: {session} {what}\x07"))
