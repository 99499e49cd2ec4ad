"""A question of the agent: every way to answer it, and no key typed too early."""

from __future__ import annotations

from time import monotonic

import pytest
from textual import events
from textual.pilot import Pilot

from agent_tui.core.events import Question
from agent_tui.ui.screens.dialogs.answer_guard import GUARD_SECONDS, TYPING_GUARD_SECONDS
from agent_tui.ui.screens.dialogs.question import QuestionScreen
from agent_tui.ui.screens.dialogs.typed_answers import (
    ALLOW_HOLD_SECONDS,
    ENTER_PAUSE_SECONDS,
    TICK_SECONDS,
)
from tests.ui.stage import Note, Stage
from tests.waiting import until

CHOOSE = Question("q1", "Which store?\nBoth work.", ("SQLite", "Plain files"))
OPEN = Question("q2", "What shall it be called?")


def ask(question: Question) -> Stage:
    return Stage(screen=QuestionScreen(question))


async def until_painted(pilot: Pilot[None]) -> QuestionScreen:
    screen = pilot.app.screen
    assert isinstance(screen, QuestionScreen)
    while screen.guard.is_hidden:
        await pilot.pause(0.01)
    return screen


@pytest.mark.parametrize(
    ("question", "keys", "answer"),
    [
        (CHOOSE, ["1"], "SQLite"),
        (CHOOSE, ["enter"], "SQLite"),
        (CHOOSE, ["down", "enter"], "Plain files"),
        (CHOOSE, ["2"], "Plain files"),
        (CHOOSE, ["3", *"git", "enter"], "git"),
        (CHOOSE, ["3", *"git", "escape", "1"], "SQLite"),
        (CHOOSE, ["escape"], ""),
        (OPEN, [*"tides2", "enter"], "tides2"),
        (OPEN, ["escape"], ""),
    ],
)
async def test_every_answer_has_its_keys(question: Question, keys: list[str], answer: str) -> None:
    async with (app := ask(question)).run_test() as pilot:
        await until_painted(pilot)
        await pilot.pause(GUARD_SECONDS + 0.05)
        for key in keys:
            if key == "enter":  # right behind another key it is none
                await pilot.pause(ENTER_PAUSE_SECONDS + 0.05)
            await pilot.press(key)
            if key.isdecimal():  # it counts once nothing came behind it
                await pilot.pause(ALLOW_HOLD_SECONDS + 3 * TICK_SECONDS)
        await until(pilot, lambda: app.results)
        assert app.results == [answer]


@pytest.mark.parametrize("key", ["1", "enter", "escape"])
async def test_a_key_pressed_too_early_does_not_answer(key: str) -> None:
    note = Note()
    screen = QuestionScreen(CHOOSE, draft=note)
    async with (app := Stage(screen=screen)).run_test() as pilot:
        (await until_painted(pilot)).guard.show(monotonic())
        await pilot.press(key)
        assert app.results == []
        assert note.text == ("1" if key == "1" else "")


SENTENCES = ["1 more thing", "2 files", "and 1 test", "3", "also 2"]


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("waits", [True, False])
async def test_a_sentence_typed_at_a_question_goes_to_the_prompt(
    sentence: str, *, waits: bool
) -> None:
    note = Note()
    async with (app := Stage(screen=QuestionScreen(CHOOSE, draft=note))).run_test() as pilot:
        screen = await until_painted(pilot)
        if waits:
            await pilot.pause(GUARD_SECONDS + 0.05)
        await pilot.press(*sentence, "space", "x", "enter")
        await pilot.pause(ALLOW_HOLD_SECONDS + 3 * TICK_SECONDS)
        assert app.results == []
        assert note.sent == [f"{sentence} x"]
        assert "Queued: the agent reads it after this answer" in app.text
        assert screen.guard.accepts(monotonic() + 10, monotonic() + 10)


