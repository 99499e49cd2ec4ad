"""Ctrl+Z returns to the shell with a clean terminal, and ``fg`` brings the screen back."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.e2e.stage import Stage, quit_by_command
from tests.providers.sse_server import SseServer
from tests.terminal import Terminal
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def is_stopped(process: int) -> bool:
    """Whether a process waits for the signal that continues it."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def until_stopped(terminal: Terminal) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_stopped(terminal.process.pid):
        assert time.monotonic() < deadline, terminal.text
        terminal.pump(0.05)
    terminal.pump(0.1)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_key_suspends_the_program_and_the_screen_comes_back(tmp_path: Path) -> None:
    with SseServer() as server:
        place = Stage(tmp_path, server)
        with place.open("--model", "m") as terminal:
            terminal.wait_for("Ask anything")
            terminal.wait_for("ready")
            terminal.write("half a prompt")
            terminal.wait_for("half a prompt")
            before = len(terminal.raw)
            terminal.write("\x1a")
            until_stopped(terminal)
            left = bytes(terminal.raw[before:])
            for mode in (b"1049l", b"1000l", b"2004l", b"25h"):
                assert b"\x1b[?" + mode in left
            before = len(terminal.raw)
            os.kill(terminal.process.pid, signal.SIGCONT)
            terminal.wait_for(lambda _: b"\x1b[?1049h" in bytes(terminal.raw[before:]))
            terminal.wait_for(lambda text: "half a prompt" in text and "ready" in text)
            terminal.write(" more")
            terminal.wait_for("half a prompt more")
            terminal.write("\x1f" * 20)
            terminal.wait_for(lambda text: "half a" not in text)
            quit_by_command(terminal)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_escape_and_a_key_are_two_keys_however_late_the_program_reads(tmp_path: Path) -> None:
    with Stage(tmp_path).open("--demo") as terminal:
        terminal.wait_for("tokens ·")
        terminal.write("hello")
        terminal.wait_for("\u276f hello")
        os.kill(terminal.process.pid, signal.SIGSTOP)
        going_on = threading.Timer(1.0, os.kill, (terminal.process.pid, signal.SIGCONT))
        going_on.start()
        terminal.press("escape", "f", "x")
        going_on.join()
        terminal.wait_for("\u276f hellofx")
        terminal.press("ctrl+u")
        quit_by_command(terminal)
