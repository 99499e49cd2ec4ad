"""The approval: everything that will happen is shown, and no key typed too early decides."""

from __future__ import annotations

import json
from time import monotonic

import pytest
from textual import events
from textual.pilot import Pilot

from agent_tui.core.events import ApprovalAnswer, ApprovalRequest
from agent_tui.core.messages import CommandDisplay, DiffDisplay, Display, ToolCall
from agent_tui.core.modes import PRESENT_PLAN
from agent_tui.core.text import first_line
from agent_tui.ui.screens.dialogs.answer_guard import (
    GUARD_SECONDS,
    TYPING_GUARD_SECONDS,
    AnswerGuard,
)
from agent_tui.ui.screens.dialogs.approval import ApprovalScreen
from agent_tui.ui.screens.dialogs.approval_options import Options
from agent_tui.ui.screens.dialogs.keys import KeysScreen
from agent_tui.ui.screens.dialogs.sheet import NothingAbove
from agent_tui.ui.screens.dialogs.typed_answers import ENTER_PAUSE_SECONDS, WIDE_HOLD_SECONDS
from agent_tui.ui.widgets.panes.action_body import ActionBody
from agent_tui.ui.widgets.prompt.line_input import LineInput
from tests.ui.stage import Note, Stage

COMMAND = CommandDisplay("make all && make check", "/home/ada/project")
PAUSE = "(a moment)"
DIFF = DiffDisplay("a.py", "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+new\n")


def ask(display: Display | None = COMMAND, title: str = "Run a command") -> Stage:
    call = ToolCall("call-1", "run_command", '{"command": "make all"}')
    return Stage(screen=ApprovalScreen(ApprovalRequest("r1", call, title, display)))


def screen_of(app: Stage) -> ApprovalScreen:
    assert isinstance(app.screen, ApprovalScreen)
    return app.screen


async def until_painted(pilot: Pilot[None]) -> AnswerGuard:
    """The guard of the question, which is on the screen."""
    assert isinstance(pilot.app, Stage)
    guard = screen_of(pilot.app).guard
    while guard.is_hidden:
        await pilot.pause(0.01)
    return guard


async def until_answered(pilot: Pilot[None]) -> None:
    assert isinstance(pilot.app, Stage)
    while not pilot.app.results:
        await pilot.pause(0.02)


async def hold(pilot: Pilot[None]) -> None:
    """A moment in which nothing is typed, longer than any answer is held back."""
    await pilot.pause(WIDE_HOLD_SECONDS + 0.3)


async def wait_out_the_guard(pilot: Pilot[None]) -> None:
    await until_painted(pilot)
    await pilot.pause(GUARD_SECONDS + 0.05)


async def test_how_many_requests_wait_stands_in_the_title() -> None:
    async with (app := ask()).run_test(size=(60, 20)) as pilot:
        await until_painted(pilot)
        assert "1 of" not in app.text
        for queued, told in ((2, "Run this command? · 1 of 3"), (0, "Run this command? ─")):
            screen_of(app).queued = queued
            await pilot.pause()
            assert told in app.text


async def test_the_title_of_a_plan_is_shown_once() -> None:
    plan = "# Round heights once\n\n1. Run the tests."
    call = ToolCall("call-1", PRESENT_PLAN, json.dumps({"title": "t", "plan": plan}))
    request = ApprovalRequest("r1", call, "Round heights once", None)
    async with (app := Stage(screen=ApprovalScreen(request))).run_test(size=(80, 24)) as pilot:
        await until_painted(pilot)
        assert app.text.count("Round heights once") == 1


async def test_those_that_come_while_the_question_is_opened_are_counted() -> None:
    class Opening(ApprovalScreen):
        """Others ask once its title is there, and it is not on the screen yet."""

        def on_mount(self) -> None:
            self.queued = 2

    call = ToolCall("call-1", "run_command", "{}")
    app = Stage(screen=Opening(ApprovalRequest("r1", call, "Run", COMMAND)))
    async with app.run_test(size=(60, 20)) as pilot:
        await until_painted(pilot)
        assert "Run this command? · 1 of 3" in app.text


