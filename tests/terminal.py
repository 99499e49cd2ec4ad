"""A real terminal for tests: the program in a pty, its screen in memory, real keys and mouse."""

from __future__ import annotations

import array
import fcntl
import os
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pexpect
import pyte
from wcwidth import wcwidth

from tests.terminal_output import TerminalOutput
from tests.waiting import PATIENCE_SECONDS

PROGRAM = Path(sys.executable).with_name("agent-tui")

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
    "f7": "\x1b[18~",
    "f8": "\x1b[19~",
}


class Terminal:
    """``agent-tui`` running in a pty of a given size.

    Attributes:
        output: all that the program wrote, read strictly.
        heard_at: when the program wrote last, before it was drawn here (monotonic seconds).
    """

    def __init__(
        self,
        arguments: list[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        columns: int = 120,
        rows: int = 40,
        program: str | None = None,
        term: str = "xterm-256color",
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = bytearray()
        self.output = TerminalOutput()
        self.heard_at = 0.0
        settled = {"TERM": term, "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        self.process: Any = pexpect.spawn(
            program or str(PROGRAM),
            arguments,
            env=dict(env) | settled,
            cwd=str(cwd),
            dimensions=(rows, columns),
            timeout=None,
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.close(force=True)

    def pump(self, seconds: float = 0.05) -> None:
        """Read what the program has drawn, for at most ``seconds``."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                chunk = self.process.read_nonblocking(65536, timeout=left)
            except pexpect.TIMEOUT:
                return
            except pexpect.EOF:
                return
            self.heard_at = time.monotonic()
            self.raw += chunk
            self.output.feed(chunk)
            self._stream.feed(chunk)

    @property
    def text(self) -> str:
        """What is on the screen now."""
        return "\n".join(row.rstrip() for row in self.rows)

    @property
    def rows(self) -> list[str]:
        """The rows of the screen; a blank for each half of what something was drawn over.

        Of those that pyte gives, it refuses a row that holds half of a wide character.
        """
        return ["".join(self._cells(self.screen.buffer[y])) for y in range(self.screen.lines)]

    def _cells(self, line: Mapping[int, Any]) -> Iterator[str]:
        is_wide = False
        for x in range(self.screen.columns):
            data = line[x].data
            yield data or " " * (not is_wide)
            is_wide = bool(data) and wcwidth(data[0]) == 2

    def wait_for(
        self, wanted: str | Callable[[str], bool], seconds: float = PATIENCE_SECONDS
    ) -> str:
        """Pump until the screen holds a text (or satisfies a predicate); fails with the screen."""
        holds = wanted if callable(wanted) else lambda text: wanted in text
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.pump()
            if holds(self.text):
                return self.text
            if not self.process.isalive():
                self.pump()
                break
        if holds(self.text):
            return self.text
        raise AssertionError(f"not on the screen after {seconds} s: {wanted!r}\n{self.text}")

    def press(self, *keys: str) -> None:
        """Press keys by name (``enter``, ``ctrl+c``, ``f4``) or as single characters."""
        for key in keys:
            if key.startswith("ctrl+"):
                self.process.send(chr(ord(key[-1].upper()) - 64))
            else:
                self.process.send(KEYS.get(key, key))
            if key == "escape":
                # Together with another key it is read as that key with Alt.
                self._wait_until_read()
                self.pump(0.25)
            else:
                self.pump(0.05)

    def _wait_until_read(self) -> None:
        """Wait until the program has taken what was typed, however busy the machine is."""
        until = time.monotonic() + PATIENCE_SECONDS
        left = array.array("i", [1])
        with suppress(OSError):  # a program that has ended reads nothing any more
            keyboard = os.open(f"/proc/{self.process.pid}/fd/0", os.O_RDONLY | os.O_NOCTTY)
            try:
                while left[0] and self.process.isalive() and time.monotonic() < until:
                    self.pump(0.02)
                    fcntl.ioctl(keyboard, termios.FIONREAD, left)
            finally:
                os.close(keyboard)

    def write(self, text: str) -> None:
        """Type a text."""
        self.process.send(text)
        self.pump(0.05)

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self.screen.resize(rows, columns)
        self.process.setwinsize(rows, columns)
        self.pump(0.1)

    def find(self, text: str) -> tuple[int, int]:
        """Column and row (from 0) where a text stands on the screen, searching from the bottom."""
        for row, cells in reversed(list(enumerate(self.rows))):
            if (column := cells.find(text)) >= 0:
                return column, row
        raise AssertionError(f"not on the screen: {text!r}\n{self.text}")

    def click(self, column: int, row: int) -> None:
        """Click the left button at a cell (from 0)."""
        for end in "Mm":
            self.process.send(f"\x1b[<0;{column + 1};{row + 1}{end}")
        self.pump(0.1)

    def click_on(self, text: str) -> None:
        """Click the last place on the screen where a text stands."""
        column, row = self.find(text)
        self.click(column, row)

    def wait_until_closed(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Wait for the program to end; returns its exit status."""
        until = time.monotonic() + seconds
        while self.process.isalive() and time.monotonic() < until:
            self.pump()
        if self.process.isalive():
            raise AssertionError(f"still running after {seconds} s\n{self.text}")
        self.pump()  # its last words
        self.process.close()
        return int(self.process.exitstatus if self.process.exitstatus is not None else -1)


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment in which the program keeps its data under ``home`` and knows no key."""
    kept = {"PATH": os.environ["PATH"]} if "PATH" in os.environ else {}
    return kept | {"AGENT_TUI_HOME": str(home), "HOME": str(home)} | more
