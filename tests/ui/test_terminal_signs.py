"""What the terminal is told: its title, its tab's progress, and a call where nobody looks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from textual import events

from agent_tui.config.settings import UiSettings
from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen
from agent_tui.ui.terminal_signs import TerminalSigns
from agent_tui.ui.widgets.bars.status_line import WAITING, StatusLine
from tests.ui.stage import Stage
from tests.ui.test_chat_acts import desk


@dataclass
class Terminal:
    status: StatusLine
    app: Stage
    written: list[str] = field(default_factory=list)

    def take(self) -> list[str]:
        """What was written since the last time."""
        taken, self.written[:] = list(self.written), []
        return taken


@pytest.fixture(autouse=True)
def outside_of_tmux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX", raising=False)


@asynccontextmanager
async def terminal(settings: UiSettings) -> AsyncIterator[Terminal]:
    status = StatusLine()
    async with (app := Stage([status])).run_test() as pilot:
        here = Terminal(status, app)
        TerminalSigns(app, status, settings, here.written.append)
        await pilot.pause()
        yield here


async def test_the_title_tells_state_and_session_and_passes_no_escape() -> None:
    async with terminal(UiSettings()) as here:
        here.status.title = "Fix \x1b]0;the\x07 bug"
        here.status.work = "thinking"
        here.status.work = "running a tool"
        here.status.work = WAITING
        here.status.work = ""
        titles = [text.removeprefix("\x1b]0;").removesuffix("\x07") for text in here.take()]
    assert titles[0] == "● agent-tui"
    assert [title[0] for title in titles] == ["●", "●", "◐", "?", "●"]
    assert not [title for title in titles if "\x1b" in title or "\x07" in title]
    assert "Fix" in titles[-1]


@pytest.mark.parametrize(
    ("notify", "calls"),
    [
        ("off", []),
        ("bell", ["\x07", "\x07"]),
        (
            "desktop",
            [
                "\x1b]9;agent-tui: Fix it is waiting for you\x07",
                "\x1b]9;agent-tui: Fix it has finished\x07",
            ],
        ),
    ],
)
async def test_who_looks_elsewhere_is_called_and_nobody_else(notify: str, calls: list[str]) -> None:
    settings = UiSettings.model_validate({"notify": notify, "terminal_title": False})
    async with terminal(settings) as here:
        here.status.title = "Fix it"
        here.status.work = "thinking"
        here.status.work = ""
        assert here.take() == []
        here.app.app_focus = False
        here.status.work = "thinking"
        here.status.work = WAITING
        here.status.work = "running a tool"
        here.status.work = ""
        assert here.take() == calls


async def test_progress_is_shown_while_working_where_it_is_wanted() -> None:
    async with terminal(UiSettings(terminal_title=False, progress=True)) as here:
        here.status.work = "thinking"
        here.status.work = "running a tool"
        here.status.work = ""
        assert here.take() == ["\x1b]9;4;3\x07", "\x1b]9;4;0\x07"]
    async with terminal(UiSettings(terminal_title=False)) as here:
        here.status.work = "thinking"
        assert here.take() == []


async def test_a_question_that_came_while_nobody_looked_has_the_keys_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.app.post_message(events.AppBlur())
        await here.until(lambda: not here.app.app_focus)
        await here.app.push_screen(ChoiceScreen("Which?", [Choice("a", "One"), Choice("b", "Two")]))
        here.app.post_message(events.AppFocus())
        await here.until(lambda: here.app.app_focus)
        assert type(here.app.focused).__name__ == "Rows"


async def test_the_first_key_acts_where_nobody_looked_while_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.app.screen.set_focus(None)
        here.app.app_focus = False
        await here.pilot.press("down")
        assert here.chat.welcome.cursor == 0


async def test_within_tmux_progress_and_calls_go_to_the_terminal_around_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TMUX", "/tmp/tmux-1000/default,1,0")
    async with terminal(UiSettings(notify="desktop", progress=True)) as here:
        here.status.title = "Fix the bug"
        here.take()
        here.app.app_focus = False
        here.status.work = "thinking"
        here.status.work = WAITING
        title, busy, *rest = here.take()
        assert title.startswith("\x1b]0;")  # tmux has titles of its own
        assert busy == "\x1bPtmux;\x1b\x1b]9;4;3\x07\x1b\\"
        called = "\x1bPtmux;\x1b\x1b]9;agent-tui: Fix the bug is waiting for you\x07\x1b\\"
        assert called in rest