@pytest.mark.parametrize(("key", "hint"), [("w", "send and reject"), ("e", "run once")])
async def test_the_hints_are_those_of_the_line_that_is_written(key: str, hint: str) -> None:
    async with (app := ask()).run_test(size=(60, 20)) as pilot:
        await wait_out_the_guard(pilot)
        await pilot.press(key)
        await hold(pilot)
        assert f"Enter {hint} · Esc back" in app.text
        await pilot.press("escape")
        assert "Esc reject" in app.text
        assert not app.results


@pytest.mark.parametrize("width", [80, 60])
async def test_the_hint_says_how_to_choose_where_there_is_room(width: int) -> None:
    async with (app := ask()).run_test(size=(width, 24)) as pilot:
        await wait_out_the_guard(pilot)
        assert "PgUp PgDn scroll · Esc reject" in app.text
        assert ("↑↓ choose · Enter select · " in app.text) == (width == 80)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["1"], ApprovalAnswer("once")),
        (["y"], ApprovalAnswer("once")),
        (["2"], ApprovalAnswer("session")),
        (["3"], ApprovalAnswer("reject")),
        (["n"], ApprovalAnswer("reject")),
        (["enter"], ApprovalAnswer("reject")),
        (["escape"], ApprovalAnswer("reject")),
        (["a"], ApprovalAnswer("session")),
        (["up", "up", PAUSE, "enter"], ApprovalAnswer("once")),
        (["4", PAUSE, *"no", "enter"], ApprovalAnswer("reject", "no")),
        (["w", PAUSE, *"no", "escape", "up", "up", PAUSE, "enter"], ApprovalAnswer("session")),
    ],
)
async def test_every_answer_has_its_keys(keys: list[str], answer: ApprovalAnswer) -> None:
    async with (app := ask()).run_test() as pilot:
        await wait_out_the_guard(pilot)
        for key in keys:
            await (hold(pilot) if key == PAUSE else pilot.press(key))
        await until_answered(pilot)
        assert app.results == [answer]


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["1"], ApprovalAnswer("once")),
        (["a"], ApprovalAnswer("session")),
        (["n"], ApprovalAnswer("reject")),
        (["4", PAUSE, *"test it", "enter"], ApprovalAnswer("reject", "test it")),
    ],
)
async def test_a_plan_has_answers_of_its_own(keys: list[str], answer: ApprovalAnswer) -> None:
    call = ToolCall("call-1", "present_plan", '{"plan": "# Write a.txt"}')
    app = Stage(screen=ApprovalScreen(ApprovalRequest("r1", call, "Write a.txt", None)))
    async with app.run_test() as pilot:
        await wait_out_the_guard(pilot)
        options = app.screen.query_one(Options)
        rows = [options.draw_row(row, 60).plain for row in range(4)]
        assert [row[4:].rsplit("  ", 1)[0] for row in rows] == [
            "Approve, ask before each edit",
            "Approve and accept edits",
            "Keep planning",
            "Keep planning with feedback",
        ]
        for key in keys:
            await (hold(pilot) if key == PAUSE else pilot.press("space" if key == " " else key))
        await until_answered(pilot)
        assert app.results == [answer]


async def test_the_hints_of_a_plan_speak_as_its_answers_do() -> None:
    call = ToolCall("call-1", "present_plan", '{"plan": "# Write a.txt"}')
    app = Stage(screen=ApprovalScreen(ApprovalRequest("r1", call, "Write a.txt", None)))
    async with app.run_test(size=(60, 20)) as pilot:
        await wait_out_the_guard(pilot)
        assert "Esc keep planning" in app.text
        await pilot.press("w")
        await hold(pilot)
        assert "Enter send and keep planning · Esc back" in app.text
        assert "reject" not in app.text


@pytest.mark.parametrize("key", ["1", "y", "enter", "escape", "up", "4"])
async def test_a_key_pressed_too_early_does_nothing(key: str) -> None:
    async with (app := ask()).run_test() as pilot:
        (await until_painted(pilot)).show(monotonic())
        await pilot.press(key)
        assert app.results == []
        assert app.screen.query_one(Options).cursor == 2


