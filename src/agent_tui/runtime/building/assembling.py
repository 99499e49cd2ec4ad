"""What a run is made of, put together from the command line and the settings."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from agent_tui.config import Settings, data_root
from agent_tui.resources import copy_demo_workspace
from agent_tui.runtime.connect.connections import Connections
from agent_tui.runtime.connect.tool_servers import ToolServers
from agent_tui.runtime.starting.debug_log import quiet_libraries, start_debug_log
from agent_tui.runtime.starting.launch import Launch
from agent_tui.runtime.starting.run_settings import read_settings, trusts_project
from agent_tui.runtime.starting.secrecy import hide_memory
from agent_tui.sessions.store import SessionStore
from agent_tui.tools.catalogue import builtin_tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What an engine is assembled over.

    Attributes:
        launch: what the command line asked for.
        settings: the settings that it starts with.
        store: where our sessions are.
        connections: the models that can be asked.
        workspace: where a new session works.
        suggestions: first prompts to offer.
        tool_servers: MCP servers, where any may be used.
        trusted: whether what the workspace ships for agents is used.
    """

    launch: Launch
    settings: Settings
    store: SessionStore
    connections: Connections
    workspace: Path
    suggestions: tuple[str, ...] = ()
    tool_servers: ToolServers | None = None
    trusted: bool = False


def assemble_run(launch: Launch) -> Run:
    """Read the settings, and make the provider and the store; blocks.

    Raises:
        ConfigError: the config file is wrong.
    """
    hide_memory()
    quiet_libraries()
    if launch.debug:
        start_debug_log(data_root() / "logs" / "debug.log")
    trusted = trusts_project(launch)
    settings = read_settings(launch, trusted=trusted)
    store = _make_store(launch.home, ephemeral=launch.ephemeral)
    for tool in builtin_tools():  # built here once: it would hold the event loop
        tool.schema()
    if launch.demo:
        return _assemble_demo(launch, settings, store)
    return Run(
        launch=launch,
        settings=settings,
        store=store,
        connections=Connections.of_settings(settings),
        workspace=launch.cwd,
        tool_servers=ToolServers(settings, launch.cwd if trusted else None),
        trusted=trusted,
    )


def _make_store(home: Path, *, ephemeral: bool) -> SessionStore:
    if ephemeral:
        from agent_tui.sessions.memory_store import MemoryStore

        return MemoryStore(home)
    return SessionStore(home)


def _assemble_demo(launch: Launch, settings: Settings, store: SessionStore) -> Run:
    from agent_tui.providers.demo.scripted import Scripted, load_scenario
    from agent_tui.providers.demo.stress import stress_scenario

    if launch.stress is not None:
        scenario = stress_scenario(launch.stress)
    else:
        scenario = load_scenario(launch.scenario)
    workspace = Path(tempfile.mkdtemp(prefix="agent-tui-demo-")) / "workspace"
    copy_demo_workspace(workspace)
    window = settings.context.window or scenario.window
    provider = Scripted(scenario)
    return Run(
        launch=launch,
        settings=settings,
        store=store,
        connections=Connections(settings, provider, scenario.model, window, only=True),
        workspace=workspace,
        suggestions=tuple(scenario.suggestions),
        trusted=True,
    )