async def test_a_tab_that_is_pressed_too_early_makes_no_answer_of_the_next_enter() -> None:
    (note := Note()).paste("go on")
    async with (app := Stage(screen=QuestionScreen(CHOOSE, draft=note))).run_test() as pilot:
        (await until_painted(pilot)).guard.show(monotonic())
        await pilot.press("tab")
        await pilot.pause(TYPING_GUARD_SECONDS + ENTER_PAUSE_SECONDS + 0.05)
        await pilot.press("enter")
        assert (app.results, note.sent) == ([], ["go on"])


async def test_pasted_text_answers_no_choice() -> None:
    note = Note()
    async with (app := Stage(screen=QuestionScreen(CHOOSE, draft=note))).run_test() as pilot:
        await until_painted(pilot)
        await pilot.pause(GUARD_SECONDS + 0.05)
        app.screen.post_message(events.Paste("1"))
        await pilot.pause(ALLOW_HOLD_SECONDS + 3 * TICK_SECONDS)
        assert app.results == []
        assert note.text == "1"


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_question_and_choices_are_on_the_screen(size: tuple[int, int]) -> None:
    async with (app := ask(CHOOSE)).run_test(size=size) as pilot:
        await until_painted(pilot)
        for said in ("Which store?", "Both work.", "1 SQLite", "2 Plain files", "3 Another answer"):
            assert said in app.text


@pytest.mark.parametrize(
    ("question", "size", "hint"),
    [
        (CHOOSE, (80, 24), "↑↓ choose · Enter answer · PgUp PgDn scroll · Esc skip"),
        (CHOOSE, (54, 24), "─ Enter answer · PgUp PgDn scroll · Esc skip ─"),
        (CHOOSE, (40, 12), "─ PgUp PgDn scroll · Esc skip ─"),
        (OPEN, (80, 24), "─ Enter answer · PgUp PgDn scroll · Esc skip ─"),
    ],
)
async def test_the_keys_that_answer_are_named_as_far_as_there_is_room(
    question: Question, size: tuple[int, int], hint: str
) -> None:
    async with (app := ask(question)).run_test(size=size) as pilot:
        await until_painted(pilot)
        assert hint in app.text


async def test_what_the_agent_writes_is_no_markup_and_no_escape() -> None:
    hostile = Question("q3", "[@click=app.quit]x[/] \x1b[31m", ("[/oops \x1b]0;t\x07",))
    async with (app := ask(hostile)).run_test() as pilot:
        await until_painted(pilot)
        assert "[@click=app.quit]x[/]" in app.text
        assert "\x1b" not in app.text


async def test_a_sentence_typed_on_at_an_open_question_is_no_answer_to_it() -> None:
    note = Note()
    async with (app := Stage(screen=QuestionScreen(OPEN, draft=note))).run_test() as pilot:
        screen = await until_painted(pilot)
        screen.guard.show(monotonic())
        await pilot.press(*"and now")
        await pilot.pause(GUARD_SECONDS + 0.05)
        await pilot.press(*" run the tests", "enter")
        assert (app.results, note.sent) == ([], ["and now run the tests"])


@pytest.mark.parametrize("is_clicked", [True, False])
async def test_with_a_draft_an_open_question_is_answered_once_somebody_goes_to_it(
    *, is_clicked: bool
) -> None:
    note = Note("a draft")
    async with (app := Stage(screen=QuestionScreen(OPEN, draft=note))).run_test() as pilot:
        screen = await until_painted(pilot)
        assert "Tab answer" in app.text
        await pilot.pause(TYPING_GUARD_SECONDS + 0.05)
        assert screen.guard.accepts(monotonic(), monotonic())
        await pilot.press("x")
        assert note.text == "a draftx"
        await pilot.pause(TYPING_GUARD_SECONDS + 0.05)
        if is_clicked:
            await pilot.click("#question-line")
        else:
            await pilot.press("tab")
        await pilot.press(*"tides", "enter")
        await until(pilot, lambda: app.results)
        assert (app.results, note.text, note.sent) == (["tides"], "a draftx", [])
