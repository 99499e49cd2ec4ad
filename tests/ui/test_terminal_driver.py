"""The terminal's driver: a terminal that is gone takes nothing with it."""

from __future__ import annotations

import io

import pytest
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from agent_tui.ui.terminal_driver import TerminalDriver, Unheard


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")

    def flush(self) -> None:
        self.write("")


def test_what_nobody_hears_is_left_out() -> None:
    file = Unheard(Gone())
    file.write("hello")
    file.flush()


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
    assert starts == ["start", "stop", "start"]
