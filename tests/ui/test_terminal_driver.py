"""The terminal's driver: a terminal that is gone takes nothing with it."""

from __future__ import annotations

import io
import os
import pty
import queue
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import IO, cast

import pytest
from textual.app import App
from textual.constants import ESCAPE_DELAY
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.message import Message

from agent_tui.runtime.machine.terminal import TerminalInput, count_lines_ahead
from agent_tui.ui.terminal_driver import TerminalDriver, Unheard
from agent_tui.ui.terminal_replies import ReplyParser
from tests.terminal import Terminal, environment
from tests.waiting import PATIENCE_SECONDS

NOISY = """
import os, sys
from textual.app import App
from textual.widgets import Static
from agent_tui.ui.terminal_driver import TerminalDriver

class Noisy(App):
    def compose(self):
        yield Static("a calm screen")
    def on_ready(self):
        os.write(2, b"warned by a library")
        sys.__stderr__.write("warned in Python")
        sys.__stderr__.flush()
        self.query_one(Static).update("a calm screen still")
        self.set_timer(0.1, self.exit)

Noisy(driver_class=TerminalDriver).run()
os.write(2, b"said at the end")
"""


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")

    def flush(self) -> None:
        self.write("")


def test_what_nobody_hears_is_left_out() -> None:
    file = Unheard(Gone())
    file.write("hello")
    file.flush()


def test_what_a_library_writes_to_stderr_does_not_reach_the_screen(tmp_path: Path) -> None:
    env = environment(tmp_path)
    program = sys.executable
    with Terminal(["-c", NOISY], env=env, cwd=tmp_path, program=program) as terminal:
        assert terminal.wait_until_closed() == 0
        raw = terminal.raw.decode()
    assert "calm screen still" in raw
    assert "warned" not in raw
    assert raw.endswith("said at the end")


def test_the_screen_is_drawn_where_stderr_is_a_file(tmp_path: Path) -> None:
    env = environment(tmp_path)
    command = ["-c", f"exec {sys.executable} -c '{NOISY}' 2>noise"]
    with Terminal(command, env=env, cwd=tmp_path, program="/bin/sh") as terminal:
        assert terminal.wait_until_closed() == 0
        assert b"calm screen still" in terminal.raw
    noise = (tmp_path / "noise").read_text("utf-8")
    assert noise == "warned by a librarywarned in Pythonsaid at the end"


async def test_there_is_one_size_also_of_a_terminal_that_tells_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    app = App[None]()
    app._driver = driver = TerminalDriver(app)
    assert tuple(app.size) == driver._get_terminal_size()


async def test_only_the_system_tells_the_size_and_no_display_is_larger_than_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A terminal that told 99,999 rows of 99,999 columns had the program take all memory."""
    told: list[Message] = []
    app = App[None]()
    driver = TerminalDriver(app)
    monkeypatch.setattr(driver, "send_message", told.append)
    written: list[str] = []
    monkeypatch.setattr(driver, "write", written.append)
    for message in ReplyParser().feed("\x1b[?2048;2$y\x1b[48;99999;99999;0;0tx"):
        driver.process_message(message)
    driver._query_in_band_window_resize()
    assert [type(each) for each in told] == [Key]
    assert not written
    monkeypatch.setattr(LinuxDriver, "_get_terminal_size", lambda _: (65_535, 65_535))
    assert driver._get_terminal_size() == (1_000, 500)


async def test_a_second_start_does_nothing_until_it_was_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SIGCONT starts what SIGTSTP stopped; it also comes where nothing was stopped."""
    starts: list[str] = []
    monkeypatch.setattr(LinuxDriver, "start_application_mode", lambda _: starts.append("start"))
    monkeypatch.setattr(LinuxDriver, "stop_application_mode", lambda _: starts.append("stop"))
    driver = TerminalDriver(App())
    driver.resume_application_mode()
    driver.resume_application_mode()
    driver.suspend_application_mode()
    driver.resume_application_mode()
    driver.suspend_application_mode()
    assert starts == ["start", "stop", "start", "stop"]


class Unread:
    """A terminal that reads nothing until it is told to."""

    def __init__(self) -> None:
        self.reads = threading.Event()
        self.told: list[str] = []

    def write(self, text: str) -> None:
        self.reads.wait()
        self.told.append(text)

    def flush(self) -> None: ...


