"""Being told to end: the terminal is given back, what was running stops, the log is whole."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.terminal import Terminal, environment
from tests.terminal_output import SCREEN_MODE, TerminalOutput

pytestmark = pytest.mark.slow


def _is_running(marker: str) -> bool:
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in place.read_bytes():
                return True
        except OSError:
            continue
    return False


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_as_its_command_does(
    tmp_path: Path, number: signal.Signals
) -> None:
    seconds = str(40_000 + int(number))
    env = environment(tmp_path / "home")
    with Terminal(["--demo"], env=env, cwd=tmp_path, columns=100, rows=30) as terminal:
        terminal.wait_for("tokens ·")
        terminal.write("hello")
        terminal.press("enter")
        terminal.wait_for("Esc interrupt")
        terminal.wait_for(lambda text: "Esc interrupt" not in text)
        terminal.write(f"!sleep {seconds}")
        terminal.press("enter")
        deadline = time.monotonic() + 10
        while not _is_running(seconds) and time.monotonic() < deadline:
            terminal.pump(0.1)
        assert _is_running(seconds)
        before = len(terminal.raw)
        os.kill(terminal.process.pid, number)
        assert terminal.wait_until_closed() == 0
        said = bytes(terminal.raw[before:])
        assert b"\x1b[?1049l" in said  # back from the alternate screen
        assert b"\x1b[?1000l" in said  # the mouse is the shell's again
    assert not _is_running(seconds)
    (log,) = (tmp_path / "home" / "demo").glob("projects/*/*/context.jsonl")
    assert all(json.loads(line) for line in log.read_text().splitlines())


def test_a_terminal_that_goes_away_ends_the_program(tmp_path: Path) -> None:
    """System and multiplexer say SIGHUP and SIGCONT; nothing can be written any more."""
    env = environment(tmp_path / "home")
    with Terminal(["--demo"], env=env, cwd=tmp_path, columns=100, rows=30) as terminal:
        terminal.wait_for("tokens ·")
        terminal.pump(1)
        terminal.write("Read README.md")
        terminal.press("enter")
        terminal.pump(0.6)  # it is in the middle of drawing
        terminal.process.ptyproc.fileobj.close()
        for number in (signal.SIGHUP, signal.SIGCONT):
            os.kill(terminal.process.pid, number)
        deadline = time.monotonic() + 15
        while terminal.process.isalive() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not terminal.process.isalive()
    (log,) = (tmp_path / "home" / "demo").glob("projects/*/*/context.jsonl")
    assert all(json.loads(line) for line in log.read_text().splitlines())


def test_a_program_that_was_suspended_draws_itself_again(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    with Terminal(["--demo"], env=env, cwd=tmp_path, columns=100, rows=30) as terminal:
        terminal.wait_for("tokens ·")
        terminal.pump(1)
        os.kill(terminal.process.pid, signal.SIGTSTP)
        terminal.pump(1)
        terminal.screen.reset()  # the shell has it
        os.kill(terminal.process.pid, signal.SIGCONT)
        terminal.wait_for("What have we done so far?")
        terminal.wait_for("tokens ·")
        terminal.write("hello")
        terminal.wait_for("\u276f hello")


def test_one_ctrl_c_too_many_is_no_error(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    with Terminal(["--demo"], env=env, cwd=tmp_path, columns=100, rows=30) as terminal:
        terminal.wait_for("tokens ·")
        terminal.process.delaybeforesend = None
        deadline = time.monotonic() + 20
        while terminal.process.isalive() and time.monotonic() < deadline:
            with suppress(OSError):  # it has just ended
                terminal.process.send("\x03")
            terminal.pump(0.003)
        assert terminal.wait_until_closed() == 0
        assert "Traceback" not in terminal.output.after


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_first_frame_gives_the_terminal_back(
    tmp_path: Path, number: signal.Signals
) -> None:
    env = environment(tmp_path / "home")
    with Terminal(["--demo"], env=env, cwd=tmp_path, columns=100, rows=30) as terminal:
        deadline = time.monotonic() + 20
        while SCREEN_MODE not in terminal.output.modes and time.monotonic() < deadline:
            terminal.pump(0.001)
        os.kill(terminal.process.pid, number)
        assert terminal.wait_until_closed() == 0
        assert terminal.output.modes == TerminalOutput().modes
