"""The engine: settings, provider, store and tools of this run, and its open sessions."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from agent_tui.agent.approval import Approvals
from agent_tui.agent.compactor import CompactionPolicy, Compactor
from agent_tui.agent.instructions import Instructions, project_instructions
from agent_tui.agent.loop import Agent
from agent_tui.agent.permissions import Rule
from agent_tui.agent.settle import settle
from agent_tui.agent.system_prompt import write_system_prompt
from agent_tui.agent.toolset import Toolset
from agent_tui.agent.wire import Wire
from agent_tui.config import Settings, config_path, data_root, load_settings
from agent_tui.context.context import Context
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.errors import AgentTuiError, SessionNotFound
from agent_tui.core.messages import text_of
from agent_tui.core.records import ModelRecord, SystemPrompt, UserMessage
from agent_tui.core.summary import SessionSummary
from agent_tui.core.tree import Fork, TreeRow
from agent_tui.history.session_tree import SessionTree
from agent_tui.history.tree.record_tree import RecordTree
from agent_tui.history.view import SessionView
from agent_tui.importers.registry import describe
from agent_tui.library.agent_sessions import AgentSessions
from agent_tui.providers.base import Provider
from agent_tui.providers.catalog import window_of
from agent_tui.resources import demo_folder
from agent_tui.runtime.agent_places import agent_places
from agent_tui.runtime.connect import connect
from agent_tui.runtime.exporting import Exported, export_file
from agent_tui.runtime.files import FileList
from agent_tui.runtime.forking import fork_at, name_copy, title_of
from agent_tui.runtime.headers import new_header, new_session_id
from agent_tui.runtime.importing import NewSessions, fork_imported, resume_path
from agent_tui.runtime.launch import Launch
from agent_tui.runtime.limits import amounts_of, limits_of
from agent_tui.runtime.open_session import OpenSession
from agent_tui.runtime.secrecy import hide_memory
from agent_tui.runtime.session_files import watch_workspace
from agent_tui.runtime.session_parts import SessionParts
from agent_tui.runtime.tool_servers import ToolServers
from agent_tui.sessions.archive import LIVE
from agent_tui.sessions.index import read_tail
from agent_tui.sessions.repair import RepairReport
from agent_tui.sessions.replay import Entry
from agent_tui.sessions.store import Durability, SessionLog, SessionStore
from agent_tui.tools.base import AnyTool, FileMemory, ToolContext
from agent_tui.tools.catalogue import builtin_tools
from agent_tui.tools.present_plan import PresentPlan

_ONLY_READING = "it was opened only to be read"
_HISTORY_SESSIONS = 10
_HISTORY_PROMPTS = 500
_HISTORY_RECORDS = 2_000


class Engine:
    """All that a front-end is given; ``assemble`` it in a thread behind the first frame."""

    def __init__(
        self,
        *,
        launch: Launch,
        settings: Settings,
        store: SessionStore,
        provider: Provider,
        model: str,
        window: int,
        workspace: Path,
        suggestions: tuple[str, ...] = (),
        tool_servers: ToolServers | None = None,
    ) -> None:
        self.settings = settings
        self.workspace = workspace
        self.suggestions = suggestions
        self.launch = launch
        self.tool_servers = tool_servers
        self._files = FileList(workspace)
        self.deleted: list[str] = []
        self._store = store
        self._provider = provider
        self._model = model
        self._window = window
        self._counter = TokenCounter(model)
        self._temporary = workspace if launch.demo else None
        self.agent_sessions = AgentSessions(data_root(), agent_places(settings))

    @classmethod
    def assemble(cls, launch: Launch) -> Engine:
        """Read the settings, and make the provider and the store.

        Raises:
            ConfigError: the config file is wrong.
        """
        hide_memory()
        settings = load_settings(model=launch.model, flags=dict(launch.flags))
        store = SessionStore(data_root())
        if launch.demo:
            return cls._assemble_demo(launch, settings, store)
        connection = connect(settings)
        return cls(
            launch=launch,
            settings=settings,
            store=store,
            provider=connection.provider,
            model=connection.model,
            window=settings.context.window or window_of(connection.model),
            workspace=launch.cwd,
            tool_servers=ToolServers(settings),
        )

    @classmethod
    def _assemble_demo(cls, launch: Launch, settings: Settings, store: SessionStore) -> Engine:
        from agent_tui.providers.demo.scripted import Scripted, load_scenario

        scenario = load_scenario(launch.scenario)
        workspace = Path(tempfile.mkdtemp(prefix="agent-tui-demo-")) / "workspace"
        shutil.copytree(demo_folder() / "workspace", workspace)
        return cls(
            launch=launch,
            settings=settings,
            store=store,
            provider=Scripted(scenario),
            model=scenario.model,
            window=settings.context.window or scenario.window,
            workspace=workspace,
            suggestions=tuple(scenario.suggestions),
        )

    @property
    def model_label(self) -> str:
        """The provider and model, for the status line."""
        if self._provider.name == "none":
            return "no model connected: set OPENAI_API_KEY, or start with --demo"
        return " · ".join(dict.fromkeys((self._provider.name, self._model)))

    async def warm(self) -> None:
        """Load what the first request needs, in a thread."""
        if self.tool_servers is not None:
            self.tool_servers.start()
        warm = getattr(self._provider, "warm", None)
        if warm is not None:
            await asyncio.to_thread(warm)

    async def settle_tools(self) -> list[str]:
        """Wait for the servers of tools; a sentence for each that cannot be used."""
        if self.tool_servers is None:
            return []
        self.tool_servers.start()
        await self.tool_servers.settle()
        failed = (each for each in self.tool_servers.statuses if each.detail)
        told = [f"MCP server {each.name}: {each.detail}" for each in failed]
        return [*self.tool_servers.troubles, *told]

    async def list_sessions(self) -> list[SessionSummary]:
        """Every session of every project in which something was said, newest first."""
        rows = await asyncio.to_thread(self._store.list)
        return [row for row in rows if row.title or row.first_prompt or row.archives]

    async def new_session(self) -> OpenSession:
        """Begin a conversation in the workspace."""
        log = await self._store.create(await asyncio.to_thread(new_header, self.workspace))
        return await self._open(log)

    async def _instruct(self, log: SessionLog) -> Instructions:
        """Write the system prompt where there is none, and say what it took from the project.

        That is in a new session, or one whose process was killed before it came so far.
        """
        if log.read_only or log.state.system_prompt:
            return Instructions()
        workspace = self._workspace_of(log)
        instructions = await asyncio.to_thread(project_instructions, workspace)
        prompt = write_system_prompt(workspace, instructions)
        model = ModelRecord(self._provider.name, self._model)
        await log.append(SystemPrompt(prompt), model, durability=Durability.D0)
        log.notices += instructions.refused
        return instructions

    async def open_session(self, session_id: str) -> OpenSession:
        """Open a session by its id, or by the beginning of it; raises SessionNotFound."""
        return await self._open(await self._store.open(await self._whole_id(session_id)))

    async def read_session(self, session_id: str) -> OpenSession:
        """Open a session only to look at it: nothing is locked or written, whoever has it open."""
        folder = await asyncio.to_thread(self._store.find, await self._whole_id(session_id))
        return await self._open(await self._store.open_folder(folder, _ONLY_READING))

    async def _whole_id(self, session_id: str) -> str:
        with suppress(SessionNotFound):
            return (await asyncio.to_thread(self._store.find, session_id)).name
        rows = await asyncio.to_thread(self._store.list)
        found = sorted({row.session_id for row in rows})
        matching = [name for name in found if session_id and name.startswith(session_id)]
        if len(matching) == 1:
            return matching[0]
        trouble = "is the beginning of several ids" if matching else "is not a session's id"
        raise SessionNotFound(f"{session_id!r} {trouble}. List them with: agent-tui sessions list")

    async def latest_session(self) -> OpenSession:
        """Open the newest session of the workspace; a new one when it has none."""
        for row in await self.list_sessions():
            # A demo gets a new copy of its workspace each time: its sessions are told by model.
            if row.model == self._model if self._temporary else row.cwd == str(self.workspace):
                return await self.open_session(row.session_id)
        session = await self.new_session()
        session.notices.append("There was no session of this folder to go on with: this is new.")
        return session

    async def open_launched(self) -> OpenSession:
        """Open what the command line asked for: a session by id, the latest, or a new one."""
        if self.launch.resume:
            return await self.open_session(self.launch.resume)
        if self.launch.latest:
            return await self.latest_session()
        return await self.new_session()

    async def _open(self, log: SessionLog) -> OpenSession:
        try:
            instructions = await self._instruct(log)
            related = partial(self._store.related_sessions, log.folder.name)
            session = OpenSession(log, self._parts, related)
            session.instructions = instructions.describe(self._workspace_of(log))
            await session.recover_files()
        except BaseException:
            await log.close()
            raise
        folder = self._workspace_of(log)
        if not await asyncio.to_thread(folder.is_dir):
            log.notices.append(
                f"The folder of this session, {folder}, is not there any more: it can be read "
                "and continued, but its tools will find no files."
            )
        return session

    def _parts(
        self, log: SessionLog, wire: Wire, model: str = "", keep: SessionParts | None = None
    ) -> SessionParts:
        workspace = self._workspace_of(log)
        counter, window = self._counter, self._window
        # A resumed session goes on with the model it had, unless this run names another.
        if not self.launch.model and log.state.provider == self._provider.name:
            model = model or log.state.model
        if model and model != self._model:
            counter, window = TokenCounter(model), self.settings.context.window or window_of(model)
        model = model or self._model
        if keep is not None:
            approvals, toolset, watch = keep.approvals, keep.toolset, keep.watch
        else:
            approvals = self._approvals(wire)
            ours = (data_root(), config_path().parent)
            captured = workspace if self.settings.workspace.capture else None
            watch = watch_workspace(log, wire, captured)
            given = ToolContext(workspace, FileMemory(), ours)
            toolset = Toolset(self._tools(approvals), given, watch)
        context = Context(log, counter, toolset.schemas)
        chosen = self.settings.context
        compactor = Compactor(
            context=context,
            provider=self._provider,
            model=model,
            policy=CompactionPolicy(
                window=window,
                reserved=chosen.reserved,
                ratio=chosen.ratio,
                strategy=chosen.strategy,
                auto=chosen.auto_compact,
                max_attempts=self.settings.agent.max_attempts,
                amounts=amounts_of(chosen),
            ),
            wire=wire,
            workspace=workspace,
        )
        agent = Agent(
            context=context,
            provider=self._provider,
            model=model,
            toolset=toolset,
            approvals=approvals,
            compactor=compactor,
            wire=wire,
            limits=limits_of(self.settings),
        )
        name = self._provider.name
        return SessionParts(
            context, agent, approvals, compactor, toolset, name, model, workspace, watch
        )

    def _approvals(self, wire: Wire) -> Approvals:
        chosen = self.settings.approvals
        rules = [Rule.parse(text) for text in (*chosen.allow, *self.launch.allow)]
        return Approvals(wire.emit, yolo=self.launch.yolo, mode=chosen.mode, always=rules)

    def _tools(self, approvals: Approvals) -> Callable[[], list[AnyTool]]:
        """What gives a session its tools, those of servers as soon as they are ready."""
        own, plan = list(builtin_tools()), PresentPlan()
        borrowed = self.tool_servers.offer() if self.tool_servers is not None else list

        def offer() -> list[AnyTool]:
            return [*own, *([plan] if approvals.mode == "plan" else []), *borrowed()]

        return offer

    def _workspace_of(self, log: SessionLog) -> Path:
        """Where the session's tools work: its own folder, except that a demo's is made anew."""
        header = log.state.header
        if header is None or not header.cwd or self._temporary is not None:
            return self.workspace
        return Path(header.cwd)

    async def fork_at(self, tree: SessionTree, row: TreeRow) -> Fork:
        """Make a session of its own of the path up to a row of a tree; the others stay as they are.

        Raises:
            SessionError: nothing comes before the row, or its log changed since the tree was read.
        """
        if isinstance(tree.tree, RecordTree):
            return await settle(fork_imported(self._new_sessions, tree, row))
        return await settle(fork_at(self._store, tree, row, self.workspace))

    async def resume_path(self, path: Path, at: str = "") -> Fork:
        """Continue another agent's session as one of ours, behind a message or the last one.

        Raises:
            SessionError, StorageError: it cannot be read, or has no such message.
        """
        return await settle(resume_path(self._new_sessions, path, at))

    @property
    def _new_sessions(self) -> NewSessions:
        return NewSessions(self._store, self.workspace, self._instruct)

    async def open_path(self, path: Path) -> SessionView:
        """Read a log or session file of any known kind, to look at; a big log is only indexed."""
        return await SessionView.open(path)

    async def describe_path(self, path: Path) -> dict[str, Any]:
        """What a log or session file of any known kind holds, in numbers."""
        return await asyncio.to_thread(describe, path)

    async def export(self, source: str, form: str) -> Exported:
        """A session, by its id or by the path of a file, in another format, without secrets."""
        path = Path(source)
        if await asyncio.to_thread(path.exists):
            return await asyncio.to_thread(export_file, path, form)
        session = await self.read_session(source)
        try:
            return await session.export(form)
        finally:
            await session.close()

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

    async def prompt_history(self) -> list[str]:
        """What was asked in the latest sessions of the workspace, oldest first."""
        return await asyncio.to_thread(self._read_prompts)

    def _read_prompts(self) -> list[str]:
        rows = [row for row in self._store.list() if row.cwd == str(self.workspace)]
        prompts: list[str] = []
        for row in reversed(rows[:_HISTORY_SESSIONS]):
            try:
                items = read_tail(Path(row.folder) / LIVE, _HISTORY_RECORDS)
            except AgentTuiError:
                continue
            records = (item.record for item in items if isinstance(item, Entry))
            prompts += [
                text_of(record.content)
                for record in records
                if isinstance(record, UserMessage) and record.origin in ("human", "steer")
            ]
        return prompts[-_HISTORY_PROMPTS:]

    async def rename_session(self, session_id: str, title: str) -> None:
        """Name a session that is not open here."""
        session = await self.open_session(session_id)
        try:
            await session.rename(title)
        finally:
            await session.close()

    async def repair(self, session_id: str) -> RepairReport:
        """Copy what can be read of a damaged session into a new one; the old one stays."""
        folder = await asyncio.to_thread(self._store.find, await self._whole_id(session_id))
        return await settle(self._repair(folder))

    async def _repair(self, folder: Path) -> RepairReport:
        report = await self._store.repair(folder, new_session_id())
        log = await self._store.open(report.session_id)
        await name_copy(log, f"{title_of(log.state)} (repaired)")
        return report

    async def delete_session(self, session_id: str) -> str:
        """Move a session into the trash; the result, its place there, undoes it."""
        place = str(await self._store.delete(await self._whole_id(session_id)))
        self.deleted.append(place)
        return place

    async def undelete_session(self, token: str) -> None:
        """Bring a deleted session back, by its place in the trash or by its id."""
        place = Path(token)
        if len(place.parts) == 1:
            place = await asyncio.to_thread(self._store.place_of_deleted, token)
        await self._store.undelete(place)
        self.deleted = [each for each in self.deleted if each != str(place)]

    async def close_session(self, session: OpenSession) -> None:
        """Close a session; one in which nothing was ever said leaves nothing behind."""
        empty, session_id = session.view.is_empty and not session.read_only, session.session_id
        await session.close()
        if empty and not await session.view.archives():
            await self._store.discard(session_id)

    async def aclose(self) -> None:
        """Let go of everything; the demo's workspace goes with it."""
        if self.tool_servers is not None:
            await self.tool_servers.aclose()
        await self._provider.aclose()
        await asyncio.to_thread(self._counter.close)
        await self._store.aclose()
        if self._temporary is not None:
            await asyncio.to_thread(shutil.rmtree, self._temporary.parent, ignore_errors=True)
