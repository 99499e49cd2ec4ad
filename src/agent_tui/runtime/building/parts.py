"""What one open session is made of, and how that changes with the model."""

from __future__ import annotations

import asyncio
from dataclasses import field
from pathlib import Path
from typing import Protocol

from agent_tui.agent.approval import Approvals
from agent_tui.agent.compactor import Compactor
from agent_tui.agent.loop import Agent
from agent_tui.agent.questions import Questions
from agent_tui.agent.settle import settle
from agent_tui.agent.spec import AgentSpec
from agent_tui.agent.subagent import Subagents
from agent_tui.agent.time_travel import DMailDesk
from agent_tui.agent.toolset import Toolset
from agent_tui.agent.wire import Wire
from agent_tui.agent.workspace_watch import WorkspaceWatch
from agent_tui.context.context import Context
from agent_tui.core.dataclass import dataclass
from agent_tui.core.events import StatusChanged
from agent_tui.core.records import ModelRecord
from agent_tui.core.usage import Gauge
from agent_tui.runtime.connect.connections import Connection
from agent_tui.runtime.starting.working_folder import WorkingFolder
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.store import Durability
from agent_tui.tools.background_command import EndedCommands
from agent_tui.tools.running_commands import RunningCommands


@dataclass(frozen=True, slots=True)
class Equipment:
    """What a session has for good, whichever model it asks.

    It remembers what was allowed, which files were read and which commands run.

    Attributes:
        spec: the agent that it began with.
        workspace: where its tools work; ``folder`` tells people of it.
        ended: tells of commands that ended in the background.
        subagents: those that may help it; None where there can be none.
        desk: takes D-Mails; None where the agent may send none.
        made: the parts that are in force, for subagents to look at.
    """

    spec: AgentSpec
    workspace: Path
    folder: WorkingFolder
    approvals: Approvals
    questions: Questions
    commands: RunningCommands
    ended: EndedCommands
    toolset: Toolset
    watch: WorkspaceWatch
    subagents: Subagents | None
    desk: DMailDesk | None
    made: list[SessionParts] = field(default_factory=list, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class SessionParts:
    """What is assembled for one session and one model."""

    equipment: Equipment
    connection: Connection
    context: Context
    compactor: Compactor
    agent: Agent

    @property
    def model(self) -> str:
        """The name of the model that is asked."""
        return self.connection.model

    @property
    def provider(self) -> str:
        """The name of the provider that is asked."""
        return self.connection.provider.name


class BuildParts(Protocol):
    """Assembles sessions."""

    def build(
        self, log: SessionLog, wire: Wire, connection: Connection, keep: Equipment | None = None
    ) -> SessionParts:
        """The parts over a log and a wire, with the equipment that the session has already."""
        ...

    def connection_for(self, log: SessionLog) -> Connection:
        """The model that the session continues with. Blocks."""
        ...

    def choose(self, name: str, provider: str, *, exact: bool = False) -> Connection | None:
        """A model by the name that a person gave it; None where nobody can be asked. Blocks.

        With ``exact`` the name is the model's own at this provider.
        """
        ...


class CurrentParts:
    """The parts that a session has now; a choice of model assembles them again.

    Attributes:
        log: the session's log.
        wire: carries the session's events.
        now: the parts.
    """

    def __init__(
        self, log: SessionLog, wire: Wire, builder: BuildParts, connection: Connection
    ) -> None:
        self.log = log
        self.wire = wire
        self._builder = builder
        self.now = builder.build(log, wire, connection)

    @property
    def equipment(self) -> Equipment:
        """What the session has, whichever model it asks."""
        return self.now.equipment

    @property
    def gauge(self) -> Gauge:
        """How full the context is now."""
        return self.now.compactor.gauge()

    def tell_status(self) -> None:
        """Tell everyone how full the context is and which model is asked."""
        self.wire.emit(StatusChanged(self.gauge, None, self.now.model))

    async def note_model(self) -> None:
        """Record that this run asks another model than the log says, if the log can be written."""
        state, now = self.log.state, self.now
        was = (state.provider, state.model)
        if self.log.read_only or not all(was) or was == (now.provider, now.model):
            return
        before = state.model if state.provider == now.provider else "/".join(was)
        record = ModelRecord(now.provider, now.model, before)
        await settle(self.log.append(record, durability=Durability.D0))

    async def use_model(self, name: str, provider: str = "") -> str:
        """Ask another model from here on, and write that down; returns its name.

        ``PROVIDER/MODEL`` names a model of another provider, unless the provider is given, too.
        """
        here = self.now
        chosen = await asyncio.to_thread(
            self._builder.choose, name, provider or here.provider, exact=bool(provider)
        )
        return await self._change_model(name, here.provider, here.model, "", chosen)

    async def put_back_model(self, choice: ModelRecord, reason: str) -> str:
        """Return to the model from before a choice; returns its name."""
        name = choice.before or ""
        chosen = await asyncio.to_thread(self._builder.choose, name, choice.provider)
        return await self._change_model(name, choice.provider, choice.model, reason, chosen)

    async def _change_model(
        self, name: str, provider: str, model: str, reason: str, chosen: Connection | None
    ) -> str:
        """Change from one model at a provider to another; a record names both."""
        before = self.now
        to = (chosen.provider.name, chosen.model) if chosen is not None else (provider, name)
        was = model if to[0] == provider else f"{provider}/{model}"
        is_change = bool(reason) or to != (provider, model)
        record = ModelRecord(*to, was if is_change else None, reason)
        parts = before
        if chosen is not None:
            parts = self._builder.build(self.log, self.wire, chosen, self.equipment)
            parts.compactor.review = before.compactor.review

        async def change() -> None:
            await self.log.append(record, durability=Durability.D1)
            self.now = parts
            self.tell_status()

        await settle(change())
        if parts is not before:
            await self.warm()
        return to[1]

    async def warm(self) -> None:
        """Count the history exactly, off the loop; until then a long one is counted roughly."""
        await self.now.context.warm()
        self.tell_status()
