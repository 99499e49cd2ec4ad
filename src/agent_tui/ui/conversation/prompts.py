"""The path of a prompt: from the box to the session, into the queue, and back to be edited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent_tui.ui.commands.table import name_keys
from agent_tui.ui.conversation.drafts import ReturnedPrompts

if TYPE_CHECKING:
    from agent_tui.core.events import Event
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.drafts import DraftKeeper
    from agent_tui.ui.conversation.holder import SessionHolder
    from agent_tui.ui.conversation.notices import Notices
    from agent_tui.ui.conversation.operation_runner import OperationRunner
    from agent_tui.ui.conversation.panes import Panes
    from agent_tui.ui.conversation.shown_log import ShownLog

_WAITING = "Starting; your message will be sent in a moment."
_NO_SESSION = "No session is open: {sessions} to list them, {new} to start a new one."
_NO_ENGINE = "agent-tui could not start: fix the error above, then start it again."


@contextmanager
def _hearing(session: LiveSession, kind: type[Event]) -> Iterator[list[Event]]:
    """The events of one kind that come meanwhile."""
    heard: list[Event] = []

    def hear(event: Event) -> None:
        if isinstance(event, kind):
            heard.append(event)

    stop = session.subscribe(hear)
    try:
        yield heard
    finally:
        stop()


class Prompts:
    """Sends prompts and shell commands, and gives back what was never taken up."""

    def __init__(
        self,
        panes: Panes,
        holder: SessionHolder,
        notices: Notices,
        runner: OperationRunner,
        drafts: DraftKeeper,
        log: ShownLog,
    ) -> None:
        self._panes = panes
        self._holder = holder
        self._notices = notices
        self._runner = runner
        self._drafts = drafts
        self._log = log
        self._early = ""
        self._returned = ReturnedPrompts()
        self._has_failed = False
        self._why_held = ""

    def send(self, prompt: str) -> None:
        """Start a turn; steer the one that runs; wait while the engine is still starting."""
        prompt_box = self._panes.prompt_box
        prompt_box.history.add(prompt)
        self._returned.forget()  # the same text from here on is one that was typed
        session = self._holder.session
        if session is None and self._has_failed:
            self._refuse_one(prompt)
        elif session is None or self._early:  # what was sent before is still to be sent first
            self._early = "\n\n".join(filter(None, [self._early, prompt]))
            self._notices.hint(self._why_held or _WAITING)
        elif self._runner.is_busy:
            session.steer(prompt)
            prompt_box.queue.add(prompt)
            self._drafts.keep()
            self._panes.timeline.action_last()
        elif self._why_held:
            self._early = prompt
            self._notices.hint(self._why_held)
        else:
            self._show_end()
            self._runner.start_turn(lambda session: self._work_on(session, prompt))

    @contextmanager
    def held(self, why: str) -> Iterator[None]:
        """Keep what is sent until a model answers that is being tried; else it is in the box again.

        Args:
            why: says that to the user.
        """
        self._why_held = why
        try:
            yield
        except BaseException:
            self.return_early()
            raise
        finally:
            self._why_held = ""
        self.send_early()

    def _take_early(self) -> str:
        prompt, self._early = self._early, ""
        return prompt

    async def _work_on(self, session: LiveSession, prompt: str) -> None:
        """Run a turn; a prompt that did not get into the log goes back into the box."""
        from agent_tui.core.events import TurnBegan  # not for the first frame

        with _hearing(session, TurnBegan) as began:
            try:
                await session.run_turn(prompt)
            finally:
                if not began:
                    self._panes.invite("")  # there is nothing to ask the model again
                    self._put_before(prompt)

    def take_given(self, prompt: str) -> None:
        """Keep the prompt of the command line until there is a session."""
        self._early = "\n\n".join(filter(None, [prompt, self._early]))

    def send_early(self) -> None:
        """Send the prompt of the command line, then what was typed before there was a session."""
        prompt = self._take_early()
        if self._panes.status.notice == _WAITING:
            self._panes.status.notice = ""
        if prompt:
            self.send(prompt)

    def refuse(self) -> None:
        """No session could be opened: from here on prompts stay in the box."""
        self._has_failed = True
        self.return_early()

    def return_early(self) -> None:
        """What was sent and still waits for a session goes back into the box."""
        if early := self._take_early():
            self._put_before(early)

    def _refuse_one(self, prompt: str) -> None:
        """There is no session, and none is on its way: what was sent goes back into the box."""
        self._put_before(prompt)
        sentence = _NO_SESSION if self._holder.engine else _NO_ENGINE
        self._notices.hint(name_keys(self._panes.status.app, sentence))

    def _put_before(self, prompt: str) -> None:
        """Put a prompt into the box, before what was written there meanwhile."""
        prompt_box = self._panes.prompt_box
        prompt_box.set_text("\n\n".join(filter(None, [prompt, prompt_box.text])))

    def run_shell(self, command: str) -> None:
        """Run a command of the user; until that is possible it stays in the box."""
        if self._holder.session is None and self._has_failed:
            self._refuse_one(f"!{command}")
            return
        if self._holder.session is None:
            self._put_before(f"!{command}")
            self._notices.hint("Still starting. Send this command again in a moment.")
            return
        if self._runner.is_busy:
            self._panes.prompt_box.set_text(f"!{command}")
            who = "A command" if self._panes.prompt_box.frame.waits else "The agent"
            self._notices.hint(f"{who} is working. Wait or interrupt it, then run this.")
            return
        self._show_end()
        self._runner.start_turn(lambda session: self._watch_shell(session, command))

    async def _watch_shell(self, session: LiveSession, command: str) -> None:
        """Run a command, then send what was typed meanwhile; one that never began is given back."""
        from agent_tui.core.events import ShellBegan  # not for the first frame

        frame = self._panes.prompt_box.frame
        self._panes.show_work("running your command")
        frame.waits = True
        with _hearing(session, ShellBegan) as began:
            try:
                await session.run_shell(command)
            finally:
                frame.waits = False
                self._panes.show_work("")
                self._log.settle()
                if not began:
                    self._put_before(f"!{command}")
        if waiting := session.take_steers():
            for prompt in waiting:
                self._panes.prompt_box.queue.remove_prompt(prompt)
            prompt = "\n\n".join(waiting)
            self._runner.start_turn(lambda session: self._work_on(session, prompt))
            self._drafts.keep()

    def _show_end(self) -> None:
        self._notices.drop_warning()
        self._panes.show_conversation(shown=True)
        self._panes.timeline.action_last()

    def take_joined(self, prompt: str) -> None:
        """The agent has read a queued prompt: remove it from the queue."""
        self._panes.prompt_box.queue.remove_prompt(prompt)
        self._drafts.keep()

    def withdraw(self, prompt: str, *, edit: bool) -> None:
        """Remove a queued prompt; with ``edit`` it goes into the box."""
        prompt_box = self._panes.prompt_box
        if self._holder.session is None or not self._holder.session.withdraw_steer(prompt):
            self._notices.hint("The agent has already read it.")
            return
        prompt_box.queue.remove_prompt(prompt)
        if edit:
            self._put_before(prompt)
            prompt_box.focus()
        self._drafts.keep()

    def give_back(self, unsaid: Sequence[str]) -> None:
        """Return prompts that no step has taken up to the box, to be edited."""
        prompt_box = self._panes.prompt_box
        for prompt in unsaid:
            prompt_box.queue.remove_prompt(prompt)
        if unsaid:
            prompt_box.set_text("\n\n".join([*unsaid, prompt_box.text]).strip())

    def return_prompt(self, prompt: str, *, is_again: bool = False) -> None:
        """Put a prompt that an operation removed into the box, in place of one before it.

        ``is_again``: it was there before, so what was written since stands instead of it.
        """
        before = self._panes.prompt_box.text
        if not is_again or self._returned.may_replace(before):
            self._fill(self._returned.add(prompt, before))

    def take_back(self, prompt: str) -> None:
        """A prompt is in the conversation again: restore what the box held before."""
        self._fill(self._returned.remove(prompt, self._panes.prompt_box.text))

    def _fill(self, text: str) -> None:
        prompt_box = self._panes.prompt_box
        if text != prompt_box.text:
            prompt_box.set_text(text)
        prompt_box.focus()
