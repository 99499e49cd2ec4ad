"""Standard input as lines, without holding up the loop."""

from __future__ import annotations

import asyncio
import sys
import threading

_LONGEST_LINE = 16_000_000


def input_lines() -> asyncio.Queue[str]:
    """Lines of standard input as they come, then an empty one; a thread waits for them."""
    lines: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        line = "\n"
        while line:
            line = sys.stdin.readline(_LONGEST_LINE)
            loop.call_soon_threadsafe(lines.put_nowait, line)

    threading.Thread(target=read, name="requests", daemon=True).start()
    return lines
