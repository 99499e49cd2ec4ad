"""The engine: what a run is made of, and the sessions that it opens and closes."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

from agent_tui.agent.prompt_files import PromptFiles, find_prompt_files
from agent_tui.agent.wire import Wire
from agent_tui.config import Settings, config_path, data_root
from agent_tui.config.trust import shipped_files, trust_folder
from agent_tui.context.filters import ContextFilter
from agent_tui.core.cost import Price
from agent_tui.core.errors import AgentTuiError
from agent_tui.core.records import HeadRecord, Record
from agent_tui.core.tool_servers import ToolServerStatus
from agent_tui.library.agent_sessions import AgentSessions
from agent_tui.resources import demo_folder
from agent_tui.runtime.building.agents import Agents
from agent_tui.runtime.building.builder import SessionBuilder
from agent_tui.runtime.building.confining import describe_sandbox, is_too_wide
from agent_tui.runtime.building.parts import CurrentParts
from agent_tui.runtime.connect.connecting import Connecting
from agent_tui.runtime.connect.connections import Connections
from agent_tui.runtime.connect.tool_servers import ToolServers
from agent_tui.runtime.files.completion import FileList
from agent_tui.runtime.launch import Launch
from agent_tui.runtime.live_session import LiveSession
from agent_tui.runtime.machine.where import Where, describe_place
from agent_tui.runtime.starting.debug_log import log_event, quiet_libraries, start_debug_log
from agent_tui.runtime.starting.project import trusted_folders
from agent_tui.runtime.starting.run_settings import read_settings, trusts_project
from agent_tui.runtime.starting.secrecy import hide_memory
from agent_tui.runtime.stored.agent_places import agent_places
from agent_tui.runtime.stored.exporting import Exported, export_file
from agent_tui.runtime.stored.headers import new_header
from agent_tui.runtime.stored.sessions import StoredSessions
from agent_tui.sessions.archive import LIVE
from agent_tui.sessions.index import read_tail
from agent_tui.sessions.replay import Entry
from agent_tui.sessions.store import SessionLog, SessionStore

_LONG_LOG_BYTES = 2_000_000
_GLIMPSE_RECORDS = 200
_ONLY_READING = "it was opened only to be read"


class Engine:
    """All that a front-end is given; ``assemble`` it in a thread behind the first frame.

    Attributes:
        launch: what the command line asked for.
        settings: the settings of this run.
        workspace: where a new session works.
        stored: the sessions on disk.
        suggestions: first prompts to offer.
        trusted: whether what the workspace ships for agents is used.
    """

    def __init__(
        self,
        *,
        launch: Launch,
        settings: Settings,
        store: SessionStore,
        connections: Connections,
        workspace: Path,
        suggestions: tuple[str, ...] = (),
        tool_servers: ToolServers | None = None,
        trusted: bool = False,
    ) -> None:
        self.launch = launch
        self.settings = settings
        self.workspace = workspace
        self.suggestions = suggestions
        self.tool_servers = tool_servers
        self._store = store
        self.agent_sessions = AgentSessions(data_root(), agent_places(settings))
        self._connections = connections
        self.trusted = trusted or launch.trust
        self.connecting = Connecting(lambda: self.settings, self.reload_settings)
        project = trusted_folders(workspace, trusted=self.trusted)
        self.agents = Agents(config_path().parent, project)
        self._builder = SessionBuilder(
            launch,
            settings,
            connections,
            workspace,
            tool_servers,
            store,
            self.agents,
            trusted=self.trusted,
        )
        self.stored = StoredSessions(store, workspace, self._builder.instruct)
        self._files = FileList(workspace)

    @classmethod
    def assemble(cls, launch: Launch) -> Engine:
        """Read the settings, and make the provider and the store.

        Raises:
            ConfigError: the config file is wrong.
        """
        hide_memory()
        quiet_libraries()
        if launch.debug:
            start_debug_log(data_root() / "logs" / "debug.log")
        trusted = trusts_project(launch)
        settings = read_settings(launch, trusted=trusted)
        store = SessionStore(data_root())
        if launch.demo:
            return cls._assemble_demo(launch, settings, store)
        return cls(
            launch=launch,
            settings=settings,
            store=store,
            connections=Connections.of_settings(settings),
            workspace=launch.cwd,
            tool_servers=ToolServers(settings, launch.cwd if trusted else None),
            trusted=trusted,
        )

    @classmethod
    def _assemble_demo(cls, launch: Launch, settings: Settings, store: SessionStore) -> Engine:
        from agent_tui.providers.demo.scripted import Scripted, load_scenario

        scenario = load_scenario(launch.scenario)
        workspace = Path(tempfile.mkdtemp(prefix="agent-tui-demo-")) / "workspace"
        shutil.copytree(demo_folder() / "workspace", workspace)
        window = settings.context.window or scenario.window
        provider = Scripted(scenario)
        return cls(
            launch=launch,
            settings=settings,
            store=store,
            connections=Connections(settings, provider, scenario.model, window, only=True),
            workspace=workspace,
            suggestions=tuple(scenario.suggestions),
            trusted=True,
        )

    @property
    def model_label(self) -> str:
        """The provider and model of new sessions, for the status line."""
        return self._connections.label

    async def prompt_files(self) -> PromptFiles:
        """Skills and commands that are kept in files; a project's only where it is trusted."""
        return await asyncio.to_thread(self._find_prompt_files)

    def _find_prompt_files(self) -> PromptFiles:
        folders = trusted_folders(self.workspace, trusted=self.trusted)
        return find_prompt_files(config_path().parent, folders)

    async def warm(self) -> None:
        """Load what the first request needs, in a thread, and start the servers of tools."""
        if self.tool_servers is not None:
            self.tool_servers.start()
        await self._connections.warm()

    async def settle_tools(self) -> list[str]:
        """Wait for the servers of tools; a sentence for each that cannot be used."""
        if self.tool_servers is None:
            return []
        self.tool_servers.start()
        await self.tool_servers.settle()
        failed = (each for each in self.tool_servers.statuses if each.detail)
        told = [f"MCP server {each.name}: {_say_trouble(each)}" for each in failed]
        return [*self.tool_servers.troubles, *told]

    async def new_session(self) -> LiveSession:
        """Start a conversation in the workspace."""
        log = await self._store.create(await asyncio.to_thread(new_header, self.workspace))
        return await self._open(log)

    async def open_session(self, session_id: str) -> LiveSession:
        """Open a session by its id, or by the beginning of it; raises SessionNotFound."""
        return await self._open(await self._store.open(await self.stored.find_id(session_id)))

    async def read_session(self, session_id: str) -> LiveSession:
        """Open a session only to look at it: nothing is locked or written, whoever has it open."""
        folder = await self.stored.find_folder(session_id)
        return await self._open(await self._store.open_folder(folder, _ONLY_READING))

    async def latest_session(self) -> LiveSession:
        """Open the newest session of the workspace; a new one when it has none."""
        model = self._connections.default.model
        for row in await self.stored.list_sessions():
            # A demo gets a new copy of its workspace each time: its sessions are told by model.
            if row.model == model if self.launch.demo else row.cwd == str(self.workspace):
                return await self.open_session(row.session_id)
        session = await self.new_session()
        session.notices.append("No earlier session here; started a new one.")
        return session

    async def glimpse(self) -> list[Record]:
        """The end of the session that is asked for, where opening it takes a while; else nothing.

        Of a log that branches the end may be on another path than the active one: nothing then.
        """
        if not self.launch.resume:
            return []
        with suppress(AgentTuiError, OSError):
            folder = await self.stored.find_folder(self.launch.resume)
            return await asyncio.to_thread(_read_glimpse, folder / LIVE)
        return []

    async def open_launched(self) -> LiveSession:
        """Open what the command line asked for: a session by id, the latest, or a new one."""
        if self.launch.resume:
            return await self.open_session(self.launch.resume)
        if self.launch.latest:
            return await self.latest_session()
        return await self.new_session()

    async def _open(self, log: SessionLog) -> LiveSession:
        builder = self._builder
        try:
            instructions = await builder.instruct(log)
            connection = await asyncio.to_thread(builder.connection_for, log)
            parts = CurrentParts(log, Wire(), builder, connection)
            await parts.note_model()
            related = partial(self._store.related_sessions, log.folder.name)
            session = LiveSession(parts, related)
            session.instructions = instructions.describe(builder.workspace_of(log))
            if not log.state.messages and (unused := await self.untrusted_files()):
                session.instructions = f"not trusted, not used: {', '.join(unused)}"
            if self.launch.debug:
                session.subscribe(log_event)
            await session.recover_files()
        except BaseException:
            await log.close()
            raise
        folder = builder.workspace_of(log)
        named = log.state.header.cwd if log.state.header else ""
        if named and is_too_wide(Path(named), self.workspace):
            log.notices.append(
                f"This session names {named} as its folder, which is wider than a project. "
                f"Its tools work in {folder} instead."
            )
        if not await asyncio.to_thread(folder.is_dir):
            log.notices.append(
                f"The folder of this session, {folder}, no longer exists. You can read and "
                "continue the session, but its tools will find no files."
            )
        return session

    async def export(self, source: str, form: str, part: ContextFilter | None = None) -> Exported:
        """A session, by its id or by the path of a file, in another format, without secrets."""
        path = Path(source)
        if await asyncio.to_thread(path.exists):
            return await asyncio.to_thread(export_file, path, form, part or ContextFilter())
        session = await self.read_session(source)
        try:
            return await session.export(form, part or ContextFilter())
        finally:
            await session.close()

    async def untrusted_files(self) -> tuple[str, ...]:
        """What the workspace ships for agents and is not used, because nobody trusts it yet."""
        if self.trusted:
            return ()
        return await asyncio.to_thread(shipped_files, self.workspace)

    async def trust(self) -> None:
        """Remember that what the workspace ships may be used; it is, from the next start on."""
        await asyncio.to_thread(trust_folder, self.workspace)

    async def sandbox(self) -> str:
        """Whether commands run in a sandbox here, in two words."""
        return await asyncio.to_thread(describe_sandbox, self.settings)

    async def where(self) -> Where:
        """Where this run works, for people; the branch may have changed since it was asked last."""
        return await asyncio.to_thread(describe_place, self.workspace)

    @property
    def is_connected(self) -> bool:
        """Whether there is a model to ask."""
        return self._connections.is_connected

    def price_of(self, model: str) -> Price | None:
        """What a model costs; None where nobody knows."""
        return self._connections.price_of(model)

    async def reload_settings(self) -> None:
        """Read the settings again, and ask the providers that they name now.

        Raises:
            ConfigError: the config file is wrong.
        """
        self.settings = await asyncio.to_thread(read_settings, self.launch, trusted=self.trusted)
        await asyncio.to_thread(self._connections.refresh, self.settings)
        await self._connections.warm()

    async def save_setting(self, key: str, value: str | bool) -> None:
        """Write a setting into the user's config file, for this run's successors.

        Raises:
            ConfigError: the file cannot be written.
        """
        from agent_tui.config.writing import set_value

        await asyncio.to_thread(set_value, config_path(), key, value)

    def complete_path(self, typed: str) -> list[str]:
        """Paths of the workspace that hold what was typed; blocks, so call it in a thread."""
        return self._files.matching(typed)

    async def close_session(self, session: LiveSession) -> None:
        """Close a session; one in which nothing was ever said leaves nothing behind."""
        empty, session_id = session.view.is_empty and not session.read_only, session.session_id
        await session.close()
        if empty and not await session.view.archives():
            await self._store.discard(session_id)

    async def aclose(self) -> None:
        """Close everything; the demo's workspace is removed."""
        if self.tool_servers is not None:
            await self.tool_servers.aclose()
        await self._connections.aclose()
        await self._store.aclose()
        if self.launch.demo:
            await asyncio.to_thread(shutil.rmtree, self.workspace.parent, ignore_errors=True)


def _read_glimpse(log: Path) -> list[Record]:
    if log.stat().st_size < _LONG_LOG_BYTES:
        return []
    items = read_tail(log, _GLIMPSE_RECORDS)
    records = [item.record for item in items if isinstance(item, Entry)]
    return [] if any(isinstance(record, HeadRecord) for record in records) else records


def _say_trouble(status: ToolServerStatus) -> str:
    """What is wrong with a server of tools, and how its changed tools are accepted."""
    if not status.changed:
        return status.detail
    name = status.name
    return f"{status.detail}; see agent-tui mcp get {name}, then agent-tui mcp accept {name}"
