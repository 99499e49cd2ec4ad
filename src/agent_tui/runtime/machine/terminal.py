"""The terminal: what the environment says of it, what is typed there, and the file to draw on.

And what Ctrl+C does there once the screen is gone, until the process has ended.
"""

from __future__ import annotations

import codecs
import fcntl
import os
import selectors
import signal
import sys
import termios
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

_LIGHT = {"7", "9", "10", "11", "12", "13", "14", "15"}
_READ_BYTES = 4_096
_STDOUT, _STDERR = 1, 2
_FORGIVEN_SECONDS = 2.0
_INTERRUPTED = 130


def is_dark_terminal(environment: Mapping[str, str] = os.environ) -> bool:
    """Read ``COLORFGBG`` ("text;background"), which several terminals set; dark without it."""
    ground = environment.get("COLORFGBG", "").rpartition(";")[2].strip()
    return ground not in _LIGHT


def can_ask_terminal(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal may be asked for its background: some would print the question."""
    return environment.get("TERM", "dumb") not in ("linux", "dumb")


def wants_no_colour(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether ``NO_COLOR`` is set to anything: set to nothing it does not count (no-color.org)."""
    return bool(environment.get("NO_COLOR"))


def is_in_tmux(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether tmux stands between here and the terminal."""
    return bool(environment.get("TMUX"))


def count_lines_ahead(fileno: int) -> int:
    """Bytes of the whole lines that were typed while the terminal still made lines of its input.

    The Enter at the end of each waits as a line feed, which is another key from then on.
    """
    try:
        if not termios.tcgetattr(fileno)[3] & termios.ICANON:
            return 0
        return int.from_bytes(fcntl.ioctl(fileno, termios.FIONREAD, bytes(4)), sys.byteorder)
    except (OSError, termios.error):
        return 0


class TerminalInput:
    """Text from a terminal by its descriptor, with a limit to how long it is waited for.

    ``ahead``: bytes that ``count_lines_ahead`` found before every key was asked for by itself.
    """

    def __init__(self, fileno: int, ahead: int = 0) -> None:
        self._fileno = fileno
        self._ahead = ahead
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._selector = selectors.SelectSelector()  # macOS polls no terminal in another way
        self._selector.register(fileno, selectors.EVENT_READ)

    def read(self, seconds: float) -> str:
        """What came within ``seconds``; nothing where nothing whole did.

        Bytes that are no text come as replacement characters.

        Raises:
            OSError: the terminal is gone.
        """
        if not self._selector.select(seconds):
            return ""
        if not (data := os.read(self._fileno, _READ_BYTES)):
            raise OSError("The terminal is gone.")  # Linux reports the end of input, not an error
        lines = data[: self._ahead].replace(b"\n", b"\r")
        self._ahead -= len(lines)
        return self._decode(lines + data[len(lines) :])

    def close(self) -> None:
        """Stop looking; the terminal stays open."""
        self._selector.close()


class StderrOffScreen:
    """Standard error, which leads nowhere while the screen is drawn on the same terminal."""

    def __init__(self) -> None:
        self._terminal: int | None = None

    def hush(self) -> None:
        """Drop what is written to standard error from now on, unless it is no terminal."""
        if self._terminal is None and os.isatty(_STDERR):
            self._terminal = os.dup(_STDERR)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, _STDERR)
            os.close(nowhere)

    def restore(self) -> None:
        """Let standard error be written to the terminal again."""
        if self._terminal is not None:
            os.dup2(self._terminal, _STDERR)
            os.close(self._terminal)
            self._terminal = None


def open_terminal() -> IO[str]:
    """The terminal as a file of its own, whatever standard error leads to later."""
    stderr = sys.__stderr__
    assert stderr is not None
    terminal = _STDERR if os.isatty(_STDERR) else _STDOUT
    return os.fdopen(os.dup(terminal), "w", encoding=stderr.encoding, errors=stderr.errors)


def forgive_interrupts() -> None:
    """One Ctrl+C too many is meant for what has ended: no error, unless the end takes long."""
    since = time.monotonic()

    def heed(*_: object) -> None:
        if time.monotonic() - since > _FORGIVEN_SECONDS:
            os._exit(_INTERRUPTED)

    with suppress(ValueError):  # only the main thread can handle signals
        signal.signal(signal.SIGINT, heed)


def ignore_interrupts() -> None:
    """For the last moments, in which Python calls no handler and would end by the signal."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
