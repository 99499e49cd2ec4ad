"""Terminals that lie, answer what nobody asked, or do not read: the program lives, ends clean."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.stage import Stage, echoes, quit_by_command
from tests.providers.sse_server import Pause, SseServer, finish_chunk, stream, text_chunk
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
THE_END = "That was all."
LIES = (
    *("\x1b[?2048;2$y", "\x1b[48;99999;99999;0;0t", "\x1b[48;0;0;0;0t", "\x1b[<35;5;5M"),
    *("\x1b[<0;99999;99999M\x1b[<0;99999;99999m", "\x1b[1114112u", "\x1b[97;1:3u", "\x1b[55296u"),
    *("\x1b]10;rgb:ff/ff/ff\x07", "\x1bP>|xterm(380)\x1b\\", "\x1b[?2026;2$y", "\x1b[O\x1b[I" * 99),
)


def test_no_lie_of_a_terminal_ends_the_program_or_stays_behind(tmp_path: Path) -> None:
    with Stage(tmp_path).open("--demo") as terminal:
        terminal.wait_for("tokens ·")
        for lie in LIES:
            terminal.write(lie)
        for columns, rows in ((1, 1), (65_535, 65_535), (3, 200), (500, 2), (120, 40)):
            terminal.process.setwinsize(rows, columns)
            terminal.pump(0.02)
        for _ in range(200):
            os.kill(terminal.process.pid, signal.SIGWINCH)
        terminal.resize(120, 40)
        echoes(terminal)
        quit_by_command(terminal)
    assert not terminal.output.left_on()
    assert not terminal.output.odd


def test_the_agent_works_on_though_the_terminal_does_not_read(tmp_path: Path) -> None:
    """Textual waits for it once some frames are on their way; so did the turn, and a SIGTERM."""
    with SseServer() as server:
        place = Stage(tmp_path, server)
        steps = [
            each for n in range(60) for each in (text_chunk(f"{n} **b** `c`\n" * 20), Pause(0.05))
        ]
        server.answers += [
            stream(*steps, text_chunk(end), finish_chunk()) for end in (THE_END, "No.")
        ]
        with place.open("--model", "m") as terminal:
            terminal.wait_for("ready")
            terminal.process.send("go\r")
            _wait_unread(lambda: str(place.disk.records()[-1].get("content")).endswith(THE_END))
            terminal.wait_for(THE_END)
            echoes(terminal)
            terminal.process.send("again\r")
            time.sleep(1)
            os.kill(terminal.process.pid, signal.SIGTERM)
            _wait_unread(lambda: place.disk.records()[-1]["role"] == "_turn_end")
            assert terminal.wait_until_closed() == 0
    assert not terminal.output.left_on()


def _wait_unread(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            if happened():
                return
        except ValueError:
            pass  # no log yet, or a line of it is being written
        assert time.monotonic() < until, "it waits for the terminal"
        time.sleep(0.1)
