"""What is typed at the terminal, read as it comes."""

from __future__ import annotations

import codecs
import os
import selectors

_READ_BYTES = 4_096


class TerminalInput:
    """Text from a terminal by its descriptor, with a limit to how long it is waited for."""

    def __init__(self, fileno: int) -> None:
        self._fileno = fileno
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
        return self._decode(data)

    def close(self) -> None:
        """Stop looking; the terminal stays open."""
        self._selector.close()
