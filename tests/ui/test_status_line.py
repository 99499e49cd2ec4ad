"""The status line: what the agent does is always visible, and nothing overflows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import get_args
from unittest.mock import Mock

import pytest

from agent_tui.config import Settings
from agent_tui.core.modes import MODE_WORDS
from agent_tui.runtime.starting import confining
from agent_tui.runtime.starting.launch import Launch
from agent_tui.tools.sandbox import SandboxKind
from agent_tui.ui.app import AgentTui
from agent_tui.ui.conversation.notices import Notices
from agent_tui.ui.widgets.bars.status_line import WAITING, StatusLine
from tests.ui.stage import Stage
from tests.ui.test_chat_acts import desk
from tests.waiting import until


class Host(Stage):
    def __init__(self) -> None:
        self.line = StatusLine()
        super().__init__([self.line])

    @property
    def shown(self) -> str:
        return self.line.render().plain


async def test_while_a_person_is_waited_for_nothing_is_drawn_again_and_again() -> None:
    async with (app := Host()).run_test(size=(120, 5)):
        timer = app.line._timer
        assert timer is not None
        app.line.work = "thinking"
        assert timer._active.is_set()
        app.line.work = WAITING
        app.line._began -= 90
        assert not timer._active.is_set()
        assert "waiting for you · Esc" in app.shown


@pytest.mark.parametrize("width", [40, 60, 80, 200])
async def test_the_line_fits_any_width(width: int) -> None:
    async with (app := Host()).run_test(size=(width, 5)) as _:
        line = app.line
        line.title, line.model = "A rather long title of a session", "gpt-4o-mini"
        for line.work in ("", "running a command that has quite a long name"):
            assert app.line.render().cell_length <= line.size.width


async def test_where_room_is_short_the_mode_is_whole() -> None:
    async with (app := Host()).run_test(size=(48, 5)) as _:
        app.line.mode, app.line.work = "auto", "running your command for a while"
        assert app.shown.rstrip().endswith(MODE_WORDS["auto"])
        assert "…  " in app.shown


async def test_idle_is_ready_and_shows_keys_of_the_table() -> None:
    async with (app := Host()).run_test(size=(120, 5)) as _:
        assert "ready" in app.shown
        assert "F4 compact" in app.shown
        assert "F1" not in app.shown  # the prompt's own hints name it


async def test_without_a_model_to_ask_nothing_is_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    app = AgentTui(Launch(tmp_path))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.screen_stack != [] and app.chat.session is not None)
        await until(pilot, lambda: app.screen is not app.chat_screen)  # it offers to connect one
        line = app.chat.status.draw(100).plain
        assert line.startswith("○ no model connected")
        assert "ready" not in line
        await app.chat_screen.end()


async def test_work_shows_a_spinner_that_moves_and_rests_when_idle() -> None:
    async with (app := Host()).run_test(size=(120, 5)) as pilot:
        app.line.work = "thinking"
        assert "thinking" in app.shown
        before = app.shown
        await pilot.pause(0.25)
        assert app.shown != before
        app.line.work = ""
        assert "ready" in app.shown


async def test_commands_in_the_background_are_counted_whatever_else_goes_on() -> None:
    async with (app := Host()).run_test(size=(60, 5)) as _:
        assert "background" not in app.shown
        app.line.background = 2
        for app.line.work in ("", "thinking"):
            assert "2 in background" in app.shown


async def test_a_retry_says_when_and_why() -> None:
    async with (app := Host()).run_test(size=(120, 5)) as _:
        app.line.shows_notice = True
        app.line.show_retry(2, 4.0, "429 Too many requests\x1b[2J")
        assert "Retry 2 in 4 s: 429 Too many requests␛[2J" in app.shown


async def test_a_retry_says_why_without_the_address_where_room_is_short() -> None:
    async with (app := Host()).run_test(size=(80, 5)) as _:
        app.line.shows_notice = True
        app.line.title, app.line.model, app.line.work = "A session", "gpt-4o-mini", "thinking"
        app.line.show_retry(3, 2.0, "https://api.example.com/v1 asks to slow down (429).")
        assert "Retry 3 in 2 s: the server asks to slow down (429)." in app.shown
        app.line.show_retry(3, 2.0, "Nothing listens at http://127.0.0.1:8000/v1: start it.")
        assert "Retry 3 in 2 s: Nothing listens at the server: start" in app.shown
        refused = "http://127.0.0.1:9/v1 refused the connection: is the server running?"
        app.line.show_retry(3, 2.0, refused)
        assert app.line.notice == "Retry 3 in 2 s: the server refused the connection"


async def test_the_time_until_a_retry_counts_down_unless_something_else_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("agent_tui.ui.widgets.bars.status_line.monotonic", lambda: now)
    async with (app := Host()).run_test(size=(80, 5)) as pilot:
        line = app.line
        line.work = "retrying"
        line.show_retry(1, 120.0, "slow down {please}")
        assert line.notice == "Retry 1 in 2:00: slow down {please}"
        now = 101.5
        await until(pilot, lambda: line.notice == "Retry 1 in 1:59: slow down {please}")
        now = 215.5
        await until(pilot, lambda: line.notice == "Retry 1 in 5 s: slow down {please}")
        now = 220.5
        await until(pilot, lambda: line.notice == "Retry 1: slow down {please}")
        line.show_retry(2, 30.0, "again")
        line.notice = "Saved."
        now = 230.0
        await pilot.pause(0.6)
        assert line.notice == "Saved."


async def test_a_banner_stands_before_everything_else() -> None:
    async with (app := Host()).run_test(size=(40, 5)) as _:
        app.line.banner = "open in another window (pid 12)"
        app.line.title, app.line.model = "A session", "gpt-4o"
        assert app.shown.lstrip().startswith("open in another window")


async def test_a_click_on_a_key_does_what_the_key_does() -> None:
    async with (app := Host()).run_test(size=(120, 5)) as pilot:
        ran: list[str] = []

        def remember(name: str) -> None:
            ran.append(name)

        app.screen.action_command = remember  # type: ignore[attr-defined]
        place = app.shown.index("F4 compact")
        await pilot.click(StatusLine, offset=(place + 3, 0))
        assert ran == ["compact"]


async def test_what_matters_least_goes_first_and_the_state_and_the_mode_stay() -> None:
    facts = ("tidewatch", "main", "gpt-5-mini", "$0.12", "sandbox on")
    async with (app := Host()).run_test(size=(120, 5)) as _:
        line = app.line
        line.place, line.branch, line.model, line.cost, line.sandbox = facts
        line.mode, line.work = "accept-edits", "thinking"
        gone: list[str] = []
        for width in range(110, 36, -1):
            shown = line.draw(width).plain
            assert "thinking" in shown
            assert MODE_WORDS["accept-edits"] in shown
            gone += [fact for fact in facts if fact not in shown and fact not in gone]
        assert gone == ["$0.12", "sandbox on", "main", "tidewatch", "gpt-5-mini"]


@pytest.mark.parametrize("chosen", ["auto", "strict"])
@pytest.mark.parametrize("kind", ["landlock", "none"])
async def test_that_commands_are_confined_less_is_left_out_last(
    kind: SandboxKind, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "sandbox_of", lambda _: kind)
    settings = Settings.model_validate({"commands": {"sandbox": chosen}})
    async with (app := Host()).run_test(size=(120, 5)) as _:
        line = app.line
        line.place, line.branch, line.model = "tidewatch", "main", "gpt-5-mini"
        line.sandbox = told = confining.describe_sandbox(settings)
        assert ("no commands" in told) == (kind == "none" and chosen == "strict")
        assert all(told in line.draw(width).plain for width in range(110, 40, -1))
        assert "tidewatch" not in line.draw(40).plain


@pytest.mark.parametrize("kind", get_args(SandboxKind))
async def test_which_sandbox_there_is_stands_there_whole(
    kind: SandboxKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "sandbox_of", lambda _: kind)
    async with (app := Host()).run_test(size=(120, 5)) as _:
        app.line.sandbox = confining.describe_sandbox(Settings())
        assert app.line.sandbox in app.line.draw(110).plain


async def test_a_notice_is_drawn_here_only_where_the_prompt_has_no_frame_for_it() -> None:
    async with (app := Host()).run_test(size=(80, 5)) as _:
        app.line.notice = "Theme saved."
        assert "Theme saved." not in app.shown
        app.line.shows_notice = True
        assert "Theme saved." in app.shown


async def test_the_line_says_how_fast_the_model_wrote_and_what_it_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    prices = "[models.scripted]\nprice_input = 10.0\nprice_output = 100.0\n"
    (tmp_path / "home" / "config.toml").write_text(prices)
    async with desk(tmp_path, monkeypatch) as here:
        status = here.chat.status
        here.chat.prompts.send("Run the tests")
        await here.until(lambda: status.cost not in ("", "$0") and status.steps == 2)
        assert "2 steps" in status.draw(200).plain
        await here.until(lambda: not here.chat.runner.is_busy)
        assert status.cost.startswith("$")
        assert status.rate.endswith("tok/s")
        paid = status.cost
        assert here.chat.session is not None
        here.chat.facts.show(here.chat.session)
        await here.until(lambda: not status.rate and not status.steps)
        assert "steps" not in status.draw(200).plain
        await here.until(lambda: status.cost == paid)


def test_a_hint_that_is_shown_again_stays_its_own_seconds() -> None:
    panes = Mock(status=SimpleNamespace(notice=""))
    timers: list[Callable[[], None]] = []
    notices = Notices(panes, lambda _seconds, drop: timers.append(drop))
    notices.hint("Press Ctrl+C again to quit.")
    panes.status.notice = "Prompt cleared."
    notices.hint("Press Ctrl+C again to quit.")
    timers[0]()
    assert panes.status.notice == "Press Ctrl+C again to quit."
    timers[1]()
    assert panes.status.notice == ""
