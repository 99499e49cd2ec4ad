"""The terminal to draw on, past a standard error that libraries write to."""

from __future__ import annotations

import os
import sys
from typing import IO

_STDOUT, _STDERR = 1, 2


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
