"""Standard input as lines, without holding up the loop."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
import time
from typing import NamedTuple

_LONGEST_LINE = 16_000_000


class InputLine(NamedTuple):
    """A line as it came, and the monotonic second in which it did; no text ends the input."""

    text: str
    read_at: float


def input_lines() -> asyncio.Queue[InputLine]:
    """Lines of standard input as they come, then an empty one; a thread waits for them.

    Bytes that are no text come as replacement characters. The queue has no bound, so that each
    line is read as soon as it comes: one that had to wait would look as if it had been typed later.
    """
    lines: asyncio.Queue[InputLine] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    source = sys.stdin or io.StringIO()  # nothing where the program was started without any
    if isinstance(source, io.TextIOWrapper):
        source.reconfigure(errors="replace")

    def read() -> None:
        text = "\n"
        while text:
            text = source.readline(_LONGEST_LINE)
            loop.call_soon_threadsafe(lines.put_nowait, InputLine(text, time.monotonic()))

    threading.Thread(target=read, name="requests", daemon=True).start()
    return lines
