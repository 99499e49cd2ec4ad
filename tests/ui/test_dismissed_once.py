"""Screens that are closed before they are composed, or while they still read something."""

from __future__ import annotations

import asyncio

import pytest
from textual import work
from textual.app import App, ComposeResult
from textual.css.query import NoMatches
from textual.widgets import Static
from textual.worker import WorkerError

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


class _Reader(DismissedOnce[int]):
    """Shows something once it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.has_read = asyncio.Event()

    def compose(self) -> ComposeResult:
        yield Static("here", id="inner")

    def on_mount(self) -> None:
        self._read()

    @work
    async def _read(self) -> None:
        await self.has_read.wait()
        self.query_one("#inner", Static).update("read")


async def test_what_a_closed_screen_still_reads_does_not_end_the_program() -> None:
    app = App[None]()
    async with app.run_test() as pilot:
        await app.push_screen(screen := _Reader())
        reading = next(iter(app.workers))
        await screen.query_one("#inner").remove()  # as Textual does first
        screen.dismiss(1)
        screen.has_read.set()
        with pytest.raises(WorkerError):
            await reading.wait()
        await pilot.pause()
        assert app.is_running


async def test_what_a_closed_screen_still_starts_ends_no_program() -> None:
    app = App[None]()
    async with app.run_test() as pilot:
        screen = _Needy()
        screen.may_compose.set()
        await app.push_screen(screen)
        screen.dismiss(1)

        async def look() -> None:
            screen.query_one("#gone")

        worker = screen.run_worker(look())
        await pilot.pause()
        assert isinstance(worker.error, NoMatches)
        assert not app._exit


@pytest.mark.parametrize("kind", [Panel, Popup, Sheet])
def test_every_kind_of_screen_can_be_closed_that_early(kind: type) -> None:
    assert issubclass(kind, DismissedOnce)
