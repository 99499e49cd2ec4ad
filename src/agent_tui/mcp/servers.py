"""All servers of a run, on a loop of their own: what they say never holds up the screen."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from agent_tui.core.errors import ToolError, UsageError
from agent_tui.core.messages import ToolResult
from agent_tui.core.tool_servers import ToolServerStatus
from agent_tui.mcp.connection import Connection
from agent_tui.mcp.offered_tool import OfferedTool
from agent_tui.mcp.pins import Pins
from agent_tui.mcp.specs import ServerSpec

T = TypeVar("T")


class McpServers:
    """Starts servers in the background and calls their tools; every method may be called anywhere.

    Args:
        specs: which servers.
        folder: where pins, logs and signed-in tokens are kept.
        reserved: names that no tool may have.
        on_change: called, on another thread, when a state or the tools are others.
    """

    def __init__(
        self,
        specs: Sequence[ServerSpec],
        *,
        folder: Path,
        reserved: Collection[str] = (),
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.on_change = on_change
        self._specs = tuple(specs)
        self._folder = folder
        self._reserved = frozenset(reserved)
        self._pins = Pins(folder / "pins.json")
        self._connections: dict[str, Connection] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to start every server that is enabled; returns at once."""
        if self._thread is not None or not self._specs:
            return
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=_run_loop, args=(self._loop,), name="mcp", daemon=True
        )
        self._thread.start()
        self._submit(self._begin_all())

    @property
    def statuses(self) -> tuple[ToolServerStatus, ...]:
        """Every server, in the order of the settings."""
        connections = self._connections
        return tuple(
            connections[spec.name].status
            if spec.name in connections
            else ToolServerStatus(spec.name, "starting", spec.place)
            for spec in self._specs
        )

    @property
    def tools(self) -> tuple[OfferedTool, ...]:
        """The tools that may be called now."""
        found = (self._connections.get(spec.name) for spec in self._specs)
        return tuple(tool for each in found if each is not None for tool in each.tools)

    def describe(self, name: str) -> tuple[OfferedTool, ...]:
        """Every tool that a server offers, those held back included."""
        connection = self._connections.get(name)
        return connection.offered if connection else ()

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], limit: int) -> ToolResult:
        """Call a tool; cancelling the call cancels it at the server.

        Raises:
            ToolError: it could not be called or failed; for the model.
        """
        connection = self._connections.get(tool.server)
        if connection is None:
            raise ToolError(f"The MCP server {tool.server} is not running.")
        return await self._ask(connection.call(tool, arguments, limit))

    async def settle(self) -> None:
        """Wait until no server is starting any longer."""
        if self._thread is not None:
            await self._ask(self._settle())

    async def restart(self, name: str) -> None:
        """End a server and start it again."""
        spec = next((spec for spec in self._specs if spec.name == name), None)
        if spec is None:
            known = ", ".join(each.name for each in self._specs) or "none"
            raise UsageError(f"There is no MCP server {name}. There are: {known}.")
        self.start()
        await self._ask(self._restart(spec))

    async def accept_changes(self, name: str) -> None:
        """Let a server's tools be used as they are now."""
        connection = self._connections.get(name)
        if connection is None:
            raise UsageError(f"The MCP server {name} is not running.")
        await self._ask(_call(connection.accept_changes))

    async def aclose(self) -> None:
        """End every server and wait until its processes are gone."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self.on_change = lambda: None
        with suppress(asyncio.CancelledError):
            await self._ask(self._end_all())
        loop.call_soon_threadsafe(loop.stop)
        await asyncio.to_thread(thread.join, 5)
        self._thread = self._loop = None

    async def _begin_all(self) -> None:
        for spec in self._specs:
            await self._begin(spec)

    async def _settle(self) -> None:
        await asyncio.gather(*(each.settled.wait() for each in self._connections.values()))

    async def _begin(self, spec: ServerSpec) -> None:
        connection = Connection(
            spec,
            pins=self._pins,
            reserved=self._reserved,
            log_path=self._folder / "logs" / f"{spec.name}.log",
            on_change=lambda: self.on_change(),
        )
        self._connections = self._connections | {spec.name: connection}
        self._tasks[spec.name] = asyncio.create_task(connection.run())

    async def _restart(self, spec: ServerSpec) -> None:
        await self._end(spec.name)
        await self._begin(spec)

    async def _end(self, name: str) -> None:
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.wait({task}, timeout=10)

    async def _end_all(self) -> None:
        await asyncio.gather(*(self._end(name) for name in list(self._tasks)))

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        if self._loop is None:
            work.close()
            raise ToolError("The MCP servers are not running.")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _ask(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(self._submit(work))


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.close()


async def _call(function: Callable[[], None]) -> None:
    function()
