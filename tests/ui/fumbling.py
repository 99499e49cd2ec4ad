"""Every screen of the program, opened while the window is resized and keys and clicks come.

Textual paints nothing where there is no terminal, so each step paints the whole screen itself.

    python -m tests.ui.fumbling [first seed] [seeds] [screens of each]
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.errors import NoWidget
from textual.pilot import OutOfBounds

from agent_tui.config import McpSettings
from agent_tui.config.writing import set_value
from agent_tui.core.events import Question
from agent_tui.providers.presets import PRESETS
from agent_tui.runtime.connect.tool_servers import ToolServers
from agent_tui.ui.commands.table import COMMANDS
from agent_tui.ui.conversation.conversation import Conversation
from agent_tui.ui.flows.command_runner import start_flow
from agent_tui.ui.flows.prompt import view_block
from agent_tui.ui.screens.dialogs.answer_guard import TYPING_GUARD_SECONDS
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.grant import GrantScreen
from agent_tui.ui.screens.dialogs.sheet import Sheet
from agent_tui.ui.screens.dialogs.trust import TrustScreen
from agent_tui.ui.screens.dialogs.wide_folder import WideFolderScreen
from tests.mcp.stage import odd
from tests.screenshots.buoy import draw_buoy
from tests.ui.test_chat_acts import Desk, desk
from tests.waiting import until

SIZES = ((40, 12), (60, 20), (80, 24), (120, 40), (200, 60), (300, 100))
_KEYS = (
    *("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "tab", "shift+tab"),
    *("enter", "space", "slash", "question_mark", "f1", "f2", "f3", "f4", "f5", "f8", "f9"),
    *("ctrl+f", "ctrl+t", "ctrl+o", "ctrl+p", "alt+s", "alt+c", "alt+i", "alt+g", "alt+p"),
    *"abcdefghijklmnopqrstuvwxyz/1234[]+-",
    *("backspace", "ctrl+u", "ctrl+s", "ctrl+r", "escape"),
)
_ARGUMENTS = {
    "btw": "which file is it?",
    "why": "tidewatch/report.py:3",
    "search": "tide",
    "compact": "",
    "goto": "",
}
_NOT_FUMBLED = {"exit": "ends it", "suspend": "needs a shell"}
_NOBODY = "http://127.0.0.1:9/v1"
"""Where no server listens: what is chosen to connect is asked, and refuses."""
_MOST_ESC = 14
_TALKS = ("Fix the bug", "Send a D-Mail", "Explain how the tide is calculated")
_REST_SECONDS = 0.02

Opener = Callable[[Desk], Awaitable[object]]


def _command(name: str) -> Opener:
    async def run(here: Desk) -> None:
        here.app.chat_screen.run_command(name, _ARGUMENTS.get(name, ""))

    return run


def _flow(make: Callable[[Conversation], Awaitable[Any]]) -> Opener:
    async def run(here: Desk) -> None:
        start_flow(here.chat, partial(make, here.chat))

    return run


def _keys(*keys: str) -> Opener:
    async def run(here: Desk) -> None:
        here.chat.timeline.focus()
        await here.pilot.press(*keys)

    return run


def _approve(prompt: str) -> Opener:
    async def run(here: Desk) -> None:
        """A turn that asks for what it does; nothing is allowed beforehand."""
        here.session.approvals.set_mode("ask")
        here.chat.prompts.send(prompt)
        await here.until(lambda: isinstance(here.app.screen, Sheet) or not here.chat.runner.is_busy)

    return run


async def _list_servers(here: Desk) -> None:
    """MCP servers as they are: one that works, one with many tools, one that dies."""
    engine = here.chat.holder.require_engine()
    if engine.tool_servers is None:
        servers = {way.split()[0]: odd(way) for way in ("fine", "many", "dies at once")}
        mcp = McpSettings(servers=servers)
        engine.tool_servers = ToolServers(engine.settings.model_copy(update={"mcp": mcp}))
        await engine.settle_tools()
    here.app.chat_screen.run_command("mcp")


async def _ask(here: Desk) -> None:
    here.chat.requests.ask(Question("q1", "Which store?\nBoth work.", ("SQLite", "Plain files")))


async def _browse(here: Desk) -> None:
    """A log by itself, read-only, from the list of all sessions."""
    here.app.chat_screen.run_command("sessions")
    await here.until(lambda: here.app.screen is not here.app.chat_screen)
    await here.pilot.press("v")


OPENERS: dict[str, Opener] = {
    **{each.name: _command(each.name) for each in COMMANDS if each.opens_screen},
    **{name: _command(name) for name in ("keys", "theme", "export", "rename", "background")},
    "block menu": _keys("up", "enter"),
    "viewer": _keys("up", "up", "v"),
    "subagent": _keys("home", "enter"),
    "picture": _flow(lambda chat: view_block(chat, "", (draw_buoy(),))),
    "long text": _flow(lambda chat: view_block(chat, "# Tide\n\n" + "a | b\n" * 3_000)),
    "trust": _flow(lambda chat: chat.app.push_screen_wait(TrustScreen("/w", ["AGENTS.md"] * 9))),
    "wide folder": _flow(lambda chat: chat.app.push_screen_wait(WideFolderScreen("/home", "/w"))),
    "confirm": _flow(lambda chat: chat.app.push_screen_wait(ConfirmScreen("Go?", "So.", "Go"))),
    "approval of a command": _approve("Run the tests"),
    "approval of an edit": _approve("Fix the bug"),
    "mcp": _list_servers,
    "question": _ask,
    "browse": _browse,
}


class Fumbler:
    """Somebody who presses anything; what must hold is looked at after each screen."""

    def __init__(self, here: Desk, seed: int) -> None:
        self.here, self.app = here, here.app
        self._dice = random.Random(seed)
        self.trail: list[str] = []
        self._told: list[str] = []
        failure = here.chat.notices.failure

        def keep(sentence: str, *rest: Any, **named: Any) -> Any:
            self._told.append(sentence)
            return failure(sentence, *rest, **named)

        here.chat.notices.failure = keep  # type: ignore[method-assign]

    async def live_through(self, names: Iterable[str], *, steps: int = 8) -> None:
        """Open each of these, fumble in it, and come back; AssertionError where that fails."""
        for name in names:
            self.trail = [name]
            await OPENERS[name](self.here)
            for _ in range(steps):
                await self._step()
            await self._come_back()

    async def _step(self) -> None:
        dice, size = self._dice, self.app.size
        match dice.randrange(5):
            case 0 | 1:
                await self._resize(dice.choice(SIZES))
            case 2:
                at = dice.randrange(size.width), dice.randrange(size.height)
                self.trail.append(f"click {at}")
                with contextlib.suppress(OutOfBounds, NoWidget):  # it became smaller meanwhile
                    await self.here.pilot.click(offset=at)
            case _:
                key = dice.choice(_KEYS)
                self.trail.append(key)
                await self.here.pilot.press(key)
        self._paint()
        if dice.randrange(2):
            await self.here.pilot.pause(_REST_SECONDS)
            self._paint()

    async def _resize(self, size: tuple[int, int]) -> None:
        self.trail.append(f"{size[0]}x{size[1]}")
        if self._dice.randrange(2):
            await self.here.pilot.resize_terminal(*size)
        else:  # and what comes next comes before it is laid out
            resize = self.here.pilot.resize_terminal(*size)
            task = asyncio.ensure_future(resize)
            await asyncio.sleep(0)
            self._paint()
            await task

    def _paint(self) -> None:
        for screen in self.app.screen_stack[-1:]:
            if screen.is_attached and screen.size:
                compositor = screen._compositor
                compositor.render_full_update().render_segments(self.app.console)

    async def _come_back(self) -> None:
        """Nothing but Esc leads back to an empty prompt, with nothing under way."""
        here, app = self.here, self.app
        self.trail.append("back:")
        for _ in range(_MOST_ESC):
            await self._rest()
            if app.screen is app.chat_screen and here.chat.prompt_box.is_writing:
                break
            self.trail.append(type(app.screen).__name__)
            if isinstance(app.screen, Sheet | GrantScreen):  # what comes too early makes it wait
                await here.pilot.pause(TYPING_GUARD_SECONDS + 0.1)
            await here.pilot.press("escape")
            self._paint()
        assert app.screen is app.chat_screen, f"Esc does not lead back: {self._where()}"
        assert here.chat.prompt_box.is_writing, f"nothing can be typed: {self._where()}"
        here.chat.prompt_box.set_text("")
        await self._check()

    async def _check(self) -> None:
        here, app = self.here, self.app
        await here.pilot.press("x")
        typed = here.chat.prompt_box
        await until(
            here.pilot,
            lambda: "x" in typed.text or app._exit,
            lambda: f"x is lost: {self._where()}",
        )
        assert not app._exit, self._where()
        here.chat.prompt_box.set_text("")
        if here.chat.runner.is_busy:
            await here.chat.runner.interrupt()
        await here.until(lambda: not here.chat.runner.is_busy)
        here.session.approvals.set_mode("auto")
        await self._rest()
        flows = [w for w in app.chat_screen.workers if w.group == "flow" and not w.is_finished]
        assert not flows, f"still open: {flows} after {self.trail}"
        assert not app._batch_count, f"it draws nothing any longer: {self.trail}"
        wrong = [each for each in self._told if "Internal error" in each]
        assert not wrong, f"{wrong} after {self.trail}"
        timeline = here.chat.timeline
        as_wide = timeline.scrollable_content_region.width
        assert not timeline.display or timeline._columns == as_wide, f"narrow: {self.trail}"
        before = self._conversation()
        app.screen.refresh(layout=True)
        await self._rest()
        after = self._conversation()
        is_as_high = len(before) == len(after)  # a notice that went meanwhile leaves it its row
        assert not is_as_high or before == after, f"stale after {self.trail}:\n{before}\n{after}"

    def _where(self) -> str:
        """Where it stands, and what led there: after a signal the program has ended by itself."""
        if self.app._exit:
            return f"the program has ended, after {self.trail}"
        above = [type(screen).__name__ for screen in self.app.screen_stack]
        return f"in {above} at {self.app.focused!r}, after {self.trail}"

    def _conversation(self) -> list[str]:
        """The rows of the conversation that are in view."""
        timeline = self.here.chat.timeline
        return [strip.text.rstrip() for strip in timeline.strips_in_view(0, timeline.view_height)]

    async def _rest(self) -> None:
        for _ in range(3):
            await self.here.pilot.pause(_REST_SECONDS)


async def prepare(here: Desk, talks: int = len(_TALKS)) -> None:
    """Have something in every list: edits, errors, a long answer, an archive."""
    for text in _TALKS[:talks]:
        async with asyncio.timeout(60):
            await here.say(text)
    here.chat.runner.start(lambda session: session.operations.undo())
    await here.until(lambda: not here.chat.runner.is_busy)


async def fumble(
    folder: Path, seed: int, names: Iterable[str], *, steps: int = 8, talks: int = len(_TALKS)
) -> None:
    """One life with a seed; raises AssertionError at the first thing that is not as it should."""
    for name in PRESETS:
        set_value(folder / "home" / "config.toml", ["providers", name, "base_url"], _NOBODY)
    with pytest.MonkeyPatch.context() as patch:
        async with desk(folder, patch) as here:
            await prepare(here, talks)
            await Fumbler(here, seed).live_through(names, steps=steps)


def names_for(seed: int, count: int = len(OPENERS)) -> list[str]:
    """Which screens a seed opens, in which order."""
    names = sorted(OPENERS.keys() - _NOT_FUMBLED.keys())
    random.Random(seed).shuffle(names)
    return names[:count]


def main(first: int = 0, seeds: int = 10, count: int = 15) -> None:
    """Play through many seeds, and say what went wrong in each."""
    for seed in range(first, first + seeds):
        with tempfile.TemporaryDirectory() as folder:
            try:
                asyncio.run(fumble(Path(folder), seed, names_for(seed, count)))
                print(seed, "ok", flush=True)
            except BaseException as error:
                print(seed, type(error).__name__, error, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
