"""Pages of one column: on any width the heading, what it is about and the keys begin together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from agent_tui.ui.screens.dialogs.help import HelpScreen
from agent_tui.ui.screens.dialogs.panel import ONE_PAGE
from agent_tui.ui.screens.dialogs.reader import ReaderScreen
from agent_tui.ui.screens.sessions.statistics import StatisticsScreen
from agent_tui.ui.screens.sessions.why import WhyScreen
from agent_tui.ui.screens.time.changes import ChangesScreen
from agent_tui.ui.screens.time.scrubber import ScrubberScreen
from agent_tui.ui.widgets.bars.heading import Heading
from agent_tui.ui.widgets.bars.key_hints import KeyHints
from tests.ui.stage import Stage
from tests.ui.test_empty_lists import Nothing, nothing
from tests.ui.test_tree_scrubber import loader
from tests.waiting import settle

PAGES: dict[str, Callable[[], Screen[Any]]] = {
    "changes": lambda: ChangesScreen(nothing, nothing),
    "help": HelpScreen,
    "reader": lambda: ReaderScreen("Message", "1 line", "text"),
    "replay": lambda: ScrubberScreen(loader()),
    "statistics": lambda: StatisticsScreen(Nothing()),
    "why": lambda: WhyScreen(Nothing(), "a.py", Path("/w")),
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("columns", [80, 121, 160, 200])
async def test_the_keys_of_a_page_begin_and_end_where_its_heading_does(
    name: str, columns: int
) -> None:
    app = Stage(screen=PAGES[name]())
    async with app.run_test(size=(columns, 24)) as pilot:
        await settle(pilot, workers=True)
        page = app.screen
        assert page.has_class(ONE_PAGE)
        heading, keys = page.query_one(Heading).region, page.query_one(KeyHints).region
        assert (keys.x, keys.width) == (heading.x, heading.width)
        assert heading.width == min(113, columns)
        assert abs(columns - heading.right - heading.x) <= 1
        assert (heading.y, keys.y) == (0, 23)
        begins = {len(line) - len(line.lstrip(" ▸│")) for line in app.text.splitlines() if line}
        assert min(begins) >= heading.x


@pytest.mark.parametrize("columns", [80, 115, 120, 200])
async def test_a_page_stands_where_the_conversation_does(columns: int) -> None:
    app = Stage(screen=ScrubberScreen(loader()))
    async with app.run_test(size=(columns, 24)) as pilot:
        await settle(pilot, workers=True)
        lines = app.text.splitlines()
        mark = next(line.index("▌") for line in lines if "▌" in line)
        assert lines[0].index("Replay") == lines[-1].index("←") == mark
