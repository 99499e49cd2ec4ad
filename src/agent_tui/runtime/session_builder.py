"""How a session is put together over its log: model, tools, approvals, compactor, agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from agent_tui.agent.approval import Approvals
from agent_tui.agent.compactor import CompactionPolicy, Compactor
from agent_tui.agent.instructions import Instructions, project_instructions
from agent_tui.agent.loop import Agent
from agent_tui.agent.permissions import Rule
from agent_tui.agent.system_prompt import write_system_prompt
from agent_tui.agent.toolset import Toolset
from agent_tui.agent.wire import Wire
from agent_tui.config import Settings, config_path, data_root
from agent_tui.context.context import Context
from agent_tui.core.records import ModelRecord, SystemPrompt
from agent_tui.runtime.connect import Connection, Connections
from agent_tui.runtime.launch import Launch
from agent_tui.runtime.limits import amounts_of, limits_of
from agent_tui.runtime.session_files import watch_workspace
from agent_tui.runtime.session_parts import SessionParts
from agent_tui.runtime.tool_servers import ToolServers
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.store import Durability
from agent_tui.tools.base import AnyTool, FileMemory, ToolContext
from agent_tui.tools.catalogue import builtin_tools
from agent_tui.tools.present_plan import PresentPlan


class SessionBuilder:
    """Assembles the sessions of one run.

    Args:
        launch: what the command line asked for.
        settings: limits, and when a context is compacted.
        connections: the models that can be asked.
        workspace: where a new session works.
        tool_servers: servers whose tools are offered beside the built-in ones.
    """

    def __init__(
        self,
        launch: Launch,
        settings: Settings,
        connections: Connections,
        workspace: Path,
        tool_servers: ToolServers | None,
    ) -> None:
        self._launch = launch
        self._settings = settings
        self._connections = connections
        self._workspace = workspace
        self._tool_servers = tool_servers

    def connection_for(self, log: SessionLog) -> Connection:
        """The model that the session had, unless this run names another. Blocks."""
        if self._launch.model:
            return self._connections.default
        return self._connections.find(log.state.provider, log.state.model)

    def choose(self, name: str, provider: str) -> Connection | None:
        """A model by the name that a person gave it; None where nobody can be asked. Blocks."""
        return self._connections.choose(name, provider)

    def build(
        self, log: SessionLog, wire: Wire, connection: Connection, keep: SessionParts | None = None
    ) -> SessionParts:
        """The parts over a log and a wire.

        Given the parts before, what was allowed and which files were seen stay known.
        """
        workspace = self.workspace_of(log)
        if keep is not None:
            approvals, toolset, watch = keep.approvals, keep.toolset, keep.watch
        else:
            approvals = self._approvals(wire)
            ours = (data_root(), config_path().parent)
            captured = workspace if self._settings.workspace.capture else None
            watch = watch_workspace(log, wire, captured)
            given = ToolContext(workspace, FileMemory(), ours)
            toolset = Toolset(self._tools(approvals), given, watch)
        context = Context(log, connection.counter, toolset.schemas)
        compactor = Compactor(
            context=context,
            provider=connection.provider,
            model=connection.model,
            policy=self._policy(connection.window),
            wire=wire,
            workspace=workspace,
        )
        agent = Agent(
            context=context,
            provider=connection.provider,
            model=connection.model,
            toolset=toolset,
            approvals=approvals,
            compactor=compactor,
            wire=wire,
            limits=limits_of(self._settings),
        )
        provider, model = connection.provider.name, connection.model
        return SessionParts(
            context, agent, approvals, compactor, toolset, provider, model, workspace, watch
        )

    def _policy(self, window: int) -> CompactionPolicy:
        chosen = self._settings.context
        return CompactionPolicy(
            window=window,
            reserved=chosen.reserved,
            ratio=chosen.ratio,
            strategy=chosen.strategy,
            auto=chosen.auto_compact,
            max_attempts=self._settings.agent.max_attempts,
            amounts=amounts_of(chosen),
        )

    def _approvals(self, wire: Wire) -> Approvals:
        chosen = self._settings.approvals
        rules = [Rule.parse(text) for text in (*chosen.allow, *self._launch.allow)]
        return Approvals(wire.emit, yolo=self._launch.yolo, mode=chosen.mode, always=rules)

    def _tools(self, approvals: Approvals) -> Callable[[], list[AnyTool]]:
        """What gives a session its tools, those of servers as soon as they are ready."""
        own, plan = list(builtin_tools()), PresentPlan()
        borrowed = self._tool_servers.offer() if self._tool_servers is not None else list

        def offer() -> list[AnyTool]:
            return [*own, *([plan] if approvals.mode == "plan" else []), *borrowed()]

        return offer

    def workspace_of(self, log: SessionLog) -> Path:
        """Where the session's tools work: its own folder, except that a demo's is made anew."""
        header = log.state.header
        if header is None or not header.cwd or self._launch.demo:
            return self._workspace
        return Path(header.cwd)

    async def instruct(self, log: SessionLog) -> Instructions:
        """Write the system prompt where there is none, and say what it took from the project.

        That is in a new session, or one whose process was killed before it came so far.
        """
        if log.read_only or log.state.system_prompt:
            return Instructions()
        workspace = self.workspace_of(log)
        instructions = await asyncio.to_thread(project_instructions, workspace)
        prompt = write_system_prompt(workspace, instructions)
        default = self._connections.default
        model = ModelRecord(default.provider.name, default.model)
        await log.append(SystemPrompt(prompt), model, durability=Durability.D0)
        log.notices += instructions.refused
        return instructions