async def test_nothing_that_is_told_waits_for_a_terminal_that_does_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Titles and marks of progress are written also while frames are left out."""
    unread = Unread()

    def start(driver: LinuxDriver) -> None:
        driver._writer_thread = WriterThread(cast("IO[str]", unread))
        driver._writer_thread.start()

    monkeypatch.setattr(LinuxDriver, "start_application_mode", start)
    monkeypatch.setattr(LinuxDriver, "stop_application_mode", lambda _: None)
    driver = TerminalDriver(App())
    driver.start_application_mode()
    titles = [f"\x1b]0;{number}\x07" for number in range(2 * MAX_QUEUED_WRITES)]
    teller = threading.Thread(target=lambda: list(map(driver.write, titles)), daemon=True)
    teller.start()
    teller.join(PATIENCE_SECONDS)
    was_told = not teller.is_alive()
    assert driver.is_behind
    unread.reads.set()
    driver.stop_application_mode()
    driver.close()
    assert was_told, "it waits for the terminal"
    assert [each for each in unread.told if each in titles] == titles


async def test_keys_are_heard_whole_and_a_lone_esc_without_another_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: queue.Queue[Message] = queue.Queue()
    driver = TerminalDriver(App())
    monkeypatch.setattr(driver, "process_message", heard.put)
    driver.fileno, keyboard = os.pipe()
    reader = threading.Thread(target=driver.run_input_thread)
    reader.start()
    try:
        for pieces, names in (
            ((b"a", "ä".encode()[:1], "ä".encode()[1:]), ("a", "ä")),
            ((b"\x1b[A",), ("up",)),
            ((b"\x1b",), ("escape",)),
            ((b"caf\xe9 x",), ("c", "a", "f", "\N{REPLACEMENT CHARACTER}", "space", "x")),
        ):
            for piece in pieces:
                os.write(keyboard, piece)
            for name in names:
                told = heard.get(timeout=PATIENCE_SECONDS)
                assert isinstance(told, Key)
                assert name in (told.key, told.character)
    finally:
        driver.exit_event.set()
        reader.join(PATIENCE_SECONDS)
    assert not reader.is_alive()


async def test_a_key_is_whole_though_its_first_byte_was_long_in_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A busy machine may take longer for an Esc than it is waited for: what follows is there."""
    heard: queue.Queue[Message] = queue.Queue()
    driver = TerminalDriver(App())
    monkeypatch.setattr(driver, "process_message", heard.put)
    driver.fileno, keyboard = os.pipe()
    feed = ReplyParser.feed

    def feed_slowly(parser: ReplyParser, data: str) -> Iterable[Message]:
        yield from feed(parser, data)
        if data == "\x1b":
            os.write(keyboard, b"[A")
            time.sleep(2 * ESCAPE_DELAY)

    monkeypatch.setattr(ReplyParser, "feed", feed_slowly)
    reader = threading.Thread(target=driver.run_input_thread)
    reader.start()
    try:
        os.write(keyboard, b"\x1b")
        told = heard.get(timeout=PATIENCE_SECONDS)
        assert isinstance(told, Key)
        assert told.key == "up"
    finally:
        monkeypatch.undo()
        driver.exit_event.set()
        reader.join(PATIENCE_SECONDS)
    assert not reader.is_alive()


def test_a_terminal_that_is_gone_is_not_read_again_and_again() -> None:
    """Its input is at its end for ever: who takes that for silence never waits again."""
    fileno, keyboard = os.pipe()
    os.close(keyboard)
    with closing(TerminalInput(fileno)) as terminal, pytest.raises(OSError, match="is gone"):
        terminal.read(0.1)
    os.close(fileno)


def test_an_enter_that_was_typed_before_the_program_asked_for_keys_is_an_enter() -> None:
    """The terminal had made a line feed of it, which is Ctrl+J: the prompt was never sent."""
    keyboard, fileno = pty.openpty()
    os.write(keyboard, "née\rsecond\rrest".encode())
    ahead = count_lines_ahead(fileno)
    tty.setraw(fileno, termios.TCSANOW)
    assert count_lines_ahead(fileno) == 0
    os.write(keyboard, b"\n")
    read = ""
    with closing(TerminalInput(fileno, ahead)) as terminal:
        while not read.endswith("\n"):
            read += terminal.read(5.0)
    assert read == "née\rsecond\rrest\n"
    for each in (keyboard, fileno):
        os.close(each)
    assert count_lines_ahead(fileno) == 0
