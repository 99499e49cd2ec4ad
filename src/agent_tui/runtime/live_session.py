"""One open session: its state, its turns, and the approvals that they ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent_tui.agent.approval import Approvals
from agent_tui.agent.questions import Questions
from agent_tui.agent.unanswered import can_retry
from agent_tui.core.errors import SessionError
from agent_tui.core.events import Event, TurnEnd
from agent_tui.core.text import first_line
from agent_tui.core.usage import Gauge
from agent_tui.history.sources.live_source import LiveSource, MemorySource
from agent_tui.history.view import SessionView
from agent_tui.runtime.building.parts import CurrentParts
from agent_tui.runtime.building.shares import Shares
from agent_tui.runtime.files.watching import has_cut_off_revert
from agent_tui.runtime.operations.beginning import find_cut_off, note_beginning
from agent_tui.runtime.operations.gate import Gate
from agent_tui.sessions.drafts import DraftFile

if TYPE_CHECKING:
    from agent_tui.providers.base import ToolSchema
    from agent_tui.runtime.files.session_files import SessionFiles
    from agent_tui.runtime.operations.aside import Aside
    from agent_tui.runtime.operations.compacting import Compacting
    from agent_tui.runtime.operations.operations import Operations
    from agent_tui.tools.running_commands import RunningCommands


_LAST_CAPTURE_SECONDS = 2.0
"""Seconds to wait on closing for captures under way; the next opening finds the rest."""


class LiveSession:
    """An open session, as a front-end uses it.

    Attributes:
        folder: where its tools work.
        view: how it is looked at.
        shares: what fills its context.
        drafts: what was typed and not sent, or waited for the agent, when the program last ended.
        instructions: which of the project's instruction files a new session took, in words.
        approvals: what is allowed without asking, and in which mode; takes answers to requests.
        questions: what the agent asks; takes the answers.
        commands: the agent's commands in the background, which a person can stop.
        subagents: those that work for calls of the running turn; None where there can be none.
        wide_folder: the folder that its log names, where it is too wide to be used unasked.
    """

    def __init__(self, parts: CurrentParts, related: Callable[[], Sequence[Path]] = tuple) -> None:
        self._parts = parts
        self.approvals: Approvals = parts.equipment.approvals
        self.questions: Questions = parts.equipment.questions
        self.commands: RunningCommands = parts.equipment.commands
        self.subagents = parts.equipment.subagents
        self.folder = parts.equipment.folder
        self._log = parts.log
        self._gate = Gate(parts.log)
        self.drafts = DraftFile(parts.log.folder, on_disk=parts.log.on_disk)
        self.shares = Shares(parts)
        source = (LiveSource if parts.log.on_disk else MemorySource)(
            parts.log,
            count=lambda message: parts.now.context.count_message(message),
            tokens=lambda: self.gauge.tokens,
            related=related,
        )
        self.view = SessionView(source)
        self.instructions = ""
        self.wide_folder: Path | None = None

    @property
    def kept_in(self) -> Path | None:
        """The folder of its log, and of all that goes with it; None before it is kept."""
        is_kept = self._log.on_disk and not self.view.is_empty
        return self._log.folder if is_kept else None

    # What the first answer does not need is loaded when it is first used.

    def _load_files(self) -> SessionFiles:
        from agent_tui.runtime.files.session_files import SessionFiles

        return SessionFiles(self._log, self._parts.equipment.watch, self._parts.equipment.workspace)

    files = cached_property(_load_files)
    """What changed in the workspace, and what a revert of files would do."""

    def _load_operations(self) -> Operations:
        from agent_tui.runtime.operations.operations import Operations

        return Operations(self.view, self._parts, self._gate, self.files)

    operations = cached_property(_load_operations)
    """The operations that change it and can be undone."""

    def _load_compacting(self) -> Compacting:
        from agent_tui.runtime.operations.compacting import Compacting

        return Compacting(self._parts, self._gate)

    compacting = cached_property(_load_compacting)
    """Previews of compactions."""

    def _load_aside(self) -> Aside:
        from agent_tui.runtime.operations.aside import Aside

        return Aside(self._parts)

    aside = cached_property(_load_aside)
    """Side questions, which are stored nowhere."""

    @property
    def tools(self) -> tuple[ToolSchema, ...]:
        """The tools that the model is offered now, those of ready MCP servers included."""
        return self._parts.equipment.toolset.refresh()

    @property
    def session_id(self) -> str:
        return self._log.folder.name

    @property
    def read_only(self) -> str:
        """Why the session cannot be written now; empty when it can."""
        return self._log.read_only

    @property
    def is_saved(self) -> bool:
        """Whether it is on disk, and can be continued another time."""
        return self._log.on_disk

    @property
    def model(self) -> str:
        return self._parts.now.model

    @property
    def provider(self) -> str:
        """The name of the provider that is asked."""
        return self._parts.now.provider

    @property
    def recorded_model(self) -> str:
        """The model that the session last asked, whatever this run would ask."""
        return self._log.state.model or self.model

    @property
    def gauge(self) -> Gauge:
        """How full the context is now."""
        return self._parts.gauge

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        return self._gate.busy

    @property
    def notices(self) -> list[str]:
        """What was found and put right on opening, for the user to know."""
        return self._log.notices

    @property
    def cut_off(self) -> str:
        """That the program ended in the middle of the last turn, if it did; else empty."""
        return "" if self.busy or self.read_only else find_cut_off(self._parts, self.view)

    def subscribe(
        self, listener: Callable[[Event], None], dropped: Callable[[Exception], None] | None = None
    ) -> Callable[[], None]:
        """Hear every event of this session; call the result to stop.

        A listener that raises is dropped, and ``dropped`` is called with why.
        """
        return self._parts.wire.subscribe(listener, dropped)

    async def run_turn(self, prompt: str) -> TurnEnd:
        """Work on a prompt until the answer is complete; cancel the task to interrupt.

        Raises:
            SessionReadOnly: the session cannot be written now.
            SessionError: a turn is already running.
        """
        async with self._gate.working():
            title = "" if self._log.state.title or not self.view.is_empty else first_line(prompt)
            await note_beginning(self._parts, title, find_cut_off(self._parts, self.view))
            return await self._parts.now.agent.run_turn(prompt)

    async def retry_turn(self) -> TurnEnd:
        """Continue the last turn where it ended without its answer; there is no new prompt.

        Raises:
            SessionError: the last turn was answered, or there is none.
        """
        async with self._gate.working():
            if not can_retry(self.view.records):
                raise SessionError("Nothing to retry: the last prompt was answered.")
            return await self._parts.now.agent.retry_turn()

    async def run_shell(self, command: str) -> None:
        """Run a command that the user typed, and let the agent see what it printed."""
        from agent_tui.runtime.operations.shell import Shell

        async with self._gate.working():
            parts = self._parts
            shell = Shell(parts.equipment.toolset, parts.now.context, parts.wire)
            await shell.run(command)
            self._parts.tell_status()

    def steer(self, prompt: str) -> None:
        """Let a message join the running turn at its next step."""
        self._parts.now.agent.steer(prompt)

    def withdraw_steer(self, prompt: str) -> bool:
        """Drop a message that is still waiting; False if a step has taken it already."""
        return self._parts.now.agent.withdraw_steer(prompt)

    def take_steers(self) -> list[str]:
        """Withdraw and return the messages that no step took, for the prompt."""
        return self._parts.now.agent.take_steers()

    async def warm(self) -> None:
        """Count the history exactly, off the loop; until then a long one is counted roughly."""
        await self._parts.warm()

    async def recover_files(self) -> None:
        """Finish or roll back a revert of files that a crash cut off; a notice says which."""
        is_cut_off = await asyncio.to_thread(has_cut_off_revert, self._log)
        if is_cut_off and (told := await self.files.recover()):
            self.notices.append(told)

    async def follow(self) -> Literal["", "grown", "replaced"]:
        """Catch up with another process: nothing, more of the same path, or another log."""
        before = self._log.state.entries
        if not await self._log.reload():
            return ""
        return "grown" if self._log.state.entries is before else "replaced"

    async def is_free(self) -> bool:
        """Whether the window that prevented writing has closed; reopen the session to write."""
        return await self._log.is_free()

    async def close(self) -> None:
        """End its commands, write what the disk refused earlier, and release the session's lock."""
        await self._parts.equipment.commands.close()
        await self._parts.equipment.watch.idle(_LAST_CAPTURE_SECONDS)
        await self._parts.now.agent.flush()
        await self._log.close()
