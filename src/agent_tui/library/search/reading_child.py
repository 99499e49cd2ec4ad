"""The process that reads session files for the index: units on standard input, parts on output."""

from __future__ import annotations

import gc
from multiprocessing.connection import Connection

from agent_tui.library.search.reading import Unit, read_unit


def serve(asked: Connection[None, Unit], answers: Connection[object, None]) -> None:
    """Read units until nobody asks any longer; the end of each is a None."""
    while True:
        try:
            unit = asked.recv()
            for part in read_unit(unit):
                answers.send(part)
            answers.send(None)
        except (EOFError, OSError, KeyboardInterrupt):
            return


if __name__ == "__main__":
    gc.freeze()
    serve(Connection(0, writable=False), Connection(1, readable=False))
