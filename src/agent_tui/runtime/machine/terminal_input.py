"""What is typed at the terminal, read as it comes."""

from __future__ import annotations

import codecs
import fcntl
import os
import selectors
import sys
import termios

_READ_BYTES = 4_096


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
