"""The engine: everything that a front-end is given."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from agent_tui.agent.spec import DEFAULT_AGENT
from agent_tui.config import config_path, data_root
from agent_tui.runtime.building.agents import Agents
from agent_tui.runtime.building.assembling import Run, assemble_run
from agent_tui.runtime.building.builder import SessionBuilder
from agent_tui.runtime.live_session import LiveSession
from agent_tui.runtime.opening import Opening
from agent_tui.runtime.starting.confining import describe_sandbox
from agent_tui.runtime.starting.debug_log import log_event
from agent_tui.runtime.starting.launch import Launch
from agent_tui.runtime.starting.project import Project
from agent_tui.runtime.starting.run_settings import read_settings
from agent_tui.runtime.starting.setting_files import SettingFiles
from agent_tui.runtime.starting.working_folder import WorkingFolder
from agent_tui.runtime.stored.headers import new_header

if TYPE_CHECKING:
    from agent_tui.library.agent_sessions import AgentSessions
    from agent_tui.runtime.connect.connecting import Connecting
    from agent_tui.runtime.stored.searching import SearchService
    from agent_tui.runtime.stored.sessions import StoredSessions

_ONLY_READING = "it was opened read-only"


class Engine:
    """Everything that a front-end is given; ``assemble`` it in a thread after the first frame.

    Attributes:
        launch: what the command line asked for.
        settings: the settings of this run.
        setting_files: where they are written.
        workspace: where a new session works.
        folder: that folder as people are told of it.
        project: whether what it ships is used.
        agents: the agents there are.
        connections: the models that can be asked, and which one a new session asks.
        tool_servers: MCP servers, where any may be used.
        suggestions: first prompts to offer.
    """

    def __init__(self, run: Run) -> None:
        self.launch = run.launch
        self.settings = run.settings
        self.setting_files = SettingFiles(run.launch)
        self.workspace = run.workspace
        self.suggestions = run.suggestions
        self.tool_servers = run.tool_servers
        self._store = run.store
        self.connections = run.connections
        self.folder = WorkingFolder(run.workspace)
        self.project = Project(run.workspace, trusted=run.trusted or run.launch.trust)
        self.agents = Agents(config_path().parent, self.project.trusted_folders())
        self._builder = SessionBuilder(run, self.agents, self.project)
        listeners = (log_event,) if run.launch.debug else ()
        self._opening = Opening(self._builder, run.store, listeners)

    @classmethod
    def assemble(cls, launch: Launch) -> Engine:
        """Read the settings, and make the provider and the store; raises ConfigError."""
        return cls(assemble_run(launch))

    # What the first answer does not need is loaded when it is first used.

    @cached_property
    def stored(self) -> StoredSessions:
        """The sessions on disk."""
        from agent_tui.runtime.stored.sessions import StoredSessions

        listing = self.launch.command("sessions list")
        return StoredSessions(self._store, self.workspace, self._builder.instruct, listing)

    @cached_property
    def agent_sessions(self) -> AgentSessions:
        """Other agents' sessions on this machine."""
        from agent_tui.library.agent_sessions import AgentSessions
        from agent_tui.runtime.stored.agent_places import agent_places

        return AgentSessions(data_root(), agent_places(self.settings))

    @cached_property
    def search_service(self) -> SearchService:
        """Searches every session on this machine."""
        from agent_tui.runtime.stored.agent_places import agent_places
        from agent_tui.runtime.stored.searching import SearchService

        places, of_demo = agent_places(self.settings), self.launch.is_tour
        return SearchService(self.launch.home, places, of_demo=of_demo)

    @cached_property
    def connecting(self) -> Connecting:
        """What connects a provider."""
        from agent_tui.runtime.connect.connecting import Connecting

        return Connecting(lambda: self.settings, self.reload_settings)

    async def warm(self) -> None:
        """Load what the first request needs, in a thread, and start the MCP servers."""
        if self.tool_servers is not None:
            self.tool_servers.start()
        await self.connections.warm()

    async def settle_tools(self) -> list[str]:
        """Wait for the MCP servers; a sentence for each that cannot be used."""
        if self.tool_servers is None:
            return []
        self.tool_servers.start()
        await self.tool_servers.settle()
        return self.tool_servers.describe_troubles()

    async def sandbox(self) -> str:
        """Whether commands run in a sandbox here, in two words."""
        return await asyncio.to_thread(describe_sandbox, self.settings)

    async def new_session(self) -> LiveSession:
        """Start a conversation in the workspace."""
        header = await asyncio.to_thread(new_header, self.workspace)
        header = replace(header, agent=self._builder.agent_name)
        return await self._opening.open(await self._store.create(header))

    @property
    def agent(self) -> str:
        """The name of the agent that a new session has."""
        return self._builder.agent_name or DEFAULT_AGENT

    async def use_agent(self, name: str) -> LiveSession:
        """Start a conversation with another agent; raises ConfigError where there is none."""
        await asyncio.to_thread(self.agents.find, name)
        self._builder.use_agent(name)
        return await self.new_session()

    async def open_session(self, session_id: str) -> LiveSession:
        """Open a session by its id, or by the beginning of it; raises SessionNotFound."""
        found = await self.stored.find_id(session_id)
        return await self._opening.open(await self._store.open(found))

    async def open_in_its_folder(self, session: LiveSession) -> LiveSession:
        """Reopen a session in the wide folder that it names, after the person agreed."""
        if session.wide_folder is not None:
            self._opening.accept_folder(session.wide_folder)
        await session.close()
        return await self.open_session(session.session_id)

    async def read_session(self, session_id: str) -> LiveSession:
        """Open a session read-only: nothing is locked or written, whoever has it open."""
        folder = await self.stored.find_folder(session_id)
        return await self._opening.open(await self._store.open_folder(folder, _ONLY_READING))

    async def latest_session(self) -> LiveSession:
        """Open the newest session of the workspace; a new one when it has none."""
        model = self.connections.default.model
        for row in await self.stored.list_sessions():
            # A demo gets a new copy of its workspace each time: its sessions are told by model.
            if row.model == model if self.launch.demo else row.cwd == str(self.workspace):
                return await self.open_session(row.session_id)
        session = await self.new_session()
        session.notices.append("No earlier session here; started a new one.")
        return session

    async def open_launched(self) -> LiveSession:
        """Open what the command line asked for: a session by id, the latest, or a new one."""
        if self.launch.resume:
            return await self.open_session(self.launch.resume)
        if self.launch.latest:
            return await self.latest_session()
        return await self.new_session()

    async def reload_settings(self) -> None:
        """Read the settings again, and ask the providers that they name now; raises ConfigError."""
        trusted = self.project.trusted
        self.settings = await asyncio.to_thread(read_settings, self.launch, trusted=trusted)
        await asyncio.to_thread(self.connections.refresh, self.settings)
        await self.connections.warm()

    async def close_session(self, session: LiveSession) -> None:
        """Close a session; one in which nothing was said leaves no trace."""
        empty, session_id = session.view.is_empty and not session.read_only, session.session_id
        await session.close()
        if empty and not await session.view.archives():
            await self._store.discard(session_id)

    async def aclose(self) -> None:
        """Close everything; the demo's workspace is removed."""
        if self.tool_servers is not None:
            await self.tool_servers.aclose()
        await self.connections.aclose()
        await self._store.aclose()
        if self.launch.demo:
            await asyncio.to_thread(shutil.rmtree, self.workspace.parent, ignore_errors=True)
