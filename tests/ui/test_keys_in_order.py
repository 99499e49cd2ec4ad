"""Keys that arrive together act in the order in which they were typed, wherever that is."""

from __future__ import annotations

import asyncio
import time

import pytest
from textual._xterm_parser import XTermParser
from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import AppBlur, Event, Key, MouseMove
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import TextArea
from textual.worker import Worker

from agent_tui.resources import stylesheet
from agent_tui.ui.keys_in_order import KeyPassed, KeysInOrder
from agent_tui.ui.terminal_replies import ReplyParser
from agent_tui.ui.themes.theme import DARK
from agent_tui.ui.themes.themed import ThemedApp
from agent_tui.ui.widgets.prompt.line_input import LineInput
from agent_tui.ui.widgets.prompt.prompt_box import PromptBox
from tests.ui.stage import WIDGETS
from tests.waiting import settle, until

TYPED = [
    ("\x7f\x7f\x7fwo", "hewo"),
    ("\x1b[D\x1b[DX", "helXlo"),
    ("\x1b[HX\x1b[FY\x7fZ", "XhelloZ"),
    ("\x01\x0bnew", "new"),
    ("\x7f\x1b[200~pasted\x1b[201~\x7fx", "hellpastex"),
]


class Question(ModalScreen[None]):
    """Closes itself on F2."""

    BINDINGS = [("f2", "dismiss", "leave")]

    def compose(self) -> ComposeResult:
        yield LineInput()


class Deaf(LineInput):
    """Is not done with a key until it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.is_let = asyncio.Event()

    async def on_key(self) -> None:
        await self.is_let.wait()


class Desk(KeysInOrder[None], ThemedApp[None]):
    """One field to type in, and F3 for the program."""

    BINDINGS = [Binding("f3", "count", priority=True)]

    CSS_PATH = [
        stylesheet("base.tcss"),
        *(stylesheet(f"widgets/{name}.tcss") for name in WIDGETS),
    ]

    def __init__(self, field: Widget) -> None:
        super().__init__()
        self.theme = DARK.name
        self.field = field
        self.presses = 0

    def compose(self) -> ComposeResult:
        yield self.field

    def on_mount(self) -> None:
        self.field.focus()

    def action_count(self) -> None:
        self.presses += 1

    def type_at_once(self, keys: str) -> None:
        """What one read of the terminal brings."""
        for event in XTermParser().feed(keys):
            self.post_message(event)

    @property
    def value(self) -> str:
        match self.field:
            case LineInput():
                return self.field.value
            case TextArea() | PromptBox():
                return self.field.text
        raise TypeError


class Watched(Desk):
    """Notes where the mouse was."""

    def __init__(self, field: Widget) -> None:
        super().__init__(field)
        self.moves: list[int] = []

    async def on_event(self, event: Event) -> None:
        if isinstance(event, MouseMove):
            self.moves.append(event.screen_x)
        await super().on_event(event)


@pytest.mark.parametrize("make", [LineInput, TextArea, PromptBox], ids=lambda make: make.__name__)
@pytest.mark.parametrize(("keys", "left"), TYPED)
async def test_editing_keys_and_letters_that_come_at_once_act_in_their_order(
    make: type[Widget], keys: str, left: str
) -> None:
    async with (app := Desk(make())).run_test() as pilot:
        app.type_at_once("hello")
        await until(pilot, lambda: app.value == "hello")
        app.type_at_once(keys)
        await settle(pilot)
        assert app.value == left


async def test_a_key_with_alt_types_nothing_in_a_line() -> None:
    async with (app := Desk(LineInput())).run_test() as pilot:
        for event in ReplyParser().feed("a\x1bj\x1b1b"):
            app.post_message(event)
        await until(pilot, lambda: app.value.endswith("b"))
        assert app.value == "ab"


async def test_a_thousand_keys_at_once_all_act() -> None:
    async with (app := Desk(LineInput())).run_test() as pilot:
        app.type_at_once("ab\x7f" * 400)
        await until(pilot, lambda: app._follower is None and not app._typed and app.value)
        assert app.value == "a" * 400


async def test_keys_behind_one_that_closes_its_screen_act_behind_it() -> None:
    async with (app := Desk(LineInput())).run_test() as pilot:
        app.push_screen(Question())
        await settle(pilot)
        app.type_at_once("yes\x1bOQab\x7fc")
        await until(pilot, lambda: app.value == "ac", "the keys after the question were lost")


class Opening(Desk):
    """F3 opens a screen, once what it shows was read."""

    def __init__(self, field: Widget) -> None:
        super().__init__(field)
        self.reading: Worker[None] | None = None
        self.is_read = asyncio.Event()

    @property
    def on_its_way(self) -> object | None:
        return None if self.reading is None or self.reading.is_finished else self.reading

    def action_count(self) -> None:
        self.reading = self.run_worker(self._open())

    async def _open(self) -> None:
        await self.is_read.wait()
        self.push_screen(Question())


async def test_keys_behind_one_that_opens_a_screen_are_typed_there() -> None:
    async with (app := Opening(LineInput())).run_test() as pilot:
        app.type_at_once("\x1bORab")
        await settle(pilot)
        app.is_read.set()
        await until(pilot, lambda: isinstance(app.screen, Question))
        await until(pilot, lambda: app.screen.query_one(LineInput).value == "ab")
        assert app.value == ""


async def test_keys_do_not_wait_long_for_a_screen() -> None:
    async with (app := Opening(LineInput())).run_test() as pilot:
        app.type_at_once("\x1bORab")
        await until(pilot, lambda: app.value == "ab", "the keys wait for ever")


async def test_a_key_that_takes_for_ever_does_not_keep_others_from_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent_tui.ui.keys_in_order._PATIENCE_LOOKS", 2)
    app = Desk(deaf := Deaf())
    async with app.run_test():
        app.type_at_once("a\x1bOR")
        await until(None, lambda: app.presses == 1, "the key waits for ever")
        deaf.is_let.set()


@pytest.mark.parametrize("make", [LineInput, TextArea, PromptBox], ids=lambda make: make.__name__)
async def test_a_key_is_painted_though_the_frame_before_it_is_not_over(make: type[Widget]) -> None:
    async with (app := Desk(make())).run_test() as pilot:
        await settle(pilot)
        frames = app.screen._update_timer
        frames.stop()  # as if the next frame were an hour away
        app.type_at_once("x")
        await until(None, lambda: app.value == "x")
        await until(None, lambda: not app.screen._dirty_widgets, "it waits for the frame")
        assert not app.field._repaint_required


@pytest.mark.parametrize("is_forwarded", [True, False])
async def test_a_key_that_comes_while_the_program_ends_does_no_harm(*, is_forwarded: bool) -> None:
    """On a busy machine screens were gone before the key had passed: it ended in a traceback."""
    async with (app := Desk(LineInput())).run_test() as pilot:
        await settle(pilot)
        key = Key("x", "x")
        key._forwarded = is_forwarded
        screens = app._screen_stack.copy()
        app._screen_stack.clear()
        await app.on_event(key)
        app._follower = KeyPassed()
        await app.on_key_passed(app._follower)
        app._screen_stack.extend(screens)
        await settle(pilot)
        assert app.value == ""


class Commands(Desk):
    """A prompt with Vim's keys, and Alt+U for the program."""

    BINDINGS = [Binding("alt+u", "count", priority=True)]

    def __init__(self) -> None:
        self.box = PromptBox()
        super().__init__(self.box)

    def on_mount(self) -> None:
        super().on_mount()
        self.box.use_vim()

    def type_at_once(self, keys: str) -> None:
        for event in ReplyParser().feed(keys):
            self.post_message(event)


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        ("\x1bx", "high wate"),
        ("\x1b0x", "igh water"),
        ("\x1b0dw", "water"),
        ("\x1bbx", "high ater"),
        ("\x1bD", "high wate"),
        ("\x1b0f\x1b$x", "high wate"),
        ("\x1bI>", ">high water"),
        ("\x1b^x", "igh water"),
        ("\x1bu", ""),
        ("s\x1b0iA\x1bx", "high waters"),
    ],
)
async def test_a_letter_in_one_read_with_esc_is_a_command_of_vim(keys: str, left: str) -> None:
    async with (app := Commands()).run_test() as pilot:
        await settle(pilot)
        app.type_at_once("high water")
        await until(pilot, lambda: app.value == "high water")
        app.type_at_once(keys)
        await until(pilot, lambda: app.value == left)
        assert app.presses == 0


