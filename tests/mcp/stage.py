"""Servers as a test drives them: started, settled, called, and ended."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from agent_tui.config import McpServerSettings, McpSettings, Settings
from agent_tui.core.messages import ToolResult
from agent_tui.core.tool_servers import ToolServerStatus
from agent_tui.mcp.offered_tool import OfferedTool
from agent_tui.mcp.servers import McpServers
from agent_tui.mcp.specs import find_servers
from tests import waiting

ODD = Path(__file__).with_name("odd_server.py")
LIMIT = 10_000


def odd(way: str, state: Path | None = None, **fields: Any) -> McpServerSettings:
    """A server that misbehaves in this way."""
    args = (str(ODD), way, *([str(state)] if state else []))
    return McpServerSettings(command=sys.executable, args=args, **fields)


class McpStage:
    """The servers of these settings, started on entering and ended on leaving."""

    def __init__(self, folder: Path, **servers: McpServerSettings) -> None:
        settings = Settings(mcp=McpSettings(servers=servers))
        self.folder = folder / "mcp"
        self.servers = McpServers(
            find_servers(settings).specs, folder=self.folder, reserved={"odd__read_file"}
        )

    async def __aenter__(self) -> McpStage:
        self.servers.start()
        await self.servers.settle()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.servers.aclose()

    def status(self, name: str = "odd") -> ToolServerStatus:
        """How a server is."""
        return next(status for status in self.servers.statuses if status.name == name)

    def tool(self, name: str) -> OfferedTool:
        """A tool that may be called."""
        return next(tool for tool in self.servers.tools if tool.name == name)

    async def call(self, name: str, limit: int = LIMIT, **arguments: Any) -> ToolResult:
        """Call a tool by its public name."""
        return await self.servers.call(self.tool(name), arguments, limit)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something to become true, in another thread or task."""
    await waiting.until(None, condition)
