"""A command that is asked for while the program starts is carried out a moment later."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import pytest

from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui import chat
from agent_tui.ui.app import AgentTui
from agent_tui.ui.commands.table import COMMANDS
from agent_tui.ui.screens.dialogs.help import HelpScreen
from agent_tui.ui.screens.sessions.session_list import SessionListScreen
from tests.waiting import until

_LEAVES = {"suspend", "editor", "exit", "picture"}


class SlowStart:
    """Holds the program before its timeline is there, until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = Event()
        load = chat._import_timeline

        def wait(launch: Launch) -> Any:
            self.go.wait(60)
            return load(launch)

        monkeypatch.setattr(chat, "_import_timeline", wait)


@pytest.fixture
def slow_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SlowStart:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    return SlowStart(monkeypatch)


@pytest.mark.parametrize(
    ("typed", "screen"),
    [(["f1"], HelpScreen), (["f2"], SessionListScreen), ([*"/help", "enter"], HelpScreen)],
)
async def test_a_screen_that_is_asked_for_early_opens(
    tmp_path: Path, slow_start: SlowStart, typed: list[str], screen: type
) -> None:
    app = AgentTui(Launch(tmp_path, demo=True))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*typed)
        await until(pilot, lambda: "in a moment" in app.chat.status.notice)
        slow_start.go.set()
        await until(pilot, lambda: isinstance(app.screen, screen))
        assert "moment" not in app.chat.status.notice


async def test_one_that_is_no_longer_wanted_does_not_open(
    tmp_path: Path, slow_start: SlowStart
) -> None:
    app = AgentTui(Launch(tmp_path, demo=True))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("f2", "escape")
        slow_start.go.set()
        await until(pilot, lambda: app.chat.session is not None)
        await pilot.pause()
        assert app.screen is app.chat_screen


@pytest.mark.parametrize("typed", [["t", "enter", *"ide"], [*"tide"]], ids=["sent", "typed"])
async def test_what_is_written_in_a_program_that_ends_while_it_starts_is_kept(
    tmp_path: Path, slow_start: SlowStart, typed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    app = AgentTui(Launch(tmp_path))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*typed)
        app._leave_soon()
        await until(pilot, lambda: app._exit)
        slow_start.go.set()
    app = AgentTui(Launch(tmp_path))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.chat.session is not None)
        wanted = "t\n\nide" if "enter" in typed else "tide"
        await until(pilot, lambda: app.chat.prompt_box.text == wanted)


@pytest.mark.parametrize("name", [each.name for each in COMMANDS if each.name not in _LEAVES])
async def test_no_command_fails_for_being_early(
    tmp_path: Path, slow_start: SlowStart, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    app = AgentTui(Launch(tmp_path, demo=True))
    said: list[str] = []
    async with app.run_test(size=(100, 30)) as pilot:
        monkeypatch.setattr(app.chat.notices, "failure", said.append)
        app.chat_screen.run_command(name)
        await pilot.pause()
        slow_start.go.set()
        await until(pilot, lambda: app.chat.session is not None)
        await pilot.pause()
        assert not [sentence for sentence in said if "Internal" in sentence]
        await app.leave()