async def test_its_keys_are_told_and_it_still_waits_afterwards() -> None:
    async with (app := ask()).run_test(size=(100, 30)) as pilot:
        await wait_out_the_guard(pilot)
        await pilot.press("f1")
        assert isinstance(app.screen, KeysScreen)
        assert "1, y       Allow once" in app.text
        assert "3, n       Reject" in app.text
        assert "Esc        Reject" in app.text
        assert "Tab        Other scope" in app.text
        assert "Conversation up" in app.text
        await pilot.press("y", "escape")
        await hold(pilot)
        assert app.results == []
        await pilot.press("1")
        await until_answered(pilot)
        assert len(app.results) == 1


async def test_an_enter_that_comes_too_quickly_is_said_not_to_count() -> None:
    async with (app := ask()).run_test(size=(100, 30)) as pilot:
        await wait_out_the_guard(pilot)
        await pilot.press("up", "up", "enter")
        assert "press Enter again" in app.text
        assert app.results == []
        await pilot.press("down")
        assert "press Enter again" not in app.text
        assert "Enter select" in app.text
        await pilot.press("up")
        await pilot.pause(ENTER_PAUSE_SECONDS + 0.05)
        await pilot.press("enter")
        await until_answered(pilot)
        assert app.results == [ApprovalAnswer("once")]


async def test_someone_who_goes_on_typing_does_not_answer() -> None:
    async with (app := ask()).run_test() as pilot:
        (await until_painted(pilot)).show(monotonic())
        for _ in range(4):
            await pilot.press("y")
            await pilot.pause(0.12)
        await hold(pilot)
        assert app.results == []


async def test_a_click_on_an_answer_lets_go_of_a_held_key() -> None:
    async with (app := ask()).run_test() as pilot:
        await wait_out_the_guard(pilot)
        await pilot.press("y")
        await pilot.click(Options, offset=(4, 4))
        line = app.screen.query_one("#approval-command", LineInput)
        await pilot.press("x")
        typed = line.value
        await hold(pilot)
        assert line.value == typed == "make all && make checkx"
        assert app.results == []


async def test_a_click_on_an_answer_gives_it() -> None:
    async with (app := ask()).run_test() as pilot:
        await wait_out_the_guard(pilot)
        await pilot.click(Options, offset=(4, 1))
        await pilot.pause()
        assert app.results == [ApprovalAnswer("session")]


async def test_the_whole_command_can_be_read_however_long() -> None:
    lines = [f"echo {number} {'x' * (number % 97)}" for number in range(300)]
    seen: set[str] = set()
    async with (app := ask(CommandDisplay("\n".join(lines)))).run_test(size=(60, 20)) as pilot:
        await wait_out_the_guard(pilot)
        body = app.screen.query_one(ActionBody)
        assert "ends with: echo 299" in app.text
        before = -1.0
        while body.scroll_y > before:
            seen.update(body.render_line(y).text.rstrip() for y in range(body.size.height))
            before = body.scroll_y
            await pilot.press("pagedown")
        shown = "\n".join(seen)
        assert all(f" echo {number}" in shown for number in range(300))
        assert "300 lines" in app.text
        assert "PgUp for the start" in app.text


async def test_a_folded_line_cannot_pass_for_two() -> None:
    long = "echo " + "a" * 100 + "; rm -rf /"
    async with (app := ask(CommandDisplay(f"true\n{long}"))).run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        rows = [app.screen.query_one(ActionBody).render_line(y).text for y in range(4)]
        assert [row[:2] for row in rows] == ["1 ", "2 ", "┊ ", "┊ "]


async def test_invisible_characters_are_shown_and_named() -> None:
    async with (app := ask(CommandDisplay("cat a\u202etxt\u200b\x1b[2J"))).run_test() as pilot:
        await pilot.pause()
        assert "cat a<U+202E>txt<U+200B>␛[2J" in app.text
        assert "Invisible characters" in app.text


