"""The screen of the conversation: timeline, prompt, gauge and status.

Data goes down, intent comes up as messages; a command, a key or a marker starts its flow at once.
What the first frame does not show (the timeline, the other screens) is imported after it.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Size

from agent_tui.resources import stylesheet
from agent_tui.ui.commands.table import COMMANDS, name_keys_of_hint
from agent_tui.ui.conversation.conversation import Conversation
from agent_tui.ui.conversation.panes import WIDE, Panes
from agent_tui.ui.widgets import read_defaults, read_sheets
from agent_tui.ui.widgets.bars.gauge import TokenGauge
from agent_tui.ui.widgets.bars.status_line import StatusLine
from agent_tui.ui.widgets.compositing import SparingScreen
from agent_tui.ui.widgets.panes.welcome import Welcome
from agent_tui.ui.widgets.prompt.prompt import Prompt
from agent_tui.ui.widgets.prompt.prompt_box import PromptBox

if TYPE_CHECKING:
    from textual.app import App

    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.starting.glimpse import Glimpse
    from agent_tui.runtime.starting.launch import Launch
    from agent_tui.ui.conversation.follower import Follower
    from agent_tui.ui.conversation.turn_listener import TurnListener
    from agent_tui.ui.conversation.wire_view import WireView
    from agent_tui.ui.widgets.panes.side_panel import SidePanel
    from agent_tui.ui.widgets.prompt.find_bar import FindBar
    from agent_tui.ui.widgets.prompt.queue import PromptQueue
    from agent_tui.ui.widgets.timeline.timeline import Timeline

_FIRST = ("prompt_box", "gauge", "status_line", "welcome")
_LATER = (
    *("timeline", "rows", "completion", "line_input", "find_bar", "side_panel", "todo_panel"),
    *("waiting_note", "queue"),
)
CHAT_SHEETS = [
    *(stylesheet(f"widgets/{name}.tcss") for name in _FIRST),
    stylesheet("chat.tcss"),
]
"""The stylesheets of the first frame; the app loads them with its own."""

_WIDTHS = [(0, "-narrow"), (WIDE, "-wide"), (220, "-widest")]
_HEIGHTS = [(0, "-small"), (20, "-large"), (32, "-tall")]
_TIMELINE_KEYS = (
    "↑↓ move · {timeline-menu:Enter} menu · {timeline-activate:Space} open · "
    "{timeline-copy:y} copy · {timeline-quote:q} quote · {timeline-find:/} find · Tab back",
    "↑↓ move · {timeline-menu:Enter} menu · {timeline-activate:Space} open · "
    "{timeline-find:/} find · Tab back",
    "↑↓ move · {timeline-menu:Enter} menu · Tab back",
    "Tab back",
)
_FOLLOW_SECONDS = 1.0


def key_bindings() -> list[Binding]:
    """A binding for every command that has a key; the action is ``command('<name>')``."""
    return [
        Binding(
            command.key,
            f"command('{command.name}')",
            command.footer or command.title,
            show=bool(command.footer),
            key_display=command.key_label,
            priority=command.priority,
            id=command.binding_id,
        )
        for command in COMMANDS
        if command.key
    ]


def _use_escape(screen: ChatScreen) -> None:
    """An Esc that closed something, or left Vim's insert mode, is not the first of two."""
    screen.chat.escape.use()


