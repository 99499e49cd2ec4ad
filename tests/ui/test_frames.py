"""Frames fit: what is drawn before a widget hears of its size shows what stands there for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App
from textual.geometry import Size
from textual.screen import Screen

from agent_tui.core.events import ApprovalRequest, Question
from agent_tui.core.messages import CommandDisplay, DiffDisplay, Display, ToolCall
from agent_tui.core.summary import RevertPreview
from agent_tui.ui.screens.dialogs.approval import ApprovalScreen
from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.help import HelpScreen
from agent_tui.ui.screens.dialogs.keys import KeysScreen
from agent_tui.ui.screens.dialogs.palette import PaletteScreen
from agent_tui.ui.screens.dialogs.question import QuestionScreen
from agent_tui.ui.screens.time.revert_preview import RevertPreviewScreen
from tests.ui.stage import Stage
from tests.waiting import settle

DIFF = "--- a/a.py\n+++ b/a.py\n@@ -8,9 +8,9 @@\n" + "".join(
    [*(f" same {n}\n" for n in range(6)), "-" + "old " * 30 + "\n", "+" + "new " * 40 + "\n"]
)


class Keyed(Screen[None]):
    """Has keys about which there is something to say."""

    BINDINGS = [(key, f"press_{key}", "Does something here, " * 4) for key in "abc"]


def approval(display: Display) -> ApprovalScreen:
    call = ToolCall("call-1", "run_command", "{}")
    return ApprovalScreen(ApprovalRequest("r1", call, "Do this", display))


def preview() -> RevertPreview:
    lines = tuple(f"user: line {number}" for number in range(14))
    return RevertPreview(7, 14, 22, 18_200, 9_400, lines, "Fix the parser")


SCREENS: dict[str, Callable[[App[Any]], Screen[Any]]] = {
    "help": lambda _app: HelpScreen(),
    "keys": lambda app: KeysScreen(app.screen),
    "palette": lambda _app: PaletteScreen(),
    "confirm": lambda _app: ConfirmScreen("Clear?", "All of it. " * 9, "Clear"),
    "choice": lambda _app: ChoiceScreen("Letters", [Choice(c, c * 30, c * 9) for c in "abcdefghi"]),
    "question": lambda _app: QuestionScreen(Question("q", "Which store? " * 60, ("a", "b"))),
    "revert": lambda _app: RevertPreviewScreen(preview()),
    "command": lambda _app: approval(CommandDisplay("make all " * 90, "/home/ada")),
    "lines": lambda _app: approval(CommandDisplay("make all\n" * 90, "/home/ada")),
    "diff": lambda _app: approval(DiffDisplay("a.py", DIFF)),
}
BARS = str.maketrans("▁▂▃▄▅▆▇", " " * 7)


def words_of(app: Stage) -> str:
    """What stands on the screen, but for scroll bars: they have their column, filled or not."""
    return app.text.translate(BARS)


@pytest.mark.parametrize("size", [(44, 12), (70, 30), (140, 17)])
@pytest.mark.parametrize("name", SCREENS)
async def test_the_first_frame_of_another_size_is_no_wrong_one(
    name: str, size: tuple[int, int]
) -> None:
    async with (app := Stage()).run_test(size=(100, 24)) as pilot:
        await app.push_screen(Keyed())
        await app.push_screen(SCREENS[name](app))
        await settle(pilot)
        await settle(pilot)
        app.screen._refresh_layout(Size(*size))  # and draws, before anyone hears of the size
        at_once = words_of(app)
        await pilot.resize_terminal(*size)
        await settle(pilot)
        await settle(pilot)
        assert at_once == words_of(app)