async def test_markup_in_a_command_is_text() -> None:
    async with (
        app := ask(CommandDisplay("echo [@click=app.quit]x[/]"), "[red]title")
    ).run_test() as (pilot):
        await pilot.pause()
        assert "echo [@click=app.quit]x[/]" in app.text
        assert "[red]title" in app.text


async def test_a_diff_and_a_bare_call_are_shown_too() -> None:
    async with (app := ask(DIFF)).run_test() as pilot:
        await pilot.pause()
        assert "1 + new" in app.text
        assert "1 - old" in app.text
        assert "@@" not in app.text
        assert "+++" not in app.text
    async with (app := ask(None)).run_test() as pilot:
        await pilot.pause()
        assert '{"command": "make all"}' in app.text


async def test_all_answers_stay_in_reach_on_a_small_terminal() -> None:
    async with (app := ask(CommandDisplay("x\n" * 100))).run_test(size=(40, 12)) as pilot:
        await wait_out_the_guard(pilot)
        await pilot.press("4")
        await hold(pilot)
        for text in ("Allow once", "3 Reject", "4 Reject with", "What should the agent"):
            assert text in app.text


@pytest.mark.parametrize("width", [40, 61, 80])
async def test_not_one_character_of_a_long_command_is_cut_off(width: int) -> None:
    command = "\n".join("".join(chr(97 + i % 26) for i in range(n, n + 97)) for n in range(30))
    async with (app := ask(CommandDisplay(command))).run_test(size=(width, 20)) as pilot:
        await wait_out_the_guard(pilot)
        body = app.screen.query_one(ActionBody)
        rows: dict[int, str] = {}
        for _ in range(80):
            top = round(body.scroll_y)
            rows |= {top + y: body.render_line(y).text for y in range(body.size.height)}
            await pilot.press("pagedown")
        shown = "".join(row[3:].rstrip() for _, row in sorted(rows.items()))
        assert shown == command.replace("\n", "")


async def test_while_the_prompt_holds_text_letters_go_there() -> None:
    call = ToolCall("call-1", "run_command", "{}")
    note = Note("fix the ")
    screen = ApprovalScreen(ApprovalRequest("r1", call, "Run", COMMAND), draft=note)
    async with (app := Stage(screen=screen)).run_test() as pilot:
        (await until_painted(pilot)).show(monotonic())
        await pilot.pause(TYPING_GUARD_SECONDS + 0.1)
        await pilot.press("y")
        await hold(pilot)
        assert app.results == []
        assert "the y · Enter send · Backspace remove · digits answer" in app.text
        await pilot.press("backspace")
        assert note.text == "fix the "
        await pilot.pause(TYPING_GUARD_SECONDS + 0.1)
        await pilot.press("1")
        await until_answered(pilot)
        assert app.results == [ApprovalAnswer("once")]


async def test_an_arrow_and_enter_answer_while_the_prompt_holds_text() -> None:
    call = ToolCall("call-1", "run_command", "{}")
    screen = ApprovalScreen(ApprovalRequest("r1", call, "Run", COMMAND), draft=Note("fix"))
    async with (app := Stage(screen=screen)).run_test() as pilot:
        await until_painted(pilot)
        await pilot.pause(TYPING_GUARD_SECONDS + 0.1)
        await hold(pilot)
        await pilot.press("down")
        await pilot.press("up")
        await hold(pilot)
        await pilot.press("enter")
        await until_answered(pilot)
    assert app.results == [ApprovalAnswer("reject")]


async def test_enter_sends_what_is_written_and_answers_nothing() -> None:
    call = ToolCall("call-1", "run_command", "{}")
    note = Note("and add a test")
    screen = ApprovalScreen(ApprovalRequest("r1", call, "Run", COMMAND), draft=note)
    async with (app := Stage(screen=screen)).run_test() as pilot:
        await until_painted(pilot)
        await pilot.press("enter", "enter")
        await pilot.pause(0.1)
        assert note.sent == ["and add a test"]
        assert "Queued: the agent reads it after this answer" in app.text
        await pilot.pause(0.3)
        await pilot.press("enter")
        await hold(pilot)
        assert app.results == [], "who presses it again did not mean to reject"
        await pilot.pause(TYPING_GUARD_SECONDS + 0.1)
        await pilot.press("y")
        await until_answered(pilot)
    assert app.results == [ApprovalAnswer("once")]


