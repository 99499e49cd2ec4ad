"""The whole program, engine, store and tools included, with everything that varies held still.

The clock stands until a test moves it, ids are counted, the demo works in a folder of a fixed
name, tools end in the order in which they began, streams run at full speed or halt at a word, and
what Python prints has no timings in it.
"""

from __future__ import annotations

import asyncio
import fcntl
import itertools
import os
import secrets
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import time_machine
from textual import _wait
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, TextArea

from agent_tui.agent import reply
from agent_tui.config import Settings
from agent_tui.core.events import StreamPart, TextDelta
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.demo import scripted
from agent_tui.providers.demo.scenario import Reply, Scenario, Scene, load_scenario
from agent_tui.providers.demo.scripted import Scripted
from agent_tui.runtime.building.assembling import Run
from agent_tui.runtime.connect.connections import Connections
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.starting.launch import Launch
from agent_tui.runtime.stored import own_process
from agent_tui.sessions.store import SessionStore
from agent_tui.tools import background, read_file, running_commands
from agent_tui.tools.text_file import read_bytes
from agent_tui.ui.app import AgentTui
from agent_tui.ui.conversation import notices
from agent_tui.ui.renderers.languages import Languages
from agent_tui.ui.screens.dialogs import sheet
from agent_tui.ui.screens.dialogs.answer_guard import AnswerGuard
from agent_tui.ui.screens.dialogs.grant import GrantScreen
from agent_tui.ui.screens.dialogs.sheet import Sheet
from agent_tui.ui.screens.dialogs.typed_answers import TypedAnswers
from agent_tui.ui.widgets.bars import status_line
from agent_tui.ui.widgets.bars.status_line import StatusLine
from agent_tui.ui.widgets.panes.preview import Preview
from agent_tui.ui.widgets.timeline import open_answer
from agent_tui.ui.widgets.timeline.timeline import Timeline
from agent_tui.workspace import capture
from tests import waiting

BEGIN = datetime(2026, 3, 21, 9, 40, tzinfo=UTC)
_STILL = 4
_SCREENS = 1_000
_GUARD_SECONDS = 0.05
_PYTHON = """#!/bin/sh
export PYTHONNODEBUGRANGES=1 PYTHONDONTWRITEBYTECODE=1 NO_COLOR=1
printed=$("{python}" "$@" 2>&1)
code=$?
printf '%s\\n' "$printed" | sed -E 's/ in [0-9]+\\.[0-9]+s$/ in 0.004s/'
exit $code
"""


class Clock:
    """Wall clock and stopwatch of the program: both stand still until they are moved."""

    def __init__(self, wall: time_machine.Traveller) -> None:
        self._wall = wall
        self._seconds = 1_000.0

    def monotonic(self) -> float:
        """What the program's stopwatch shows."""
        return self._seconds

    def let_pass(self, **duration: float) -> None:
        """Let time pass, for example ``minutes=3``."""
        passed = timedelta(**duration)
        self._wall.shift(passed)
        self._seconds += passed.total_seconds()

    def set_back(self, **duration: float) -> None:
        """Go to a time before the beginning."""
        self._wall.move_to(BEGIN - timedelta(**duration))


class Halting(Scripted):
    """A scripted model that falls silent for ever once it has said a certain word."""

    def __init__(self, scenario: Scenario, *, at: str) -> None:
        super().__init__(scenario)
        self._at = at

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        said = ""
        async for part in super().stream(request):
            yield part
            said += part.text if isinstance(part, TextDelta) else ""
            if self._at in said:
                await asyncio.Event().wait()


class Exhibit(AgentTui):
    """The app; when its picture was taken it leaves as it does for a user, with nothing open."""

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self.animation_level = "none"
        self.looks: dict[str, str] = {}
        self._accepted: str | None = None
        self._picture: object = None

    def keep_picture(self) -> None:
        """Show the screen as it is now, however it is looked at after that."""
        self._accepted = self.export_screenshot(title=self.title, simplify=True)

    def exit(self, result: Any = None, return_code: int = 0, message: Any = None) -> None:
        if self._picture is None:
            self._picture = self._accepted or result
            self.run_worker(self.leave())
        else:
            super().exit(self._picture)  # type: ignore[arg-type]


