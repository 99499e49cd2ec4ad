"""Screens that are closed before they are composed."""

from __future__ import annotations

import asyncio

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from agent_tui.ui.screens.dialogs.panel import Panel
from agent_tui.ui.screens.dialogs.popup import Popup
from agent_tui.ui.screens.dialogs.sheet import Sheet
from agent_tui.ui.screens.dismissed_once import DismissedOnce


class _Needy(DismissedOnce[int]):
    """Needs its widgets when it is mounted, as most screens do; is composed when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.may_compose = asyncio.Event()

    async def on_compose(self) -> None:
        await self.may_compose.wait()

    def compose(self) -> ComposeResult:
        yield Static("here", id="inner")

    def on_mount(self) -> None:
        self.query_one("#inner", Static).update("mounted")


async def test_a_screen_closed_before_it_is_composed_closes_when_it_is_mounted() -> None:
    app = App[None]()
    answers = list[int | None]()
    async with app.run_test() as pilot:
        below, screen = app.screen, _Needy()
        pushed = app.push_screen(screen, answers.append)
        screen.dismiss(1)
        screen.dismiss(2)
        for _ in range(50):
            await asyncio.sleep(0)
        screen.may_compose.set()
        await pushed
        await pilot.pause()
        assert app.screen is below
    assert answers == [1]


@pytest.mark.parametrize("kind", [Panel, Popup, Sheet])
def test_every_kind_of_screen_can_be_closed_that_early(kind: type) -> None:
    assert issubclass(kind, DismissedOnce)