@pytest.mark.parametrize("typed", ["", "high\x1b[27u"], ids=["nothing typed", "normal mode"])
async def test_a_command_keeps_its_key_with_alt_beside_vim(typed: str) -> None:
    async with (app := Commands()).run_test() as pilot:
        await settle(pilot)
        app.type_at_once(f"{typed}\x1bu")
        await until(pilot, lambda: app.presses == 1)
        assert app.value == typed[:4]


async def test_a_key_with_alt_that_comes_as_one_is_none_of_vims() -> None:
    async with (app := Commands()).run_test() as pilot:
        await settle(pilot)
        app.type_at_once("high\x1b[120;3ux\x1b[117;3u")
        await until(pilot, lambda: app.presses == 1)
        assert app.value == "highx"


async def test_without_vim_keys_with_alt_are_what_they_were() -> None:
    app = Commands()
    async with app.run_test() as pilot:
        app.box._prompt._vim = None
        await settle(pilot)
        app.type_at_once("high water\x1bbX\x1bfY\x1b$Z\x1b0\x1bx\x1bu")
        await until(pilot, lambda: app.presses == 1)
        assert app.value == "high XwaterY$Z"


async def test_a_terminal_that_is_left_stays_left_though_keys_before_that_act_later() -> None:
    async with (app := Desk(LineInput())).run_test() as pilot:
        app.type_at_once("ab")
        app.post_message(AppBlur())
        await until(pilot, lambda: app.value == "ab" and not app._typed)
        await settle(pilot)
        assert not app.app_focus


async def test_a_wheel_that_spins_and_a_mouse_that_moves_leave_others_their_turn() -> None:
    async with (app := Desk(TextArea("tide\n" * 400))).run_test() as pilot:
        started, longest = time.monotonic(), 0.0
        spun = "".join(
            f"\x1b[<{64 + n % 2};4;{n % 9 + 1}M\x1b[<35;{n % 70 + 1};3M" for n in range(3_000)
        )
        for event in ReplyParser().feed(spun):
            app.post_message(event)
        while not app._message_queue.empty():
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)
        await settle(pilot)
        print(f"{time.monotonic() - started:.1f} s, the loop held for {longest * 1000:.0f} ms")
        assert longest < 0.2


async def test_of_moves_that_wait_the_last_is_handled() -> None:
    async with (app := Watched(LineInput())).run_test() as pilot:
        for event in ReplyParser().feed("".join(f"\x1b[<35;{n + 1};3M" for n in range(60))):
            app.post_message(event)
        await until(pilot, lambda: app.moves[-1:] == [59])
        assert len(app.moves) < 5