async def test_what_is_pasted_goes_to_the_prompt() -> None:
    call = ToolCall("call-1", "run_command", "{}")
    note = Note()
    screen = ApprovalScreen(ApprovalRequest("r1", call, "Run", COMMAND), draft=note)
    async with (app := Stage(screen=screen)).run_test() as pilot:
        await wait_out_the_guard(pilot)
        app.post_message(events.Paste("y"))
        await hold(pilot)
        assert app.results == []
        assert note.text == "y"


async def test_what_is_allowed_for_the_session_can_be_narrowed_before() -> None:
    call = ToolCall("call-1", "run_command", "{}")
    offers = ("run_command(git diff *)", "run_command(git diff --stat)")
    request = ApprovalRequest("r1", call, "Run", CommandDisplay("git diff --stat"), offers)
    async with (app := Stage(screen=ApprovalScreen(request))).run_test() as pilot:
        await wait_out_the_guard(pilot)
        assert "Allow “git diff …” for this session  a  Tab other scope" in app.text
        await pilot.press("tab")
        assert "Allow “git diff --stat” for this session" in app.text
        await pilot.click(Options, offset=(app.text.split("2 Allow")[1].index("Tab") + 10, 1))
        await pilot.pause()
        assert "Allow “git diff …” for this session" in app.text
        await pilot.press("a")
        await until_answered(pilot)
    assert app.results == [ApprovalAnswer("session", rule="run_command(git diff *)")]


@pytest.mark.parametrize(
    ("columns", "row"),
    [(40, "Allow “git diff …” for …  a  Tab "), (48, "Allow “git diff …” for this ses…  a  Tab ")],
)
async def test_what_would_be_allowed_is_told_before_the_key_of_another_scope(
    columns: int, row: str
) -> None:
    call = ToolCall("call-1", "run_command", "{}")
    offers = ("run_command(git diff *)", "run_command(git diff --stat)")
    request = ApprovalRequest("r1", call, "Run", CommandDisplay("git diff --stat"), offers)
    async with (app := Stage(screen=ApprovalScreen(request))).run_test(size=(columns, 12)) as pilot:
        await wait_out_the_guard(pilot)
        assert row in app.text


async def test_every_edit_is_allowed_in_words_that_name_the_place_once() -> None:
    call = ToolCall("call-1", "write_file", "{}")
    offers = ("edits",)
    request = ApprovalRequest("r1", call, "Create x.py", CommandDisplay("x"), offers, can_keep=True)
    async with (app := Stage(screen=ApprovalScreen(request))).run_test() as pilot:
        await wait_out_the_guard(pilot)
        assert "Allow all edits for this session" in app.text
        assert "Always allow all edits in this folder" in app.text


async def test_a_command_can_be_changed_before_it_runs() -> None:
    async with (app := ask(CommandDisplay("rm -rf build"))).run_test() as pilot:
        await wait_out_the_guard(pilot)
        await pilot.press("e")
        await hold(pilot)
        await pilot.press(*["backspace"] * 5, *"dist", "enter")
        await pilot.pause()
    assert app.results == [ApprovalAnswer("once", command="rm -rf dist")]


@pytest.mark.parametrize("size", [(20, 6), (30, 8), (40, 10)])
async def test_reject_is_in_view_on_the_smallest_terminal(size: tuple[int, int]) -> None:
    async with (app := ask(CommandDisplay("x\n" * 100))).run_test(size=size) as pilot:
        await wait_out_the_guard(pilot)
        assert "Reject" in app.text


