"""The way of a prompt: from the box to the session, into the queue, and back to be edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_tui.ui.commands.table import name_keys

if TYPE_CHECKING:
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.drafts import DraftKeeper
    from agent_tui.ui.conversation.holder import SessionHolder
    from agent_tui.ui.conversation.notices import Notices
    from agent_tui.ui.conversation.operation_runner import OperationRunner
    from agent_tui.ui.conversation.panes import Panes
    from agent_tui.ui.conversation.shown_log import ShownLog

_WAITING = "Starting; your message will be sent in a moment."
_NO_SESSION = "No session is open: {sessions} lists them, {new} starts a new one."
_NO_ENGINE = "agent-tui could not start: fix the error above, then start it again."


class Prompts:
    """Sends prompts and shell commands, and gives back what nobody took up."""

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
        self._returned = ""
        self._has_failed = False

    def send(self, prompt: str) -> None:
        """Start a turn; steer the one that runs; wait while the engine is still starting."""
        prompt_box = self._panes.prompt_box
        prompt_box.history.add(prompt)
        session = self._holder.session
        if session is None and self._has_failed:
            prompt_box.set_text(prompt)
            sentence = _NO_SESSION if self._holder.engine else _NO_ENGINE
            self._notices.hint(name_keys(self._panes.status.app, sentence))
        elif session is None:
            self._early = prompt
            self._notices.hint(_WAITING)
        elif self._runner.is_busy:
            session.steer(prompt)
            prompt_box.queue.add(prompt)
            self._drafts.keep()
            self._panes.timeline.action_last()
        else:
            self._show_end()
            self._runner.start_turn(lambda session: session.run_turn(prompt))

    def send_early(self, otherwise: str) -> None:
        """Send what was typed before there was a session, or else another prompt."""
        prompt, self._early = self._early or otherwise, ""
        if self._panes.status.notice == _WAITING:
            self._panes.status.notice = ""
        if prompt:
            self.send(prompt)

    def refuse(self) -> None:
        """No session could be opened: prompts stay in the box from here on."""
        self._has_failed = True
        if self._early:
            self._panes.prompt_box.set_text(self._early)

    def run_shell(self, command: str) -> None:
        """Run a command of the user; while the agent works it stays in the box."""
        if self._runner.is_busy:
            self._panes.prompt_box.set_text(f"!{command}")
            self._notices.hint("The agent is working. Wait or interrupt it, then run this.")
            return
        self._show_end()
        self._runner.start_turn(lambda session: self._watch_shell(session, command))

    async def _watch_shell(self, session: LiveSession, command: str) -> None:
        self._panes.show_work("running your command")
        try:
            await session.run_shell(command)
        finally:
            self._panes.show_work("")
            self._log.settle()

    def _show_end(self) -> None:
        self._panes.show_conversation(shown=True)
        self._panes.timeline.action_last()

    def take_joined(self, prompt: str) -> None:
        """A queued prompt was read by the agent: it waits no more."""
        self._panes.prompt_box.queue.remove_prompt(prompt)
        self._drafts.keep()

    def withdraw(self, prompt: str, *, edit: bool) -> None:
        """A queued prompt waits no more; to be edited, it goes into the box."""
        prompt_box = self._panes.prompt_box
        if self._holder.session is None or not self._holder.session.withdraw_steer(prompt):
            self._notices.hint("The agent has already read it.")
            return
        prompt_box.queue.remove_prompt(prompt)
        if edit:
            prompt_box.set_text("\n\n".join(filter(None, [prompt, prompt_box.text])))
            prompt_box.focus()
        self._drafts.keep()

    def give_back(self, unsaid: Sequence[str]) -> None:
        """Prompts that nobody took up are no longer queued: they go back to be edited."""
        prompt_box = self._panes.prompt_box
        for prompt in unsaid:
            prompt_box.queue.remove_prompt(prompt)
        if unsaid:
            prompt_box.set_text("\n\n".join([*unsaid, prompt_box.text]).strip())

    def return_prompt(self, prompt: str) -> None:
        """Put a prompt that an operation removed into the box; one that is still there leaves."""
        prompt_box = self._panes.prompt_box
        before = prompt_box.text
        written = "" if before == self._returned else before
        text = "\n\n".join(filter(None, [prompt, written]))
        if text != before:
            prompt_box.set_text(text)
        self._returned = prompt
        prompt_box.focus()
