"""The app: first frame first, then the engine in a thread, then the session on the screen."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual import events
from textual.binding import Binding

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.text import clean
from agent_tui.resources import stylesheet, stylesheets
from agent_tui.runtime.machine.terminal import forgive_interrupts, ignore_interrupts
from agent_tui.ui.chat import CHAT_SHEETS, ChatScreen, read_first_styles
from agent_tui.ui.conversation.second_press import SecondPress
from agent_tui.ui.garbage import TICK_SECONDS, IdleCollection, collect_in_bites
from agent_tui.ui.keys_in_order import KeysInOrder
from agent_tui.ui.terminal_driver import TerminalApp
from agent_tui.ui.themes.themed import ThemedApp

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.notifications import SeverityLevel
    from textual.screen import Screen

    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.runtime.starting.launch import Launch
    from agent_tui.ui.conversation.conversation import Conversation
    from agent_tui.ui.terminal_replies import BackgroundTold

_SECOND_PRESS_SECONDS = 2.0
_ENDING_SECONDS = 30.0
_JUST_SECONDS = 2.0
_LINGER_SECONDS = 0.3
_SWITCH_SECONDS = 0.0005
"""Seconds, instead of 5 ms: the thread that writes frames must not wait so long for its turn."""


class AgentTui(TerminalApp[int], KeysInOrder[int], ThemedApp[int]):
    """Owns the engine and the themes; everything else is on a screen."""

    TITLE = "agent-tui"
    # The first screen's sheets are the app's: a screen's own would have everything parsed twice.
    CSS_PATH = [stylesheet("base.tcss"), *CHAT_SHEETS]
    ENABLE_COMMAND_PALETTE = False  # ours is a command of the table, as everything is
    BINDINGS = [Binding("ctrl+c", "copy_or_quit", show=False, priority=True)]

    def __init__(self, launch: Launch) -> None:
        super().__init__()
        sys.setswitchinterval(_SWITCH_SECONDS)
        self.launch = launch
        self._second_ctrl_c = SecondPress(_SECOND_PRESS_SECONDS)
        self._is_leaving = self._is_ready = False
        self._asked_for_trust = False
        self._told = "", 0.0

    def on_background_told(self, told: BackgroundTold) -> None:
        """Follow the terminal's background, unless a person has chosen a theme."""
        theme = self.usual_theme(dark=told.dark).name
        if self.follows_terminal and self.theme != theme:
            self.theme = theme

    def on_popup_keys_wanted(self) -> None:
        """Say what every key does on the screen that is open."""
        self.chat_screen.run_command("keys")

    def get_default_screen(self) -> ChatScreen:
        path = self.launch.path
        reading = path.name if path is not None else ""
        screen = ChatScreen(demo=self.launch.demo, is_new=self.launch.is_new, reading=reading)
        return read_first_styles(screen.fit(self.size), self)

    def on_load(self) -> None:
        """The terminal is about to be taken over: from here on a signal has to give it back."""
        _heed_signals(self._leave_soon)

    def on_ready(self) -> None:
        """The first frame is out: load what is heavy, and only then let garbage be collected."""
        self._is_ready = True
        if self._is_leaving:
            self.exit()
            return
        self.set_interval(TICK_SECONDS, IdleCollection().tick)
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        self.run_worker(self._start_engine(), group="engine", exit_on_error=False)

    def _leave_soon(self) -> None:
        if not self._is_ready:
            self._is_leaving = True  # there is no screen yet
        elif not self._is_leaving:
            self.run_worker(self.leave(), group="leaving", exit_on_error=False)

    async def _start_engine(self) -> None:
        screen = self.chat_screen
        screen.chat.prompts.take_given(self.launch.prompt or "")
        await screen.mount_timeline(self.launch)
        try:
            engine = screen.chat.holder.engine = await asyncio.to_thread(_assemble, self.launch)
            if engine.settings.ui.reduced_motion:
                self.animation_level = "none"
                screen.chat.prompt_box.hold_cursor()
            if engine.settings.ui.vim:
                screen.chat.prompt_box.use_vim()
            theme = engine.settings.ui.theme
            if theme in self.available_themes:
                self.theme = theme
                self.follows_terminal = False
            self._show_signs(engine)
            troubles = await self._take_keys(engine)
            if self.launch.path is not None:
                collect_in_bites()
                screen.chat.timeline.show_all(shown=engine.settings.ui.unfold)
                if not await self._browse(self.launch.path):
                    return
                engine = screen.chat.holder.require_engine()
                await screen.begin(engine, is_open=True)
            warming = asyncio.create_task(engine.warm())  # the SDK is what an answer waits for
            if self.launch.path is None:
                engine = await self._ask_for_trust(engine)
                await screen.begin(engine)
            for trouble in troubles:
                screen.chat.notices.warning(trouble)
            if theme and theme not in self.available_themes:
                screen.chat.notices.hint(
                    f"The settings name an unknown theme: {theme!r}. Choose one with /theme."
                )
            if self.launch.is_new and not engine.connections.is_connected:
                screen.run_command("connect")
            if self.launch.pick:
                screen.run_command("sessions")
            await self._ask_for_wide_folder()
            await warming
            _watch_servers(self.chat, engine)
            from agent_tui.ui.conversation.furnishing import furnish

            await furnish(screen.chat, engine)
            collect_in_bites()
            await self._preload_screens()
        except AgentTuiError as error:
            screen.fail_to_begin(str(error))
        except Exception as error:
            screen.fail_to_begin(f"agent-tui could not start: {type(error).__name__}: {error}.")
        collect_in_bites()

    async def _ask_for_wide_folder(self) -> None:
        """A resumed log may name a folder that holds far more than a project."""
        session = self.chat.session
        if session is not None and session.wide_folder is not None:
            from agent_tui.ui.flows.wide_folder import ask_for_wide_folder

            await ask_for_wide_folder(self.chat)

    async def _take_keys(self, engine: Engine) -> tuple[str, ...]:
        """Apply the keys of the settings; returns a sentence for each that cannot be used."""
        if not engine.settings.keys:
            return ()
        from agent_tui.ui.keymap import names_screens, read_keymap

        chosen, places = engine.settings.keys, await engine.setting_files.places_of("keys")
        if names_screens(chosen):
            from agent_tui.ui.screens.remapping import remappable_keys

            on_screens = await asyncio.to_thread(remappable_keys, ChatScreen)
            used = await asyncio.to_thread(read_keymap, chosen, places, on_screens)
        else:
            used = read_keymap(chosen, places)
        self.set_keymap(dict(used.keys))
        self.chat.panes.show_keys()
        return used.troubles

    def _show_signs(self, engine: Engine) -> None:
        """Have the terminal's title, tab and bell follow what the agent does."""
        from agent_tui.ui.terminal_driver import TerminalDriver
        from agent_tui.ui.terminal_signs import TerminalSigns

        driver, settings = self._driver, engine.settings.ui
        if driver is not None:
            TerminalSigns(self, self.chat.status, settings, driver.write)
        if isinstance(driver, TerminalDriver):
            driver.shows_progress = settings.progress

    async def _preload_screens(self) -> None:
        """Load all screens and parse their sheets in a thread: it would hold up the first use."""
        from agent_tui.ui import flows, screens
        from agent_tui.ui.screens.remapping import load_below

        await asyncio.to_thread(load_below, flows, screens)
        known = self.stylesheet
        sources = len(known.source)
        whole = known.copy()

        def read() -> None:
            whole.read_all([path for path in stylesheets() if not known.has_source(str(path))])
            whole.parse()

        await asyncio.to_thread(read)
        if self.stylesheet is known and len(known.source) == sources:
            self.stylesheet = whole

    async def _browse(self, path: Path) -> bool:
        """Show a file read-only; closing it ends the program.

        Returns:
            Whether a session was made from it, which is now open.
        """
        from agent_tui.ui.flows.file_acts import open_file

        try:
            is_open = await open_file(self.chat, path, ready=self._ready_to_continue)
        except AgentTuiError as error:
            self.exit(1, return_code=1, message=clean(f"agent-tui: {error}"))
            return False
        if not is_open:
            await self.leave()
        return is_open

    async def _ready_to_continue(self) -> Engine:
        """The engine that continues a file, after asking for trust as every session does."""
        engine = self.chat.holder.require_engine()
        if not self._asked_for_trust:
            self._asked_for_trust = True
            engine = self.chat.holder.engine = await self._ask_for_trust(engine)
        return engine

    async def _ask_for_trust(self, engine: Engine) -> Engine:
        """Ask, the first time in a folder that ships files for agents, whether to use them."""
        shipped = await engine.project.untrusted_files()
        if not shipped or self.launch.prompt:
            return engine
        from agent_tui.ui.screens.dialogs.trust import TrustScreen

        question = TrustScreen(str(engine.workspace), shipped, self.chat.prompt_box)
        if not await self.push_screen_wait(question):
            return engine
        await engine.project.trust()
        await engine.aclose()
        return await asyncio.to_thread(_assemble, self.launch)

    async def _replace_screen(self, screen: Screen[Any]) -> Screen[Any]:
        """Remove a closed screen that ``lingers`` only after the one below it has been drawn.

        Textual removes it at once, which lays out the unaffected screen below twice: half of the
        time from a key to its effect.
        """
        if not getattr(screen, "lingers", False):
            return await super()._replace_screen(screen)
        # Both also affect the mouse: done later, they would end a drag on the screen below.
        self.capture_mouse(None)
        screen.post_message(events.ScreenSuspend())
        # Without a parent: that would be laid out again, and all of it painted.
        self.set_timer(_LINGER_SECONDS, lambda: self._prune(screen))
        return screen

    def _fatal_error(self) -> None:
        """End after an internal error with its traceback, but without the values of variables."""
        trace = clean("".join(traceback.format_exception(*sys.exc_info())))
        self._exit_renderables.append(Text(trace))
        self._close_messages_no_wait()

    @property
    def chat_screen(self) -> ChatScreen:
        """The screen of the conversation, below whatever else is open."""
        screen = self.screen_stack[0]
        assert isinstance(screen, ChatScreen)
        return screen

    @property
    def chat(self) -> Conversation:
        """The conversation."""
        return self.chat_screen.chat

    @property
    def on_its_way(self) -> object | None:
        """The flow that is about to open a screen over the conversation, or to change it."""
        return self.chat.on_its_way if self.screen is self.chat_screen else None

    async def action_copy_or_quit(self) -> None:
        """Copy the selection, clear the prompt or interrupt the agent; otherwise twice quits."""
        if selected := self.screen.get_selected_text():
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
            return
        if self.screen is self.chat_screen and self._clear_or_interrupt(self.chat):
            return
        if self._second_ctrl_c.press():
            await self.leave()
        else:
            self.notify("Press Ctrl+C again to quit.")

    def _clear_or_interrupt(self, chat: Conversation) -> bool:
        """Clear the prompt, pop its queue, or interrupt what runs; False if none applies."""
        if chat.prompt_box.text:
            chat.prompt_box.clear()
            chat.notices.hint("Prompt cleared. Press Up to restore it.")
        elif chat.prompt_box.queue.prompts:
            chat.prompt_box.queue.take_last()
        elif chat.runner.is_busy:
            self.chat_screen.run_command("interrupt")
        else:
            return False
        return True

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a sentence where the screen in view shows its notices: never over the prompt."""
        self._told = message, time.monotonic()
        any(_tell(each, message, is_error=severity == "error") for each in self.screen_stack[::-1])

    @property
    def just_told(self) -> str:
        """The notice of a moment ago, for a screen that opens over it; empty if it is older."""
        sentence, at = self._told
        return sentence if time.monotonic() - at < _JUST_SECONDS else ""

    async def action_quit(self) -> None:
        """Quit; like every way out, this lets the log settle first."""
        await self.leave()

    async def leave(self) -> None:
        """Interrupt what runs, let the log settle, and exit, whatever goes wrong meanwhile.

        Asked for again meanwhile it does nothing: two farewells would look like two errors.
        """
        if self._is_leaving:
            return
        self._is_leaving = True
        session, engine = self.chat.session, self.chat.engine
        code, farewell = 0, _farewell(session, self.launch)
        try:
            async with asyncio.timeout(_ENDING_SECONDS):
                await self.chat_screen.end()
                if session is None:
                    await asyncio.to_thread(_keep_unsent, self.launch, self.chat.prompt_box.text)
                if engine is not None:
                    await engine.aclose()
        except asyncio.CancelledError:
            self._is_leaving = False  # it can be asked for again
            raise
        except Exception as error:  # what was answered is on disk: no failure may prevent leaving
            trouble = f"agent-tui could not close properly: {_reason(error)}."
            code, farewell = 1, clean(f"{farewell}\n{trouble}".lstrip())
        if not self.is_headless:
            forgive_interrupts()
        self.exit(code, return_code=code, message=farewell or None)


def _tell(screen: Screen[Any], message: str, *, is_error: bool) -> bool:
    """Show a sentence on a screen; False on a popup, below which another stays in view."""
    from agent_tui.ui.screens.dialogs.panel import Panel
    from agent_tui.ui.screens.dialogs.sheet import Sheet

    match screen:
        case ChatScreen():
            screen.chat.notices.hint(message)
        case Panel():
            screen.tell(message, is_error=is_error)
        case Sheet():
            screen.tell(message)
        case _:
            return False
    return True


def _farewell(session: LiveSession | None, launch: Launch) -> str:
    """How to continue what was said; nothing where nothing was."""
    if session is None or not session.is_saved or session.view.is_empty:
        return ""
    demo = "--demo " * launch.is_tour
    return f"Session saved. Continue with: agent-tui {demo}-r {session.session_id}"


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError) and not str(error):
        return f"something did not stop within {_ENDING_SECONDS:g} seconds"
    return f"{type(error).__name__}: {error}"


def _heed_signals(leave: Callable[[], None]) -> None:
    """Leave on a signal as by command: children are stopped, the terminal is restored."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        with suppress(ValueError, RuntimeError):  # only the main thread can handle signals
            loop.add_signal_handler(number, leave)


def _keep_unsent(launch: Launch, text: str) -> None:
    from agent_tui.runtime.starting.unsent import keep_unsent

    keep_unsent(launch, text)


def _assemble(launch: Launch) -> Engine:
    from agent_tui.runtime.engine import Engine

    return Engine.assemble(launch)


def run_app(launch: Launch) -> int:
    """Run the full-screen program; returns the exit code."""
    code = AgentTui(launch).run() or 0
    ignore_interrupts()
    return code


def _watch_servers(chat: Conversation, engine: Engine) -> None:
    """Report in the conversation what is wrong with MCP servers."""
    if engine.tool_servers is not None and engine.tool_servers.are_any:
        from agent_tui.ui.flows.servers import ServerNotices

        notices = ServerNotices(chat, engine.tool_servers)
        notices.listen()
        notices.tell()
