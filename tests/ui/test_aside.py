"""A side question stands over the conversation, as high as what has come of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from agent_tui.core.errors import ProviderError
from agent_tui.ui.screens.dialogs.aside import AsideScreen
from tests.ui.stage import Stage
from tests.waiting import until

SIZES = [(40, 12), (80, 24), (200, 60)]


class Answerer:
    """Answers in pieces, each when it is told to."""

    def __init__(self, *pieces: str) -> None:
        self._pieces = pieces
        self.go_on = asyncio.Event()

    async def ask(self, _question: str, tell: Callable[[str], None]) -> str:
        for piece in self._pieces:
            await self.go_on.wait()
            self.go_on.clear()
            tell(piece)
        return "".join(self._pieces)


def height(app: Stage) -> int:
    return app.screen.query_one("#aside").outer_size.height


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_it_grows_with_its_answer_and_stays_on_the_screen(size: tuple[int, int]) -> None:
    answerer = Answerer("One line.", "\n\nAnother.", "".join(f"\n\nLine {n}." for n in range(90)))
    screen = AsideScreen("What is it?", answerer.ask)
    async with (app := Stage(screen=screen)).run_test(size=size) as pilot:
        await pilot.pause()
        least = height(app)
        answerer.go_on.set()
        await until(pilot, lambda: "One line." in app.text)
        assert height(app) == least
        answerer.go_on.set()
        await until(pilot, lambda: "Another." in app.text)
        assert height(app) == least + 2
        answerer.go_on.set()
        await until(pilot, lambda: height(app) > least + 2)
        frame = app.screen.query_one("#aside").region
        assert frame.bottom <= size[1]
        assert "Esc back" in app.text
        await pilot.press("end")
        await until(pilot, lambda: "Line 89." in app.text)
        await pilot.press("escape")
        assert app.results == [None]


async def test_what_goes_wrong_is_said_in_its_frame() -> None:
    async def refuse(_question: str, _tell: Callable[[str], None]) -> str:
        raise ProviderError("The server refused the connection.")

    async with (app := Stage(screen=AsideScreen("What is it?", refuse))).run_test() as pilot:
        await until(pilot, lambda: "The server refused the connection." in app.text)


async def test_words_are_found_in_the_answer() -> None:
    answerer = Answerer("The tide rises. The tide falls.")
    async with (app := Stage(screen=AsideScreen("Why?", answerer.ask))).run_test() as pilot:
        answerer.go_on.set()
        await until(pilot, lambda: "falls" in app.text)
        await pilot.press("slash", *"tide")
        await until(pilot, lambda: "1 of 1" in app.text)
        await pilot.press("escape")
        await pilot.press("m")
        assert not app.results
        assert "falls" in app.text
