"""How a session is put together over its log: model, tools, approvals, compactor, agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from agent_tui.agent.approval import Approvals
from agent_tui.agent.compactor import CompactionPolicy, Compactor
from agent_tui.agent.instructions import Instructions, project_instructions
from agent_tui.agent.loop import Agent
from agent_tui.agent.permissions import Rule
from agent_tui.agent.questions import Questions
from agent_tui.agent.spec import AgentSpec
from agent_tui.agent.subagent import Subagents
from agent_tui.agent.system_prompt import write_system_prompt
from agent_tui.agent.time_travel import DMailDesk
from agent_tui.agent.toolset import Toolset
from agent_tui.agent.wire import Wire
from agent_tui.config import config_path, data_root
from agent_tui.context.context import Context
from agent_tui.core.events import BackgroundChanged, NoticeGiven
from agent_tui.core.records import ModelRecord, SystemPrompt
from agent_tui.core.text import first_line, reveal
from agent_tui.runtime.building.agents import Agents
from agent_tui.runtime.building.assembling import Run
from agent_tui.runtime.building.kept_rules import KeptRules, drop_rule
from agent_tui.runtime.building.limits import amounts_of, limits_of, unlimited_cost
from agent_tui.runtime.building.parts import Equipment, SessionParts
from agent_tui.runtime.building.subagents import SubagentSessions
from agent_tui.runtime.building.tools import session_tools
from agent_tui.runtime.building.uncompacted import uncompacted_records
from agent_tui.runtime.connect.connections import Connection
from agent_tui.runtime.connect.learned_windows import LearnedWindows
from agent_tui.runtime.files.watching import watch_workspace
from agent_tui.runtime.starting.confining import confinement_of, is_too_wide
from agent_tui.runtime.starting.project import Project
from agent_tui.runtime.starting.working_folder import WorkingFolder
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.store import Durability
from agent_tui.tools.background_command import STARTED_MARK, EndedCommands, pick_command_messages
from agent_tui.tools.base import AnyTool, FileMemory, ToolContext
from agent_tui.tools.blobs import BLOBS, BlobFolder
from agent_tui.tools.catalogue import builtin_tools
from agent_tui.tools.present_plan import PresentPlan
from agent_tui.tools.running_commands import RunningCommands


class SessionBuilder:
    """Assembles the sessions of one run.

    Args:
        run: what they are made of; the sessions of subagents go into its store.
        agents: the specs there are.
        project: the workspace, and whether what it ships for agents is used.

    Attributes:
        workspace: where a new session works.
        agent_name: the spec of a new session, as its log names it; empty for the default.
    """

    def __init__(self, run: Run, agents: Agents, project: Project) -> None:
        self.workspace = run.workspace
        self.agent_name = self._agent_of_run = run.launch.agent
        self._store = run.store
        self._agents = agents
        self._windows = LearnedWindows(data_root() / "windows.json", keeps=not run.launch.ephemeral)
        self._launch = run.launch
        self._settings = run.settings
        self._connections = run.connections
        self._tool_servers = run.tool_servers
        self._project = project
        self._accepted: set[Path] = set()
        self._dropped: set[Rule] = set()

    def connection_for(self, log: SessionLog) -> Connection:
        """The model that the session last asked, unless this run names another. Blocks."""
        if self._launch.model:
            return self._connections.default
        return self._connections.find(log.state.provider, log.state.model)

    def choose(self, name: str, provider: str, *, exact: bool = False) -> Connection | None:
        """A model by the name that a person typed; None if its provider cannot be asked. Blocks."""
        return self._connections.choose(name, provider, exact=exact)

    def build(
        self, log: SessionLog, wire: Wire, connection: Connection, keep: Equipment | None = None
    ) -> SessionParts:
        """The parts over a log and a wire, with the equipment that the session has already."""
        told = unlimited_cost(self._settings, connection.model, connection.price)
        if told and keep is not None:
            wire.emit(NoticeGiven(told))
        elif told:
            log.notices.append(told)
        if keep is None:
            keep = self._equip(log, wire, connection, self._spec_of(log))
        return self._assemble(log, wire, connection, keep)

    def use_agent(self, name: str) -> None:
        """Have new sessions begin with this agent, rather than the one of the command line."""
        self.agent_name, self._agent_of_run = name, ""

    def _spec_of(self, log: SessionLog) -> AgentSpec:
        """The spec that this run names, else the one that the session began with.

        A log names no file: what it asks for must be an agent that there is anyway.
        """
        header = log.state.header
        named = header.agent if header else ""
        if self._agent_of_run or not named:
            return self._agents.find(self._agent_of_run)
        if named == self.agent_name or named in self._agents.names():
            return self._agents.find(named)
        log.notices.append(
            f"This session started with the agent {first_line(reveal(named), 80)}, which you "
            "do not have. It continues with the default agent, or choose another agent."
        )
        return self._agents.find()

    def build_child(
        self, log: SessionLog, wire: Wire, spec: AgentSpec, parent: SessionParts
    ) -> SessionParts:
        """The parts of a subagent, whose actions the parent's person decides about."""
        found = self._connections.choose(spec.model or parent.model, parent.provider)
        connection = found or self._connections.default
        equipment = self._equip(log, wire, connection, spec, parent)
        return self._assemble(log, wire, connection, equipment, parent)

    def _equip(
        self,
        log: SessionLog,
        wire: Wire,
        connection: Connection,
        spec: AgentSpec,
        parent: SessionParts | None = None,
    ) -> Equipment:
        """What a session keeps for good; with a ``parent``, for one of its subagents."""
        workspace = self.workspace_of(log)
        made: list[SessionParts] = []
        approvals = parent.equipment.approvals if parent else self._approvals(wire, workspace)
        questions = Questions(wire.emit)
        commands = RunningCommands(lambda *now: wire.emit(BackgroundChanged(*now)))
        named = {} if parent else self._agents.subagents_of(spec)
        subagents = self._subagents(log, wire, workspace, made, spec) if named else None
        desk = DMailDesk(Context(log, connection.counter)) if spec.sends_dmail else None
        watch = watch_workspace(log, wire, workspace if self._settings.workspace.capture else None)
        toolset = Toolset(
            session_tools(
                spec, log, self._tools(approvals), desk, named, is_subagent=parent is not None
            ),
            ToolContext(
                workspace,
                FileMemory(),
                (data_root(), config_path().parent),
                self._settings.commands.output_characters,
                confinement=confinement_of(self._settings),
                commands=commands,
                blobs=BlobFolder(log.folder / BLOBS) if log.on_disk else None,
            ),
            watch,
            spawner=subagents.spawner if subagents else None,
            asker=None if parent else questions.asker,
            who=spec.name if parent else "",
            source=_starting_call(log) if parent else "",
        )
        return Equipment(
            spec,
            workspace,
            WorkingFolder(workspace),
            approvals,
            questions,
            commands,
            EndedCommands(
                commands, lambda: uncompacted_records(log, STARTED_MARK, pick_command_messages)
            ),
            toolset,
            watch,
            subagents,
            desk,
            made,
        )

    def _assemble(
        self,
        log: SessionLog,
        wire: Wire,
        connection: Connection,
        equipment: Equipment,
        parent: SessionParts | None = None,
    ) -> SessionParts:
        """What asks a model, over what the session has; these parts are in force from here on."""
        context = Context(log, connection.counter, equipment.toolset.schemas)
        compactor = Compactor(
            context=context,
            provider=connection.provider,
            model=connection.model,
            policy=self._policy(self._windows.apply(connection.model, connection.window)),
            wire=wire,
            workspace=equipment.workspace,
            on_learned=self._windows.learn,
        )
        check_parent = parent.agent.check_limits if parent else None
        agent = Agent(
            context=context,
            provider=connection.provider,
            model=connection.model,
            toolset=equipment.toolset,
            approvals=equipment.approvals,
            compactor=compactor,
            wire=wire,
            limits=limits_of(self._settings, connection.price, check_parent),
            desk=equipment.desk,
            sees_images=connection.sees_images,
            tell_ended=equipment.ended.tell,
        )
        parts = SessionParts(equipment, connection, context, compactor, agent)
        equipment.made[:] = [parts]
        return parts

    def _subagents(
        self,
        log: SessionLog,
        wire: Wire,
        workspace: Path,
        made: list[SessionParts],
        spec: AgentSpec,
    ) -> Subagents:
        """What starts the subagents of a session."""
        sessions = SubagentSessions(self._store, self, log, workspace)
        return Subagents(
            partial(self._agents.subagent, spec),
            lambda spec, call_id: sessions.open(made[-1], spec, call_id),
            wire,
            lambda: made[-1].compactor.gauge(),
            lambda usage: made[-1].agent.count_usage(usage),
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

    def _approvals(self, wire: Wire, workspace: Path) -> Approvals:
        """What is allowed; rules kept for a folder count only for who starts in it (S29)."""
        chosen = self._settings.approvals
        named = [Rule.parse(text) for text in (*chosen.allow, *self._launch.allow)]
        is_here = workspace == self.workspace and not self._launch.demo
        kept = KeptRules(workspace) if is_here else None
        return Approvals(
            wire.emit,
            yolo=self._launch.yolo,
            mode=chosen.mode,
            always=[rule for rule in named if rule not in self._dropped],
            kept=kept.read() if kept else (),
            keep=kept.change if kept else None,
            drop=self._drop_rule,
        )

    def _drop_rule(self, rule: Rule) -> None:
        """Remove a rule for this run and later ones. Blocks."""
        if not self._launch.demo:
            drop_rule(rule)
        self._dropped.add(rule)

    def _tools(self, approvals: Approvals) -> Callable[[], list[AnyTool]]:
        """What gives a session its tools, those of servers as soon as they are ready."""
        web = self._settings.web
        own, plan = list(builtin_tools(search=web.search_url, private=web.private)), PresentPlan()
        borrowed = self._tool_servers.offer() if self._tool_servers is not None else list

        def offer() -> list[AnyTool]:
            return [*own, *([plan] if approvals.mode == "plan" else []), *borrowed()]

        return offer

    def workspace_of(self, log: SessionLog) -> Path:
        """The folder in which the session's tools work: its own; for a demo, a new one."""
        header = log.state.header
        if header is None or not header.cwd or self._launch.demo:
            return self.workspace
        return self.workspace if self.wide_folder(log) else Path(header.cwd)

    def wide_folder(self, log: SessionLog) -> Path | None:
        """The folder that a log names, if it holds more than a project and was not accepted."""
        header = log.state.header
        if header is None or not header.cwd or self._launch.demo:
            return None
        folder = Path(header.cwd)
        is_wide = folder not in self._accepted and is_too_wide(folder, self.workspace)
        return folder if is_wide else None

    def accept_folder(self, folder: Path) -> None:
        """Let sessions of this run work in a folder, however wide, as a person decided."""
        self._accepted.add(folder)

    async def instruct(self, log: SessionLog, spec: AgentSpec | None = None) -> Instructions:
        """Write the system prompt where there is none, and say what it took from the project.

        That is a new session, or one whose process was killed before it was written.
        """
        if log.read_only or log.state.system_prompt:
            return Instructions()
        workspace = self.workspace_of(log)
        if self._project.trusted:
            instructions = await asyncio.to_thread(project_instructions, workspace)
        else:
            instructions = Instructions(untrusted=await self._project.untrusted_files())
        of_run = await asyncio.to_thread(self._spec_of, log)
        chosen = spec or of_run
        prompt = await asyncio.to_thread(write_system_prompt, workspace, instructions, chosen)
        default = self._connections.default
        model = ModelRecord(default.provider.name, chosen.model or default.model)
        await log.append(SystemPrompt(prompt), model, durability=Durability.D0)
        log.notices += [*instructions.refused, *self._connections.notices]
        return instructions


def _starting_call(log: SessionLog) -> str:
    """The parent's call that started a subagent, as its log says."""
    header = log.state.header
    return str(((header and header.parent) or {}).get("call", ""))