async def read_in_turn(open_file: Callable[[], int], path: str) -> bytes:
    """Read a file in one go, so that of calls side by side the order is always the same."""
    return await background.run_off_loop(lambda _: read_bytes(open_file(), Path(path)))


class Stage:
    """Where a picture is set up: seeds for sessions of the past, and the app to show."""

    def __init__(
        self, home: Path, folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.home = home
        self.folder = folder
        self.clock = clock
        self._monkeypatch = monkeypatch

    @classmethod
    @contextmanager
    def set_up(cls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[Stage]:
        """A stage of one test; two runs of the same test on one machine wait for each other."""
        folder = Path("/tmp") / f"agent-tui-demo-{zlib.crc32(name.encode()):08x}"
        with (
            folder.with_suffix(".lock").open("w") as lock,
            time_machine.travel(BEGIN, tick=False) as wall,
            monkeypatch.context() as patch,
            ThreadPoolExecutor(1) as one_by_one,
        ):
            fcntl.flock(lock, fcntl.LOCK_EX)
            clock = Clock(wall)
            _hold_environment(patch, tmp_path)
            _hold_program(patch, folder, clock)
            patch.setattr(running_commands, "ThreadPoolExecutor", lambda *_, **__: one_by_one)
            patch.setattr(background, "threads", lambda: one_by_one)
            patch.setattr(read_file, "read_bytes_async", read_in_turn)
            (tmp_path / "home").mkdir()
            yield cls(tmp_path / "home", folder, clock, patch)
            shutil.rmtree(folder, ignore_errors=True)
        time.tzset()

    def demo(self, *scenes: Scene, halt_at: str = "", **options: Any) -> Exhibit:
        """The app on its embedded demo; ``halt_at`` lets the stream stop at a word.

        ``scenes`` are played beside those that the demo knows.
        """
        known = load_scenario()
        played = (*scenes, *known.scenes)
        scenario = replace(known, chunks_per_second=0.0, pause_seconds=0.0, scenes=played)
        self._monkeypatch.setattr(scripted, "load_scenario", lambda _path=None: scenario)
        if halt_at:
            self._monkeypatch.setattr(scripted, "Scripted", lambda s: Halting(s, at=halt_at))
        return Exhibit(Launch(cwd=self.home, demo=True, **options))

    def connected(self, base_url: str, cwd: Path | None = None, **options: Any) -> Exhibit:
        """The app on a server at ``base_url``."""
        self._monkeypatch.setenv("OPENAI_BASE_URL", base_url)
        return Exhibit(Launch(cwd=cwd or Path("/home/ada/tidewatch"), **options))

    def make_project(self) -> Path:
        """A folder that is there, of a fixed name."""
        project = self.folder / "tidewatch"
        project.mkdir(parents=True)
        return project

    def remember(
        self,
        cwd: str,
        prompt: str,
        *replies: Reply,
        title: str = "",
        model: str = "gpt-4.1",
        at: str = "demo",
    ) -> str:
        """Have a conversation now, before the program is started; returns the session's id.

        ``at`` names the folder that keeps it: a demo has one of its own.
        """
        scenario = Scenario(model=model, window=128_000, script=replies)
        return asyncio.run(self._converse(Path(cwd), prompt, scenario, title, self.home / at))

    async def _converse(
        self, cwd: Path, prompt: str, scenario: Scenario, title: str, home: Path
    ) -> str:
        engine = Engine(
            Run(
                launch=Launch(cwd=cwd, yolo=True),
                settings=Settings(),
                store=SessionStore(home),
                connections=Connections(
                    Settings(), Scripted(scenario), scenario.model, scenario.window
                ),
                workspace=cwd,
            )
        )
        session = await engine.new_session()
        await session.run_turn(prompt)
        if title:
            await session.operations.rename(title)
        session_id = session.session_id
        await engine.close_session(session)
        await engine.aclose()
        return session_id


def _hold_still(screen: Screen[Any]) -> None:
    """Let no cursor blink, and no scroll bar guess."""
    for field in screen.query(TextArea):
        field.cursor_blink = False
    for line in screen.query(Input):
        line.cursor_blink = False
    for status in screen.query(StatusLine):
        status.refresh()  # its clock is drawn 4 times a second: a still screen is seen sooner
    for timeline in screen.query(Timeline):
        _count_rows(timeline)


def _count_rows(timeline: Timeline) -> None:
    """Have a timeline count the rows that nobody has seen: its scroll bar guesses at them."""
    timeline.draw_ahead(-_SCREENS)
    timeline.draw_ahead(_SCREENS)
    bar = timeline.vertical_scrollbar
    bar.window_virtual_size, bar.position = timeline.virtual_size.height, timeline.scroll_y


def _hold_environment(patch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AGENT_TUI_MODEL", "NO_COLOR"):
        patch.delenv(name, raising=False)
    programs = tmp_path / "bin"
    programs.mkdir()
    python = programs / "python3"
    python.write_text(_PYTHON.format(python=sys.executable))
    python.chmod(0o755)
    patch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    patch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    patch.setenv("TZ", "UTC")
    for name, value in (("USER", "ada"), ("LOGNAME", "ada"), ("SHELL", "/bin/bash")):
        patch.setenv(name, value)
    patch.setattr("platform.system", lambda: "Linux")
    patch.setattr("platform.machine", lambda: "x86_64")
    time.tzset()


def _hold_program(patch: pytest.MonkeyPatch, folder: Path, clock: Clock) -> None:
    numbers = itertools.count(0xA11CE0)
    patch.setattr(secrets, "token_hex", lambda size=16: f"{next(numbers):0{2 * size}x}")
    make_folder = tempfile.mkdtemp

    def make_known_folder(suffix: Any = None, prefix: Any = None, dir: Any = None) -> str:  # noqa: A002
        if prefix != "agent-tui-demo-":
            return str(make_folder(suffix, prefix, dir))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return str(folder)

    patch.setattr(tempfile, "mkdtemp", make_known_folder)
    patch.setattr(status_line, "monotonic", clock.monotonic)
    patch.setattr(reply, "monotonic", clock.monotonic)
    patch.setattr(open_answer, "monotonic", clock.monotonic)
    stopwatch = SimpleNamespace(perf_counter=clock.monotonic)
    patch.setattr(capture, "time", stopwatch)  # the log holds what a capture took
    ids = itertools.count(1)
    random = os.urandom

    def number_records(size: int) -> bytes:
        return next(ids).to_bytes(size, "big") if size == 10 else random(size)  # a record's id

    patch.setattr(os, "urandom", number_records)
    find = Languages.find

    def find_loaded(languages: Languages, name: str) -> Any:
        if find(languages, name) is None and languages.missing:
            languages.load_missing()
        return find(languages, name)

    patch.setattr(Languages, "find", find_loaded)  # else colours come when a thread is ready
    _take_answers_at_once(patch)
    patch.setattr(own_process, "_NICENESS", 0)  # a picture waits for the index
    # A key need not be waited for until a turn at work leaves the processor alone: what is waited
    # for is named, and a picture is taken of what stands still.
    patch.setattr(_wait, "SLEEP_GRANULARITY", 0.01)
    patch.setattr(_wait, "SLEEP_IDLE", 0.004)
    patch.setattr(notices, "_HINT_SECONDS", 3_600)  # else a slow machine draws another picture


def _take_answers_at_once(patch: pytest.MonkeyPatch) -> None:
    """Nobody presses by mistake here: a second for each answer was a third of most pictures."""
    make = TypedAnswers.__init__

    def make_quick(
        answers: TypedAnswers, guard: AnswerGuard, keys: Any, holds: Any, has_draft: Any
    ) -> None:
        make(answers, guard, keys, [0.0] * len(holds), has_draft)

    patch.setattr(TypedAnswers, "__init__", make_quick)
    patch.setattr(sheet, "GUARD_SECONDS", _GUARD_SECONDS)


class Visitor:
    """Somebody at the keyboard, who waits until a thing is there before going on."""

    def __init__(self, pilot: Pilot[Any], clock: Clock) -> None:
        assert isinstance(pilot.app, Exhibit)
        self.pilot = pilot
        self.app = pilot.app
        self.clock = clock
        self._theme = ""

    async def arrive(self) -> None:
        """Wait until the session is on the screen and everything is loaded, or one is asked."""
        await self.until(lambda: self._is_asked or self.app.chat.session is not None, "a session")
        await self.until(lambda: self._is_asked or not self._is_loading, "everything loaded")

    @property
    def _is_loading(self) -> bool:
        """Whether something is still loaded behind the session."""
        loading = (each for each in self.app.workers if each.group in ("engine", "warm"))
        return any(not each.is_finished for each in loading)

    @property
    def _is_asked(self) -> bool:
        """Whether the start waits for an answer."""
        return isinstance(self.app.screen, GrantScreen)

    async def press(self, *keys: str) -> None:
        """Press keys."""
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Put text into the prompt, as a paste does."""
        self.app.chat.prompt_box.set_text(text)
        await self.pilot.pause()

    async def say(self, text: str) -> None:
        """Send a message."""
        await self.type(text)
        await self.press("enter")

    async def ask(self, text: str, *, allow: int = 0) -> None:
        """Send a message, allow that many actions, and wait for the end of the turn."""
        await self.say(text)
        for _ in range(allow):
            await self.allow()
        await self.until_idle()
        self.clock.let_pass(minutes=4)

    async def allow(self, key: str = "1") -> None:
        """Wait for a question and allow the action: once, or with ``key`` for more."""
        question = await self.until_screen("ApprovalScreen")
        await self.until(lambda: question.focused is not None, "the question to take keys")
        await self.pilot.pause()
        self.clock.let_pass(seconds=5)
        assert isinstance(question, Sheet)
        await self.until(lambda: not question.guard.is_hidden, "the question to be drawn")
        await self.pilot.pause(3 * _GUARD_SECONDS)  # the question goes by the time of real keys
        await self.press(key)
        await self.until(lambda: self.app.screen is not question, "the answer to be taken")

    async def until_idle(self) -> None:
        """Wait for the end of the turn."""
        await self.until(lambda: not self.app.chat.runner.is_busy, "the end of the turn")
        await self.until(lambda: not self.app.chat.status.work, "a ready status line")
        await self.pilot.pause()

    async def until_screen(self, name: str) -> Screen[Any]:
        """Wait until a screen of that class is on top."""
        await self.until(lambda: self._shows(name), name)
        return self.app.screen

    def _shows(self, name: str) -> bool:
        return type(self.app.screen).__name__ == name

    async def until_text(self, text: str) -> None:
        """Wait until the screen holds a text."""
        await self.until(lambda: text in self.text, text)

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition; fails with the screen."""
        await waiting.until(self.pilot, condition, lambda: f"waited for {what}\n{self.text}")

    @property
    def text(self) -> str:
        """Everything on the screen, line by line."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    async def look(self, name: str, theme: str, size: tuple[int, int] | None) -> None:
        """Look at the same screen in another theme, or in a terminal of another size."""
        self._theme = self._theme or self.app.theme
        self.app.theme = theme or self._theme
        if size is not None:
            await self.pilot.resize_terminal(*size)
        await self.stand_still()
        self.app.looks[name] = self.app.export_screenshot(title=self.app.title, simplify=True)

    async def stand_still(self) -> None:
        """Wait until nothing on the screen changes any more."""
        same, before = 0, None
        while same < _STILL:
            for screen in self.app.screen_stack:
                _hold_still(screen)
            await self.pilot.pause(0.03)
            now = self.app.screen._compositor.render_strips()
            is_still = now == before and not self._is_previewing
            same, before = (same + 1, before) if is_still else (0, now)

    @property
    def _is_previewing(self) -> bool:
        """Whether a list still reads what it shows beside the row under the cursor."""
        reading = (
            w for w in self.app.workers if w.group == "preview" or isinstance(w.node, Preview)
        )
        return any(not each.is_finished for each in reading)