class ChatScreen(SparingScreen[None]):
    """Shows a conversation; ``begin`` brings the engine when it is ready.

    Attributes:
        chat: the conversation.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *key_bindings(),
        Binding("f", "fork_read_only", "Fork this session", show=False, id="read-only-fork"),
    ]
    AUTO_FOCUS = "Prompt"
    HAS_TOASTS = False  # notices stand in the prompt's frame
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    def __init__(self, *, demo: bool = False, is_new: bool = True, reading: str = "") -> None:
        super().__init__()
        prompt_box = PromptBox(self._complete_path, take_empty_key=self._take_empty_key)
        panes = Panes(prompt_box, StatusLine(), TokenGauge(), Welcome(waits=demo))
        panes.welcome.visible = is_new  # else a conversation will stand in its place at once
        prompt_box.disabled = bool(reading)  # else early keys are sent to what it is continued as
        panes.status.reading = reading
        self.chat = Conversation(self, panes)
        self._follower: Follower | None = None
        self._was_shown = False

    def fit(self, size: Size) -> Self:
        """Set the classes for a terminal's size from the start, or everything is styled twice."""
        for cells, breakpoints in ((size.width, _WIDTHS), (size.height, _HEIGHTS)):
            *_, name = (name for least, name in breakpoints if cells >= least)
            self.add_class(name, update=False)
        return self

    def compose(self) -> ComposeResult:
        yield self.chat.welcome
        yield self.chat.prompt_box
        with Horizontal(id="bottom"):
            yield self.chat.status
            yield self.chat.gauge

    def on_mount(self) -> None:
        status = self.chat.status
        status.is_starting = True
        self.watch(status, "notice", self._show_notice_line, init=False)
        frame = self.chat.prompt_box.frame
        self.watch(status, "title", partial(setattr, frame, "session_title"), init=False)

    async def mount_timeline(self, launch: Launch) -> None:
        """Mount what the first frame could do without; call once, right after it.

        If the launch asks for a session, its end is shown before anything else is loaded.
        """
        read_sheets(self.app, *(f"widgets/{name}.tcss" for name in _LATER))
        timeline_type, glimpse = await asyncio.to_thread(_import_timeline, launch)
        timeline = timeline_type()
        timeline.display = False
        timeline.has_menu = True
        self.chat.panes.add_timeline(timeline)
        self.watch(timeline, "fold_changes", lambda: self.chat.folds.keep(), init=False)
        if glimpse is not None:
            self.chat.log.show_end(glimpse)
        await self.mount(timeline, before=self.chat.prompt_box)
        if glimpse is not None and glimpse.records:
            await self._painted()
        view_type, listener_type, follower_type = await asyncio.to_thread(_import_view)
        self.chat.log.view = view_type(timeline, listener_type(self.chat))
        self._follower = follower_type(self.chat)
        self.set_interval(_FOLLOW_SECONDS, self._follower.follow)
        self.watch(self.app, "app_focus", self.chat.facts.update_place, init=False)

    async def _painted(self) -> None:
        """Wait until the change is on the screen: what loads next would delay it."""
        painted = asyncio.Event()
        self.call_after_refresh(painted.set)
        await painted.wait()

    async def begin(self, engine: Engine, *, is_open: bool = False) -> None:
        """Take over the engine and open what the command line asked for."""
        chat = self.chat
        chat.holder.engine = engine
        chat.timeline.show_all(shown=engine.settings.ui.unfold)
        if not is_open:  # a session of a file is open already
            await chat.show_session(await engine.open_launched(), asks_folder=True)
        self.chat.panes.end_starting()
        chat.holder.has_begun.set()
        chat.prompts.send_early()
        # If a prompt was waiting, the welcome is gone by now and is not drawn again.
        chat.welcome.model = engine.connections.label
        chat.welcome.suggestions = engine.suggestions

    def fail_to_begin(self, sentence: str) -> None:
        """Show why no session could be opened; from here on nothing typed is sent."""
        self.chat.panes.end_starting()
        self.chat.holder.has_begun.set()
        self.chat.status.banner = "no session"
        self.chat.prompts.refuse()
        self.chat.notices.failure(sentence)

    async def end(self) -> None:
        """Interrupt what runs, wait until the log is settled, and close the session."""
        if self._follower is not None:
            self._follower.stop()
        await self.chat.end()

    # What the user asks for.

    def run_command(self, name: str, argument: str = "") -> None:
        """Carry out a command of the table, or a prompt that is kept in a file."""
        from agent_tui.ui.flows.command_runner import run_command

        run_command(self.chat, name, argument)

    def action_command(self, name: str) -> None:
        """A key of the command table was pressed."""
        self.run_command(name)

    def action_fork_read_only(self) -> None:
        """In a read-only window a single key forks the session."""
        self.run_command("fork")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "fork_read_only":  # in a session that can be written to, an f is a letter
            return self.chat.session is not None and bool(self.chat.session.read_only)
        return super().check_action(action, parameters)

    @on(PromptBox.CommandEntered)
    def _take_command(self, event: PromptBox.CommandEntered) -> None:
        self.run_command(event.name, event.argument)

    @on(PromptBox.Submitted)
    def _take_prompt(self, event: PromptBox.Submitted) -> None:
        if event.shell:
            self.chat.prompts.run_shell(event.text)
        else:
            self.chat.prompts.send(event.text)

    def on_prompt_queue_withdrawn(self, event: PromptQueue.Withdrawn) -> None:
        """A queued prompt was withdrawn: to be edited, or to be dropped."""
        self.chat.prompts.withdraw(event.text, edit=event.edit)

    @on(PromptBox.Edited)
    def _keep_drafts(self) -> None:
        self.chat.welcome.forget_early()
        self.chat.drafts.keep()

    @on(PromptBox.PageTurned)
    def _turn_page(self, event: PromptBox.PageTurned) -> None:
        if self.chat.session is None:
            return
        if event.step:
            self.chat.timeline.action_page(event.step)
        else:
            self.chat.timeline.action_last()

    @on(TokenGauge.AttributionRequested)
    def _show_tokens(self) -> None:
        self.run_command("tokens")

    @on(Welcome.Suggested)
    def _take_suggestion(self, event: Welcome.Suggested) -> None:
        if not event.command:
            self.chat.prompts.send(event.text)
        else:
            self.run_command(event.command, event.argument)

    def on_side_panel_chosen(self, event: SidePanel.Chosen) -> None:
        """A row beside the conversation leads to the screen behind it."""
        self.run_command(event.name, event.argument)

    def on_find_bar_whole_wanted(self, event: FindBar.WholeWanted) -> None:
        """A match is in a part of its block that the conversation does not show."""
        self.chat.timeline.action_view(event.text)

    on_find_bar_closed = on_prompt_box_search_left = on_prompt_mode_changed = _use_escape

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """A screen was closed: the next Esc is not meant for it."""
        self.chat.opening = None
        self.chat.escape.use()
        # The first time, everything has just been styled while it was mounted.
        event.refresh_styles &= self._was_shown
        self._was_shown = True

    def on_resize(self) -> None:
        self.call_after_refresh(self.chat.panes.update_side)
        self.call_after_refresh(lambda: self._show_notice_line(self.chat.status.notice))

    def _follow_marker(self, event: Timeline.Marker) -> None:
        from agent_tui.ui.flows.markers import follow_marker

        follow_marker(self.chat, event)

    on_timeline_checkpoint_pressed = _follow_marker
    on_timeline_compaction_pressed = _follow_marker
    on_timeline_archive_pressed = _follow_marker
    on_timeline_entry_pressed = _follow_marker
    on_timeline_view_wanted = _follow_marker
    on_timeline_task_wanted = _follow_marker
    on_timeline_quote_wanted = _follow_marker
    on_timeline_menu_wanted = _follow_marker
    on_timeline_find_wanted = _follow_marker
    on_block_view_all_toggled = _follow_marker

    # What is typed.

    def on_key(self, event: events.Key) -> None:
        """Pass what is typed in the conversation to the prompt, except the conversation's keys."""
        # A key that arrives here while the prompt has the focus was pressed just before.
        prompt_box = self.chat.prompt_box
        is_typed = prompt_box.is_writing or event.key not in self.active_bindings
        is_letter = event.is_printable and not event.key.startswith("alt+")
        if is_letter and is_typed and prompt_box.take_typed(event):
            event.stop()

    def on_paste(self, event: events.Paste) -> None:
        """Pass what is pasted in the conversation to the prompt."""
        self.chat.prompt_box.paste(event.text)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show in the prompt's frame the hints of what has the focus."""
        panes = self.chat.panes
        in_timeline = panes.has_timeline and event.widget is panes.timeline
        hints = _TIMELINE_KEYS[bool(panes.prompt_box.frame.read_only) :] * in_timeline
        if not in_timeline and not isinstance(event.widget, Prompt):
            hints = ("",)  # such as the find bar, which shows its own keys
        panes.prompt_box.frame.elsewhere = tuple(
            name_keys_of_hint(self.app, hint) for hint in hints
        )

    def _take_empty_key(self, key: str) -> bool:
        """While the welcome is shown, keys in the empty prompt choose among its suggestions."""
        return self.chat.welcome.display and self.chat.welcome.take_key(key)

    def _complete_path(self, typed: str) -> list[str]:
        folder = self.chat.holder.folder
        return folder.complete_path(typed) if folder else []

    # What the frame of the prompt says.

    def _show_notice_line(self, sentence: str) -> None:
        """Show a notice in the prompt's frame, above what is typed, covering nothing."""
        self.chat.prompt_box.frame.notice = sentence
        is_short = self.chat.prompt_box.has_class("-short")
        self.chat.status.shows_notice = is_short
        self.chat.gauge.display = not (is_short and sentence)  # a sentence needs the whole row
        self.chat.status.styles.max_width = None if self.chat.gauge.display else "100%"


def read_first_styles(screen: ChatScreen, app: App[Any]) -> ChatScreen:
    """Read the default styles of all its parts at once, not one by one as they are mounted."""
    panes = screen.chat.panes
    frame = panes.prompt_box.frame
    parts = panes.welcome, panes.prompt_box, frame, *frame.parts, panes.status, panes.gauge
    read_defaults(app, screen, *parts)
    return screen


def _import_timeline(launch: Launch) -> tuple[type[Timeline], Glimpse | None]:
    from agent_tui.ui.widgets.timeline.timeline import Timeline

    if launch.is_new:
        return Timeline, None
    from agent_tui.runtime.starting.glimpse import read_glimpse

    return Timeline, read_glimpse(launch)


def _import_view() -> tuple[type[WireView], type[TurnListener], type[Follower]]:
    from agent_tui.ui.conversation.follower import Follower
    from agent_tui.ui.conversation.turn_listener import TurnListener
    from agent_tui.ui.conversation.wire_view import WireView

    return WireView, TurnListener, Follower
