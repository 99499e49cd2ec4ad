"""MCP servers for a run: found in the settings, started in the background, restarted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_tui.config import Settings, config_path, data_root
from agent_tui.core.errors import UsageError
from agent_tui.core.tool_servers import ToolServerStatus
from agent_tui.mcp.specs import find_servers
from agent_tui.providers.registry import known_providers
from agent_tui.tools.base import AnyTool
from agent_tui.tools.catalogue import builtin_tools

if TYPE_CHECKING:
    from agent_tui.mcp.offered_tool import OfferedTool
    from agent_tui.mcp.servers import McpServers

_SHOWN = 30_000


class ToolServers:
    """The MCP servers of a run.

    Args:
        settings: the settings of this run.
        project: the workspace if it is trusted; only then is its .mcp.json read.
        only: the one server to use; empty for all.
    """

    def __init__(self, settings: Settings, project: Path | None = None, only: str = "") -> None:
        secrets = {spec.key_env for spec in known_providers(settings).values()}
        found = find_servers(settings, project, secrets)
        specs = tuple(spec for spec in found.specs if only in ("", spec.name))
        if only and not specs:
            known = ", ".join(spec.name for spec in found.specs)
            others = f"there are: {known}" if known else "none is set up"
            raise UsageError(f"There is no MCP server {only}; {others}.")
        self.troubles = found.troubles
        self._described = settings.mcp.described_tools
        self._specs = specs

    @property
    def are_any(self) -> bool:
        """Whether there is a server, or something wrong with the settings of one."""
        return bool(self._specs or self.troubles)

    @cached_property
    def _servers(self) -> McpServers:
        """Loaded where there are any: most people have none."""
        from agent_tui.mcp.search_tools import NAME
        from agent_tui.mcp.servers import McpServers

        reserved = {tool.name for tool in builtin_tools()} | {NAME}
        return McpServers(self._specs, folder=_folder(), reserved=reserved)

    def start(self) -> None:
        """Start the servers in the background."""
        if self._specs:
            self._servers.start()

    async def settle(self) -> None:
        """Wait until every server is ready or has failed."""
        if self._specs:
            await self._servers.settle()

    def listen(self, on_change: Callable[[], None]) -> None:
        """Have a function called, on another thread, when a state or the tools change."""
        if self._specs:
            self._servers.on_change = on_change

    @property
    def statuses(self) -> tuple[ToolServerStatus, ...]:
        """Every server, as it is now."""
        return self._servers.statuses if self._specs else ()

    def describe_troubles(self) -> list[str]:
        """A sentence for each server that cannot be used."""
        failed = (each for each in self.statuses if each.detail)
        told = [f"MCP server {each.name}: {_say_trouble(each)}" for each in failed]
        return [*self.troubles, *told]

    def offer(self) -> Callable[[], list[AnyTool]]:
        """A function that gives one session its tools, asked before each step."""
        if not self._specs:
            return list
        from agent_tui.mcp.search_tools import BorrowedTools

        return BorrowedTools(lambda: self._servers.tools, self._servers.call, self._described)

    def describe(self, name: str) -> tuple[OfferedTool, ...]:
        """Every tool that a server offers, with its description."""
        return self._servers.describe(name)

    async def try_tool(self, server: str, tool: str, arguments: dict[str, Any]) -> str:
        """Call a tool once, by either of its names, and say what it answered.

        Raises:
            ToolError: it could not be called, or failed.
        """
        named = [each for each in self.describe(server) if tool in (each.name, each.own_name)]
        if not named:
            raise UsageError(f"The server {server} has no tool {tool}.")
        return (await self._servers.call(named[0], arguments, _SHOWN)).output

    async def restart(self, name: str) -> None:
        """End a server and start it again."""
        await self._servers.restart(name)

    async def accept_changes(self, name: str) -> None:
        """Let a server's tools be used as they are described now."""
        await self._servers.accept_changes(name)

    async def aclose(self) -> None:
        """End every server."""
        if self._specs:
            await self._servers.aclose()


def _say_trouble(status: ToolServerStatus) -> str:
    """What is wrong with an MCP server, and how to accept its changed tools."""
    if not status.changed:
        return status.detail
    name = status.name
    return f"{status.detail}; see agent-tui mcp get {name}, then agent-tui mcp accept {name}"


def add_server(name: str, target: list[str], *, env: list[str], headers: list[str]) -> Path:
    """Write a server into the user's settings; returns the file.

    Args:
        name: the server's name.
        target: a command with its arguments, or an address.
        env: variables for the command, as NAME=VALUE.
        headers: headers for the address, as NAME: VALUE.

    Raises:
        ConfigError: the name or the settings make no sense.
    """
    from agent_tui.config.writing import set_value
    from agent_tui.mcp.names import check_server_name

    check_server_name(name)
    target = target[1:] if target[:1] == ["--"] else target
    if not target or target[0].startswith("-"):
        raise UsageError("mcp add expects: [options] NAME COMMAND [ARGS …], or a URL last.")
    path = config_path()
    fields: dict[str, Any] = {}
    if target[0].startswith(("http://", "https://")):
        fields["url"] = target[0]
        if headers:
            fields["headers"] = dict(_split(each, ":", "--header") for each in headers)
    else:
        fields["command"] = target[0]
        if target[1:]:
            fields["args"] = target[1:]
        if env:
            fields["env"] = dict(_split(each, "=", "--env") for each in env)
    set_value(path, ["mcp", "servers", name], fields)
    return path


def _split(text: str, mark: str, option: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"{option} expects NAME{mark}VALUE, not {text!r}.")
    return name.strip(), value.strip()


def remove_server(name: str) -> bool:
    """Remove a server from the user's settings; False where it does not stand there."""
    from agent_tui.config.writing import unset_value
    from agent_tui.mcp.names import check_server_name
    from agent_tui.mcp.pins import Pins

    removed = unset_value(config_path(), ["mcp", "servers", name])
    if removed:
        Pins(_folder() / "pins.json").forget(name)
        token = _folder() / "tokens" / f"{name}.json"
        if check_server_name(name):
            token.unlink(missing_ok=True)
    return removed


def _folder() -> Path:
    return data_root() / "mcp"
