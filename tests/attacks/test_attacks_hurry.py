"""A person in a hurry: nothing typed or clicked before the question was seen answers it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from agent_tui.core.events import ApprovalAnswer, ApprovalRequest
from agent_tui.core.messages import CommandDisplay, DiffDisplay, Display, ToolCall
from agent_tui.ui.screens.dialogs.answer_guard import (
    GUARD_SECONDS,
    LATE_SECONDS,
    TYPING_GUARD_SECONDS,
    AnswerGuard,
)
from agent_tui.ui.screens.dialogs.approval import ApprovalScreen
from agent_tui.ui.screens.dialogs.approval_options import Options
from agent_tui.ui.widgets.panes.action_body import ActionBody
from tests.e2e.stage import Stage as Place
from tests.e2e.stage import pause_guard, say
from tests.providers.sse_server import SseServer, call_chunk, finish_chunk, stream
from tests.ui.stage import Note, Stage

SENTENCE = "and also say what a yes 1 2 would mean"
FILES = 7
BIG_DIFF = DiffDisplay(
    "a.py",
    "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,4000 @@\n"
    + "".join(f"+line {n} {'é' * (n % 40)}\n" for n in range(4_000)),
)
BIG_COMMANDS = [
    "echo x\n" * 570_000,
    "echo " + "é" * 2_000_000,
    "echo " + "\u200b" * 1_300_000,
    "\n" * 4_000_000,
    " " * 4_000_000 + "x",
]


def question(display: Display, note: Note | None = None) -> ApprovalScreen:
    call = ToolCall("c1", "write_file", "{}")
    return ApprovalScreen(ApprovalRequest("r1", call, "a", display), draft=note)


def key(name: str, made_at: float) -> events.Key:
    event = events.Key(name, name if len(name) == 1 else None)
    event.time = made_at
    return event


async def until_open(pilot: Pilot[None], screen: ApprovalScreen) -> None:
    while screen.guard.is_hidden:
        await pilot.pause(0.01)


def moments(shown: float) -> Iterator[float]:
    """Every moment at which a key may have been pressed, up to the one from which it counts."""
    for step in range(-40, 30):
        yield shown + step * 0.01


def test_only_what_was_made_after_the_question_was_read_counts() -> None:
    refused = 0
    for made_at in moments(100.0):
        for late in (0.0, 0.1, LATE_SECONDS - 0.01, LATE_SECONDS, 5.0):
            guard = AnswerGuard()
            guard.show(100.0)
            assert not guard.accepts(made_at, max(100.0, made_at + late))
            refused += 1
    guard = AnswerGuard()
    assert not guard.accepts(1e9, 1e9), "nothing counts before the first frame"
    guard.show(100.0)
    assert guard.accepts(100.0 + GUARD_SECONDS, 100.0 + GUARD_SECONDS)
    assert not guard.accepts(104.0, 108.0), "typed while the program stood still"
    assert not guard.accepts(104.1, 104.2), "and who goes on typing waits again"
    print(f"moments of a key: {refused} refused, 0 counted")


async def test_a_sentence_typed_ahead_of_a_big_question_answers_nothing() -> None:
    note = Note()
    screen = question(BIG_DIFF, note)
    async with (app := Stage(screen=screen)).run_test() as pilot:
        for letter in SENTENCE:
            app.post_message(key(letter, time.monotonic()))
        await until_open(pilot, screen)
        assert app.results == []
        await pilot.pause(GUARD_SECONDS + 0.1)
        # Typed while the loop was held up, after the question had been there for a moment.
        for letter in "ya12":
            app.post_message(key(letter, time.monotonic() - LATE_SECONDS - 0.1))
        await pilot.pause()
        assert app.results == []
        await pilot.press("escape")
        assert app.results == [], "nor does a key that follows at once"
        await pilot.pause(TYPING_GUARD_SECONDS + 0.1)
        await pilot.press("escape")
        await pilot.pause()
        assert app.results == [ApprovalAnswer("reject")]
    assert note.text.endswith("ya12"), "what did not count is left to the prompt"


async def test_a_click_made_before_the_question_does_not_answer_it() -> None:
    screen = question(CommandDisplay("touch x"))
    async with (app := Stage(screen=screen)).run_test() as pilot:
        await until_open(pilot, screen)
        screen.guard.show(time.monotonic())
        await pilot.click(Options, offset=(4, 1))
        await pilot.pause()
        assert app.results == []


async def test_a_new_size_is_a_new_question() -> None:
    screen = question(CommandDisplay("touch x"))
    async with (app := Stage(screen=screen)).run_test() as pilot:
        await until_open(pilot, screen)
        await pilot.pause(GUARD_SECONDS + 0.1)
        await pilot.resize_terminal(60, 20)
        await pilot.press("y")
        await pilot.pause()
        assert app.results == []


@pytest.mark.parametrize("command", BIG_COMMANDS, ids=["lines", "wide", "hidden", "empty", "blank"])
async def test_the_question_of_four_megabytes_is_there_at_once(command: str) -> None:
    small, big = await time_to_show("echo x"), await time_to_show(command)
    assert big < small * 20


async def time_to_show(command: str) -> float:
    screen = question(CommandDisplay(command))
    async with Stage(screen=screen).run_test() as pilot:
        start = time.monotonic()
        await until_open(pilot, screen)
        took = time.monotonic() - start
        assert screen.query_one(ActionBody).drawn_width
    return took


def test_typing_on_while_the_agent_works_writes_no_file(tmp_path: Path) -> None:
    content = "".join(f"line {n} é\n" for n in range(14_000))
    calls = [
        call_chunk(
            n,
            call_id=f"c{n}",
            name="write_file",
            arguments=json.dumps({"path": f"{n}.txt", "content": content}),
        )
        for n in range(FILES)
    ]
    with SseServer([stream(*calls, finish_chunk("tool_calls"))]) as server:
        place = Place(tmp_path, server)
        with place.open() as terminal:
            terminal.wait_for("Ask anything")
            say(terminal, "write them")
            for letter in SENTENCE:
                terminal.write(letter)
                terminal.pump(0.03)
            terminal.wait_for("Allow once")
            assert list(place.workspace.iterdir()) == []
            pause_guard(terminal)
            terminal.pump(TYPING_GUARD_SECONDS)
            terminal.press("1")
            terminal.wait_for(lambda _: (place.workspace / "0.txt").exists())
    print(f"type-ahead: 0 of {FILES} files written, {len(SENTENCE)} keys")
