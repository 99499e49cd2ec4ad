"""In a small window what has no room is left out whole, or cut with a mark that says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from agent_tui.context.compaction.strategies.registry import describe_strategies
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.screens.context.compaction_preview import _choice_of
from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen
from agent_tui.ui.widgets.prompt.line_input import LineInput
from tests.ui.stage import Stage
from tests.waiting import until

SMALLEST = (40, 12)
SERVERS = [
    Choice("find", "Find servers on this computer", "Ollama, LM Studio"),
    Choice("openai", "OpenAI", "needs a key"),
]


@pytest.mark.parametrize(("columns", "hints"), [(40, "Enter select · Esc back"), (80, "↑↓ choose")])
async def test_a_popup_leaves_out_whole_hints_and_says_what_leads_out(
    columns: int, hints: str
) -> None:
    screen = ChoiceScreen("Connect a model", SERVERS)
    async with (app := Stage(screen=screen)).run_test(size=(columns, 12)) as pilot:
        await pilot.pause()
        edge = next(line for line in app.text.split("\n") if "╰" in line)
        assert hints in edge
        assert "Esc back" in edge
        assert "…" not in edge


@pytest.mark.parametrize(("columns", "is_noted"), [(40, False), (80, True)])
async def test_a_note_is_left_out_where_a_letter_of_it_would_stand(
    columns: int, is_noted: bool
) -> None:
    screen = ChoiceScreen("Connect a model", SERVERS)
    async with (app := Stage(screen=screen)).run_test(size=(columns, 12)) as pilot:
        await pilot.pause()
        assert "Find servers on this computer" in app.text
        assert ("needs a key" in app.text) == is_noted
        assert "n…" not in app.text


async def test_what_each_strategy_keeps_is_told_whole_in_a_usual_window() -> None:
    told = [_choice_of(each) for each in describe_strategies(8_000)]
    async with (app := Stage(screen=ChoiceScreen("Strategy", told, told[0].value))).run_test(
        size=(80, 24)
    ) as pilot:
        await pilot.pause()
        assert all(each.note in app.text for each in told)


async def test_what_stands_in_an_empty_field_is_cut_with_a_mark() -> None:
    line = LineInput("Filter by title, project or first prompt")
    async with (app := Stage([line])).run_test(size=(30, 4)) as pilot:
        await pilot.pause()
        assert "Filter by title" in app.text
        assert "…" in app.text
        await pilot.resize_terminal(60, 4)
        await pilot.pause()
        assert "Filter by title, project or first prompt" in app.text


async def test_a_notice_has_the_line_of_state_to_itself(tmp_path: Path) -> None:
    app = AgentTui(Launch(cwd=tmp_path, demo=True))
    async with app.run_test(size=SMALLEST) as pilot:
        await until(pilot, lambda: bool(app.screen_stack) and app.chat.session is not None)
        app.chat.notices.hint("Theme agent-dark saved.")
        await until(pilot, lambda: "Theme agent-dark saved." in app.chat.status.render().plain)
        assert not app.chat.gauge.size.width
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: app.chat.gauge.size.width > 0)
        assert "Theme" not in app.chat.status.render().plain  # it is in the prompt's frame
        await pilot.resize_terminal(*SMALLEST)
        await until(pilot, lambda: not app.chat.gauge.size.width)
        app.chat.status.notice = ""
        await until(pilot, lambda: app.chat.gauge.size.width > 0)


async def test_a_notice_that_comes_while_the_window_is_resized_stays(tmp_path: Path) -> None:
    app = AgentTui(Launch(cwd=tmp_path, demo=True))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: bool(app.screen_stack) and app.chat.session is not None)
        app.chat.status.notice = "The old one."
        app.chat_screen.on_resize()
        app.chat.status.notice = "The new one."
        for _ in range(5):
            await pilot.pause()
        assert app.chat.prompt_box.frame.notice == "The new one."


async def test_notes_stand_below_each_other_whatever_the_labels_are_written_in() -> None:
    wide = [Choice("a", "模型服务器", "first"), Choice("b", "Other one", "second")]
    screen = ChoiceScreen("Which?", wide)
    async with Stage(screen=screen).run_test(size=(80, 12)) as pilot:
        await pilot.pause()
        places = [
            cell_len(screen._draw(row, 60).plain.split(each.note)[0])
            for row, each in enumerate(wide)
        ]
        assert places[0] == places[1]
