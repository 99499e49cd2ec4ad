"""Textual's terminal driver, made to outlive its terminal and to report a lone Esc at once.

And what an app does by it: it waits for no terminal that does not read, and copies texts.

The screen is drawn past standard error, which leads nowhere meanwhile: a library that writes a
warning there cannot corrupt the screen. Where standard error was redirected it is left alone.

When a terminal goes away, the system sends SIGHUP and then SIGCONT, and every write fails. Textual
would start input and output a second time, and its output thread would die: nobody empties the
queue then, and the program waits forever to write its last words.

Textual would also have the terminal tell its size between the keys, and the mouse in pixels.
Nothing needs either here: the one makes any size true that is told, the other is
never switched off again.

A lone Esc may be the beginning of another key, and is known by the time that nothing follows;
Textual would look for that only ten times a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from textual._parser import ParseError
from textual.app import App
from textual.drivers._writer_thread import MAX_QUEUED_WRITES
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Resize
from textual.message import Message
from textual.messages import InBandWindowResize

from agent_tui.runtime.machine.terminal import (
    StderrOffScreen,
    TerminalInput,
    can_ask_terminal,
    count_lines_ahead,
    open_terminal,
)
from agent_tui.ui.terminal_replies import ASK_BACKGROUND, ASK_FEATURES, STOP_TELLING, ReplyParser
from agent_tui.ui.terminal_signs import KEEP_TITLE, NO_PROGRESS, RESTORE_TITLE, past_tmux

if TYPE_CHECKING:
    from textual.driver import Driver
    from textual.screen import Screen

    from agent_tui.ui.terminal_replies import FeaturesTold

Result = TypeVar("Result")

_REST_SECONDS = 0.1
"""Seconds to wait for input before checking whether the program is ending."""
_MANY_WRITES = MAX_QUEUED_WRITES // 2
"""A frame is up to three; so many on their way are some that nobody has seen yet."""
_LOOK_SECONDS = 1 / 30
_LARGEST = 1_000, 500
"""Columns and rows that are drawn of a terminal that says it has more: no display shows as many."""


class TerminalDriver(LinuxDriver):
    """Starts once, restores the title, and keeps running when the terminal is gone.

    Attributes:
        shows_progress: whether a progress mark may stand in the terminal's tab.
        draws_sixel: whether the terminal said so; None while it said nothing.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self._size is None:
            # Rich takes 80 by 25 where it cannot know, this driver 80 by 24: told both, a screen
            # lays itself out for the one, then for the other, without an end.
            self._size = self._get_terminal_size()
        self._has_started = False
        self._ahead: int | None = None
        self.shows_progress = False
        self.draws_sixel: bool | None = None
        self._then: Callable[[], None] | None = None
        self._stderr = StderrOffScreen()
        self._terminal: IO[str] | None = None

    def start_application_mode(self) -> None:
        if not self._has_started:
            self._has_started = True
            # Only the first time: what waits behind an editor or a shell was meant for that.
            self._ahead = count_lines_ahead(self.fileno) if self._ahead is None else 0
            self._terminal = open_terminal()
            self._file = cast("Any", Unheard(self._terminal))
            super().start_application_mode()  # type: ignore[no-untyped-call]
            if self._writer_thread is not None:
                # Frames are left out when they are many; a title or a mark must not wait either.
                self._writer_thread._queue.maxsize = 0
            self._stderr.hush()
            self.tell(KEEP_TITLE)
            if can_ask_terminal():
                self.tell(ASK_BACKGROUND)

    def run_input_thread(self) -> None:
        """Read keys and replies until the program ends."""
        parser = ReplyParser(self._debug)
        with closing(TerminalInput(self.fileno, self._ahead or 0)) as terminal:
            while not self.exit_event.is_set():
                if text := terminal.read(parser.seconds_to_wait(_REST_SECONDS)):
                    self._pass_on(parser.feed(text))  # no text at all would be the end to it
                else:  # only now is it known that nothing follows, however long feeding it took
                    self._pass_on(parser.tick())
        with suppress(EOFError, ParseError):
            list(parser.feed(""))

    def process_message(self, message: Message) -> None:
        if not isinstance(message, InBandWindowResize | Resize):
            super().process_message(message)

    @property
    def is_behind(self) -> bool:
        """Whether the terminal has yet to read so much that one frame more would only be late."""
        return self._writer_thread is not None and self._writer_thread._queue.qsize() > _MANY_WRITES

    def _query_in_band_window_resize(self) -> None:
        pass

    def _get_terminal_size(self) -> tuple[int, int]:
        columns, rows = super()._get_terminal_size()
        return min(columns, _LARGEST[0]), min(rows, _LARGEST[1])

    def _pass_on(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)

    def stop_application_mode(self) -> None:
        if self._has_started:
            progress = past_tmux(NO_PROGRESS) if self.shows_progress else ""
            self.tell(f"{STOP_TELLING}{progress}{RESTORE_TITLE}")
        super().stop_application_mode()
        self._stderr.restore()
        self._has_started = False

    def close(self) -> None:
        super().close()
        if self._terminal is not None:
            with suppress(OSError):
                self._terminal.close()
            self._terminal = None

    def ask_features(self, then: Callable[[], None]) -> None:
        """Ask once what the terminal can do; ``then`` is called when it says so, if ever."""
        self._then = then
        if self.draws_sixel is None and can_ask_terminal():
            self.tell(ASK_FEATURES)

    def hear_features(self, *, sixel: bool) -> None:
        """The terminal said what it can do."""
        self.draws_sixel = sixel
        if self._then is not None:
            self._then()

    def tell(self, signs: str) -> None:
        """Write if output has been started and not stopped; otherwise drop it."""
        if self._writer_thread is not None:
            self.write(signs)


class Unheard:
    """An output file whose reader may be gone: failed writes are dropped."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Write, if it can be written."""
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        """Pass on what was written, if it can be passed on."""
        with suppress(OSError):
            self._file.flush()

    def fileno(self) -> int:
        """The descriptor of the file."""
        return self._file.fileno()


class TerminalApp(App[Result]):
    """Leaves frames out while the terminal does not read them, and draws one when it does again.

    Textual waits for the terminal once some frames are on their way, and everything else with it:
    a connection that hangs would stop the agent in the middle of its work.
    """

    def __init__(self) -> None:
        super().__init__()
        self._skips_frames = False

    def on_features_told(self, told: FeaturesTold) -> None:
        """Remember what the terminal can do, for the picture that asked and later ones."""
        if isinstance(self._driver, TerminalDriver):
            self._driver.hear_features(sixel=told.sixel)

    def get_driver_class(self) -> type[Driver]:
        driver = super().get_driver_class()
        return TerminalDriver if driver is LinuxDriver else driver

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if not self._skips_frames and self._is_terminal_behind():
            self._skips_frames = True
            self.set_timer(_LOOK_SECONDS, self._catch_up)
        super()._display(screen, None if self._skips_frames else renderable)

    def _catch_up(self) -> None:
        """Draw the whole screen, once the terminal has read what it was sent before."""
        if self._is_terminal_behind():
            self.set_timer(_LOOK_SECONDS, self._catch_up)
            return
        self._skips_frames = False
        self.refresh(layout=True)

    def _is_terminal_behind(self) -> bool:
        return getattr(self._driver, "is_behind", False)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text by the terminal and by the desktop's own tool, and say so.

        No terminal says whether it did.
        """
        from agent_tui.runtime.machine.clipboard import copy_text

        super().copy_to_clipboard(text)
        self.run_worker(partial(copy_text, text), thread=True, exit_on_error=False)
        self.notify("Copied")
