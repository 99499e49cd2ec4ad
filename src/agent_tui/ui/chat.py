"""The conversation: timeline, prompt, gauge and status, and the workers that act on the session.

Data goes down, intent comes up as messages and commands. Acts run in one worker group; the session
lets one wait for the other, so that a turn, a revert and a compaction never overlap. What the first
frame does not show (the timeline, the other screens) is imported behind it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen

from agent_tui.core.drafts import Drafts
from agent_tui.resources import stylesheet
from agent_tui.ui.commands import key_bindings
from agent_tui.ui.conversation.draft_keeper import DraftKeeper
from agent_tui.ui.conversation.follower import Follower
from agent_tui.ui.conversation.notices import Notices
from agent_tui.ui.conversation.operation_runner import OperationRunner
from agent_tui.ui.conversation.todo import show_last_todo
from agent_tui.ui.conversation.turn_listener import TurnListener
from agent_tui.ui.widgets.bars.gauge import TokenGauge
from agent_tui.ui.widgets.bars.status_line import StatusLine
from agent_tui.ui.widgets.panes.welcome import Welcome
from agent_tui.ui.widgets.prompt.prompt_box import PromptBox
from agent_tui.ui.widgets.prompt.queue import PromptQueue

if TYPE_CHECKING:
    from agent_tui.core.events import ApprovalRequest
    from agent_tui.core.records import Record
    from agent_tui.core.summary import CompactionReport
    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.wire_view import WireView
    from agent_tui.ui.widgets.timeline.timeline import Timeline

_ACTS = "session"
_WIDGETS = (
    "timeline",
    "prompt_box",
    "rows",
    "completion",
    "line_input",
    "find_bar",
    "gauge",
    "status_line",
    "welcome",
)
CHAT_SHEETS = [
    *(stylesheet(f"widgets/{name}.tcss") for name in _WIDGETS),
    stylesheet("chat.tcss"),
]
"""What the conversation is styled by; the app loads it with its own."""

_TIMELINE_KEYS = "↑↓ move · Enter open · v view · y copy · q quote · Ctrl+F find · Tab back"
_INVITATION = "Ask anything, or press ↓ to choose from above"
_SECOND_ESCAPE_SECONDS = 1.0
_FOLLOW_SECONDS = 1.0
_EARLIER_RECORDS = 2_000
"""How much of what a compaction took out stays on screen; the archive has all of it."""
_NO_SESSION = "No session is open: F2 lists them, Ctrl+N starts a new one."
_NO_ENGINE = "agent-tui could not start: fix the error above, then start it again."


class ChatScreen(Screen[None]):
    """Holds one open session; ``begin`` brings the engine when it is ready."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *key_bindings(),
        Binding("f", "fork_read_only", show=False),
    ]
    AUTO_FOCUS = "Prompt"
    VERTICAL_BREAKPOINTS = [(0, "-small"), (20, "-large")]

    def __init__(self, *, demo: bool = False) -> None:
        super().__init__()
        self._demo = demo
        self._early_command = ""
        self.engine: Engine | None = None
        self.session: LiveSession | None = None
        self._follower = Follower(self)
        self._stop_listening: Callable[[], None] | None = None
        self._early_prompt = ""
        self._returned_prompt = ""
        self.notices = Notices(self)
        self.runner = OperationRunner(self)
        self._keeper = DraftKeeper()
        self._has_failed = False
        self._earlier: Sequence[Record] = ()
        self._shown: Sequence[Record] = ()
        self._is_deaf = False
        self.has_timeline = False
        self.timeline: Timeline
        self._view: WireView
        self._escaped_at = -_SECOND_ESCAPE_SECONDS

    def compose(self) -> ComposeResult:
        yield Welcome(waits=self._demo)
        yield PromptBox(self._complete_path, take_empty_key=self._take_empty_key)
        with Horizontal(id="bottom"):
            yield StatusLine()
            yield TokenGauge()

    def on_mount(self) -> None:
        self.prompt_box = self.query_one(PromptBox)
        self.status = self.query_one(StatusLine)
        self.gauge = self.query_one(TokenGauge)
        self.welcome = self.query_one(Welcome)
        self.status.is_starting = True
        self.watch(self.status, "notice", self._show_notice_line, init=False)
        self.watch(self.status, "title", self._show_title, init=False)

    async def mount_timeline(self) -> None:
        """Bring in what the first frame could do without; call once, right after it."""
        timeline, view = await asyncio.to_thread(_import_timeline)
        self.timeline = timeline()
        self.timeline.display = False
        self._view = view(self.timeline, TurnListener(self))
        await self.mount(self.timeline, before=self.prompt_box)
        self.has_timeline = True
        self.set_interval(_FOLLOW_SECONDS, self._follower.follow)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The hints in the prompt's frame are those of what has the focus."""
        in_timeline = self.has_timeline and event.widget is self.timeline
        self.prompt_box.elsewhere = _TIMELINE_KEYS if in_timeline else ""

    def _complete_path(self, typed: str) -> list[str]:
        return self.engine.project.complete_path(typed) if self.engine else []

    # The session on the screen.

    async def begin(self, engine: Engine) -> None:
        """Take over the engine and open what the command line asked for."""
        self.engine = engine
        self.welcome.model = engine.model_label
        self.welcome.suggestions = engine.suggestions
        if glimpse := await engine.glimpse():
            self.timeline.load(glimpse)
            self.show_conversation(shown=True)
        await self.show_session(await engine.open_launched())
        self.status.is_starting = False
        if self._early_command:
            self.run_command(self._early_command, "")
        if prompt := self._early_prompt or engine.launch.prompt:
            self._early_prompt = ""
            self.send(prompt)
        await self.show_place()
        self.status.sandbox = await engine.sandbox()
        self.prompt_box.set_history(await engine.stored.prompt_history())
        found = await engine.project.prompt_files()
        self.prompt_box.set_own_commands(
            {name: prompt.description for name, prompt in found.prompts.items()}
        )
        for refusal in found.refused:
            self.notices.warning(refusal)

    async def show_place(self) -> None:
        """Say where this runs, and on which branch now."""
        if self.engine is not None:
            where = await self.engine.project.where()
            self.status.place, self.status.branch = where.name, where.branch
            self.welcome.place = " · ".join(filter(None, (where.path, where.branch)))

    async def show_session(self, session: LiveSession) -> None:
        """Put a session on the screen in place of the one that is there, which is closed."""
        before, self.session = self.session, session
        if before is None or before.session_id != session.session_id:
            self._follower.may_take_over = True
        if self._stop_listening is not None:
            self._stop_listening()
        self._listen(session)
        self.reload()
        await self._take_up_drafts(before, session)
        self.welcome.instructions = session.instructions
        for notice in session.notices:
            self.notices.warning(notice)
        if self.engine is not None and self.engine.settings.context.preview_auto:
            session.compacting.review_automatic(self._review_compaction)
        self.run_worker(self._warm(session), group="warm", exclusive=True, exit_on_error=False)
        if before is not None and self.engine is not None:
            await self.engine.close_session(before)

    def _listen(self, session: LiveSession) -> None:
        self._is_deaf = False
        self._stop_listening = session.subscribe(self._view.handle, self._stop_showing)

    def _stop_showing(self, failure: Exception) -> None:
        """An event could not be shown: the turn goes on, and is shown from its log at its end."""
        self._is_deaf = True
        reason = f"{type(failure).__name__}: {failure}"
        self.notices.failure(
            f"Internal error: {reason}. The turn continues; its result will be shown."
        )

    def _listen_again(self, session: LiveSession) -> None:
        if self._is_deaf and session is self.session:
            self._listen(session)
            self.prompt_box.running = False
            self.status.work = ""
            self.reload()

    async def _warm(self, session: LiveSession) -> None:
        if self.engine is not None:
            await self.engine.warm()
        await session.warm()

    async def _review_compaction(self) -> CompactionReport | None:
        from agent_tui.ui.screens.context.compaction_preview import CompactionPreviewScreen

        assert self.session is not None
        return await self.app.push_screen_wait(CompactionPreviewScreen(self.session.compacting))

    def reload(self, earlier: Sequence[Record] = ()) -> None:
        """Show the session as its log is now, below what a compaction just took out of it."""
        session = self.session
        if session is None:
            return
        self._earlier, self._shown = earlier, session.view.records
        self.timeline.load(session.view.shown_records, earlier=earlier)
        if cut_off := session.cut_off:
            self.notices.notice(cut_off)
        self._view.forget()
        self.show_facts(session)
        self.show_conversation(shown=not session.view.is_empty)

    def settle(self) -> None:
        """Show what was written meanwhile in place of the live blocks."""
        self.timeline.settle()
        self._view.forget()

    def show_facts(self, session: LiveSession) -> None:
        self.gauge.gauge = session.gauge
        self.colour_gauge(session)
        self.status.title = session.view.title
        self.status.model = session.model
        self.status.banner = session.read_only
        self.status.mode = session.approvals.mode
        self.status.background = len(session.background_commands)
        self.prompt_box.read_only = session.read_only
        show_last_todo(self, session.view.records)

    @work(exclusive=True, group="shares", exit_on_error=False)
    async def colour_gauge(self, session: LiveSession) -> None:
        """Show in the gauge what fills the context: counted between turns, kept until then."""
        gauge = session.gauge
        if gauge.tokens <= gauge.window:
            shares = await session.filling()
            if session is self.session:
                self.gauge.gauge = replace(self.gauge.gauge, shares=shares)

    def show_conversation(self, *, shown: bool) -> None:
        self.timeline.display = shown
        self.welcome.display = not shown
        self.prompt_box.invitation = "Ask anything" if shown else _INVITATION

    @dataclass
    class CommandCalled(Message):
        """The user wants a command of the table, by key, slash, palette or mouse."""

        name: str
        argument: str

    @dataclass
    class FlowWanted(Message):
        """The user pressed a marker: ``name`` is the function of ``ui.flows`` it leads to."""

        name: str
        argument: int | str

    class Leaving(Message):
        """The user wants to quit."""

    def leave(self) -> None:
        """Ask the app to end; it settles the session first."""
        self.post_message(self.Leaving())

    async def end(self) -> None:
        """Interrupt what runs, wait until the log is settled, and close the session."""
        self._follower.stop()
        await self.runner.interrupt()
        if self.session is not None:
            await self._keeper.keep_now(self.session, self._drafts)
        if self.session is not None and self.engine is not None:
            await self.engine.close_session(self.session)

    # What the user wants.

    @on(PromptBox.Submitted)
    def _take_prompt(self, event: PromptBox.Submitted) -> None:
        if event.shell:
            self._run_shell(event.text)
        else:
            self.send(event.text)

    @on(Welcome.Suggested)
    def _take_suggestion(self, event: Welcome.Suggested) -> None:
        if not event.command:
            self.send(event.text)
        elif self.engine is None:
            self._early_command = event.command
        else:
            self.run_command(event.command, "")

    def _take_empty_key(self, key: str) -> bool:
        """Keys of an empty prompt choose from what the welcome suggests, while it is shown."""
        welcome = self.welcome
        match key:
            case _ if not welcome.display:
                return False
            case "down":
                welcome.move(1)
            case "up" if welcome.cursor >= 0:
                welcome.move(-1)
            case "enter":
                return welcome.choose()
            case _:
                return False
        return True

    def send(self, prompt: str) -> None:
        """Start a turn; steer the one that runs; wait while the engine is still starting."""
        self.prompt_box.remember(prompt)
        session = self.session
        if session is None and self._has_failed:
            self.prompt_box.set_text(prompt)
            self.notices.hint(_NO_SESSION if self.engine else _NO_ENGINE)
        elif session is None:
            self._early_prompt = prompt
            self.notices.hint("Starting; your message goes out in a moment.")
        elif self.runner.is_busy:
            session.steer(prompt)
            self.prompt_box.queue.add(prompt)
            self.keep_drafts()
            self.timeline.action_last()
        else:
            self.show_conversation(shown=True)
            self.timeline.action_last()
            self.runner.start_turn(lambda session: session.run_turn(prompt))

    def _run_shell(self, command: str) -> None:
        if self.runner.is_busy:
            self.prompt_box.set_text(f"!{command}")
            self.notices.hint("The agent is working. Wait, or press Esc, then run this.")
            return
        self.show_conversation(shown=True)
        self.timeline.action_last()
        self.runner.start_turn(lambda session: self._watch_shell(session, command))

    async def _watch_shell(self, session: LiveSession, command: str) -> None:
        self.prompt_box.running = True
        self.status.work = "running your command"
        try:
            await session.run_shell(command)
        finally:
            self.prompt_box.running = False
            self.status.work = ""
            self.settle()

    def come_to_rest(self, session: LiveSession) -> None:
        """Nothing is done to the session any more: what was not taken up goes back to be edited."""
        self.give_back(session.take_steers())
        self._listen_again(session)

    def give_back(self, unsaid: Sequence[str]) -> None:
        """Prompts that nobody took up are no longer queued: they go back to be edited."""
        for prompt in unsaid:
            self.prompt_box.queue.remove_prompt(prompt)
        if unsaid:
            self.prompt_box.set_text("\n\n".join([*unsaid, self.prompt_box.text]).strip())

    @on(PromptQueue.Withdrawn)
    def _withdraw(self, event: PromptQueue.Withdrawn) -> None:
        """A queued prompt waits no more; to be edited, it goes into the prompt."""
        if self.session is None or not self.session.withdraw_steer(event.text):
            self.notices.hint("The agent has just read it.")
            return
        self.prompt_box.queue.remove_prompt(event.text)
        if event.edit:
            self.prompt_box.set_text("\n\n".join(filter(None, [event.text, self.prompt_box.text])))
            self.prompt_box.focus()
        self.keep_drafts()

    @property
    def _drafts(self) -> Drafts:
        return Drafts(self.prompt_box.text, self.prompt_box.queue.prompts)

    @on(PromptBox.Edited)
    def keep_drafts(self) -> None:
        if self.session is not None:
            # Called by the worker: one that is replaced before it starts leaves nothing unawaited.
            keep: Callable[[], Awaitable[None]] = partial(
                self._keeper.keep, self.session, self._drafts
            )
            self.run_worker(keep, group="drafts", exclusive=True, exit_on_error=False)

    async def _take_up_drafts(self, before: LiveSession | None, session: LiveSession) -> None:
        """What was typed or waited when the program last ended goes into the prompt.

        What is in the prompt moves along from the session before.
        """
        if before is not None:
            await self._keeper.keep_now(before, Drafts())
        kept = await self._keeper.take_up(session)
        text = "\n\n".join(filter(None, [*kept.queued, kept.text]))
        if text and not self.prompt_box.text:
            self.prompt_box.set_text(text)

    @on(PromptBox.PageTurned)
    def _turn_page(self, event: PromptBox.PageTurned) -> None:
        if self.session is not None:
            self.timeline.action_page(event.step)

    @on(PromptBox.CommandEntered)
    def _take_command(self, event: PromptBox.CommandEntered) -> None:
        self.run_command(event.name, event.argument)

    def on_key(self, event: events.Key) -> None:
        """Take what is typed in the conversation for the prompt, except the conversation's keys."""
        # What comes here while the prompt has the keys was on its way when it got them.
        is_typed = self.prompt_box.is_writing or event.key not in self.active_bindings
        is_letter = event.is_printable and not event.key.startswith("alt+")
        if is_letter and is_typed and self.prompt_box.take_typed(event):
            event.stop()

    def on_paste(self, event: events.Paste) -> None:
        """Take what is pasted in the conversation for the prompt."""
        self.prompt_box.paste(event.text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "fork_read_only":  # where one can write, an f is a letter
            return self.session is not None and bool(self.session.read_only)
        return super().check_action(action, parameters)

    def action_fork_read_only(self) -> None:
        """A window that only reads along offers a fork by a single key."""
        self.run_command("fork", "")

    def action_command(self, name: str) -> None:
        """A key of the command table was pressed."""
        self.run_command(name, "")

    def run_command(self, name: str, argument: str) -> None:
        """Have a command of the table carried out."""
        self.post_message(self.CommandCalled(name, argument))

    def on_timeline_checkpoint_pressed(self, event: Timeline.CheckpointPressed) -> None:
        self.post_message(self.FlowWanted("revert_to", event.checkpoint))

    def on_timeline_compaction_pressed(self, event: Timeline.CompactionPressed) -> None:
        self.post_message(self.FlowWanted("show_compaction", event.archive))

    def on_timeline_archive_pressed(self, event: Timeline.ArchivePressed) -> None:
        self.post_message(self.FlowWanted("show_archive", event.archive))

    def on_timeline_entry_pressed(self, event: Timeline.EntryPressed) -> None:
        self.post_message(self.FlowWanted("show_tree", event.entry))

    def on_timeline_block_wanted(self, event: Timeline.BlockWanted) -> None:
        self.post_message(self.FlowWanted(event.flow, event.text))

    @on(TokenGauge.AttributionRequested)
    def _take_gauge_click(self) -> None:
        self.run_command("tokens", "")

    def escape(self) -> None:
        """Interrupt what runs; with nothing to interrupt, a second Esc offers to go back."""
        if self.runner.under_way():
            self.run_worker(self.runner.interrupt(), exit_on_error=False)
            return
        now = time.monotonic()
        if now - self._escaped_at < _SECOND_ESCAPE_SECONDS and not self.prompt_box.text:
            self.run_command("revert", "")
        self._escaped_at = now
        self.prompt_box.focus()

    # What the program has to say.

    def fail_to_begin(self, sentence: str) -> None:
        """Show why no session could be opened; prompts stay in the prompt from here on."""
        self._has_failed = True
        self.status.is_starting = False
        if self._early_prompt:
            self.prompt_box.set_text(self._early_prompt)
        self.notices.failure(sentence)

    def _show_notice_line(self, sentence: str) -> None:
        """A notice stands in the frame of the prompt, over what is typed and covering nothing."""
        self.prompt_box.notice = sentence
        self.status.shows_notice = self.prompt_box.has_class("-short")

    def _show_title(self, title: str) -> None:
        self.prompt_box.session_title = title

    def ask_approval(self, request: ApprovalRequest) -> None:
        """Ask the user about an action that waits."""
        from agent_tui.core.events import ApprovalAnswer
        from agent_tui.ui.screens.dialogs.approval import ApprovalScreen

        def answered(answer: ApprovalAnswer | None) -> None:
            if self.session is not None:
                self.session.answer(request.id, answer or ApprovalAnswer("reject"))

        self.timeline.action_last()
        prompt, scroll = self.prompt_box, self.timeline.scroll_rows
        screen = ApprovalScreen(request, draft=prompt, on_scroll=scroll)
        self.app.push_screen(screen, answered)

    def reload_compacted(self) -> None:
        """Show the log as it is after a compaction, below what it took out."""
        self.reload([*self._earlier, *self._shown][-_EARLIER_RECORDS:])

    def return_prompt(self, prompt: str) -> None:
        """Put a prompt that was removed back into the prompt; one that is still there leaves."""
        before = self.prompt_box.text
        written = "" if before == self._returned_prompt else before
        text = "\n\n".join(filter(None, [prompt, written]))
        if text != before:
            self.prompt_box.set_text(text)
        self._returned_prompt = prompt
        self.prompt_box.focus()


def _import_timeline() -> tuple[type[Timeline], type[WireView]]:
    from agent_tui.ui.conversation.wire_view import WireView
    from agent_tui.ui.widgets.timeline.timeline import Timeline

    return Timeline, WireView