async def test_the_wheel_above_the_question_scrolls_the_conversation() -> None:
    call = ToolCall("call-1", "run_command", "{}")
    above = Above()
    screen = ApprovalScreen(ApprovalRequest("r1", call, "Run", COMMAND), above=above)
    async with Stage(screen=screen).run_test(size=(80, 24)) as pilot:
        await wait_out_the_guard(pilot)
        screen._forward_event(wheel(screen, y=2))
        screen._forward_event(wheel(screen, y=screen.query_one(ActionBody).region.y))
        await pilot.press("ctrl+up")
    assert above.scrolled == ["-3 rows", "-1 page"]


class Above(NothingAbove):
    """Keeps how it was scrolled."""

    def __init__(self) -> None:
        self.scrolled: list[str] = []

    def scroll_rows(self, rows: int) -> None:
        self.scrolled.append(f"{rows} rows")

    def page(self, step: int) -> None:
        self.scrolled.append(f"{step} page")


def wheel(screen: ApprovalScreen, y: int) -> events.MouseScrollUp:
    return events.MouseScrollUp(
        widget=screen,
        x=5,
        y=y,
        delta_x=0,
        delta_y=-1,
        button=0,
        shift=False,
        meta=False,
        ctrl=False,
        screen_x=5,
        screen_y=y,
    )


async def test_a_long_command_is_not_told_twice() -> None:
    command = "echo " + "word " * 60
    async with (app := ask(CommandDisplay(command), first_line(command))).run_test() as pilot:
        await until_painted(pilot)
        assert not app.screen.query_one("#approval-title").display
        assert app.text.count("echo word") == 1


LONG_DIFF = DiffDisplay(
    "a.py",
    "--- a/a.py\n+++ b/a.py\n@@ -8,9 +8,8 @@\n one = 1\n two = 2\n three = 3\n"
    "-whole = 1\n-tenths = 2\n-both = 3\n+rounded = 4\n+shown = 5\n four = 4\n five = 5\n six = 6\n"
    "@@ -38,4 +37,5 @@\n seven = 7\n eight = 8\n nine = 9\n+ten = 10\n",
)


@pytest.mark.parametrize("height", [24, 20, 18])
async def test_what_is_added_is_in_view_at_once_where_the_diff_is_cut(height: int) -> None:
    async with (app := ask(LONG_DIFF)).run_test(size=(80, height)) as pilot:
        await until_painted(pilot)
        await pilot.pause(0.2)
        for words in ("whole = 1", "rounded = 4", "shown = 5", "Reject with feedback"):
            assert words in app.text
        assert "PgDn for more" in app.text
        await pilot.press(*["pagedown"] * 8)
        await pilot.pause()
        assert "ten = 10" in app.text
        assert "PgDn for more" not in app.text
        assert "PgUp for the start" in app.text
        await pilot.press(*["pageup"] * 8)
        await pilot.pause()
        assert "one = 1" in app.text
        await pilot.resize_terminal(80, height - 1)
        await pilot.pause(0.2)
        assert "one = 1" in app.text  # who scrolled stays where they are


async def test_of_a_change_higher_than_its_room_the_first_added_line_is_in_view() -> None:
    removed = "".join(f"-old {number}\n" for number in range(6))
    added = "".join(f"+new {number}\n" for number in range(9))
    diff = f"--- a/a.py\n+++ b/a.py\n@@ -8,9 +8,12 @@\n one\n two\n three\n{removed}{added}"
    async with (app := ask(DiffDisplay("a.py", diff))).run_test(size=(80, 24)) as pilot:
        await until_painted(pilot)
        await pilot.pause(0.2)
        assert "old 0" in app.text
        assert "new 0" in app.text


async def test_rows_from_the_cache_count_as_drawn_in_their_width() -> None:
    """Or no answer is taken, Esc included, once a terminal was resized there and back."""
    async with (app := ask(DIFF)).run_test(size=(60, 20)) as pilot:
        await until_painted(pilot)
        body = screen_of(app).query_one(ActionBody)
        body.drawn_width = 98  # a frame of another size was drawn in between
        body.render_line(0)
        assert body.drawn_width == body.scrollable_content_region.width
