"""One server: started, listened to, asked, and ended; every failure is a sentence."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_tui.core.errors import AgentTuiError, ToolError
from agent_tui.core.messages import ToolResult
from agent_tui.core.text import clean, first_line, format_count, reveal
from agent_tui.core.tool_servers import ServerState, ToolServerStatus
from agent_tui.mcp.log_file import LogFile
from agent_tui.mcp.offered_tool import MOST_TOOLS, OfferedTool, read_tools
from agent_tui.mcp.pins import Pins
from agent_tui.mcp.restarts import Restarts
from agent_tui.mcp.results import read_result
from agent_tui.mcp.specs import ServerSpec
from agent_tui.mcp.stdio import StdioServer
from agent_tui.tools.child import child_environment

if TYPE_CHECKING:
    from mcp import Client

_log = logging.getLogger(__name__)
_MOST_PAGES = 50
_RELIST_SECONDS = 1.0
SIGN_IN_SECONDS = 300.0
"""How long a person may take to sign in with a browser."""


class Connection:
    """A server from its start to its end; runs on the loop of the servers.

    Args:
        spec: which server.
        pins: which tools were accepted.
        reserved: names that no tool may have.
        log_path: where what it says beside the protocol is kept.
        on_change: called when its state or its tools are others.
    """

    def __init__(
        self,
        spec: ServerSpec,
        *,
        pins: Pins,
        reserved: Collection[str],
        log_path: Path,
        on_change: Callable[[], None],
    ) -> None:
        self.spec = spec
        self.offered: tuple[OfferedTool, ...] = ()
        self.changed: tuple[OfferedTool, ...] = ()
        self._state: ServerState = "starting" if spec.settings.enabled else "disabled"
        self._detail = ""
        self._pins = pins
        self._reserved = reserved
        self._log_path = log_path
        self._on_change = on_change
        self._client: Client | None = None
        self._process: StdioServer | None = None
        self._relist = asyncio.Event()
        self._status_code = 0
        self._patience: asyncio.Timeout | None = None
        self.settled = asyncio.Event()

    @property
    def status(self) -> ToolServerStatus:
        """How it is now."""
        return ToolServerStatus(
            self.spec.name,
            self._state,
            clean(self.spec.place),
            self._detail,
            tuple(tool.name for tool in self.tools),
            tuple(tool.name for tool in self.changed),
        )

    @property
    def tools(self) -> tuple[OfferedTool, ...]:
        """The tools that may be called: offered, allowed by the settings, and as accepted."""
        if self._state != "ready":
            return ()
        held_back = {tool.name for tool in self.changed}
        return tuple(tool for tool in self.offered if tool.name not in held_back)

    async def run(self) -> None:
        """Start it and stay until it ends for good or the task is cancelled.

        One that was ready and ended is started again, a few times and ever later.
        """
        if not self.spec.settings.enabled:
            self._tell("disabled")
            return
        restarts = Restarts(self.spec.settings.restarts)
        try:
            while True:
                trouble, ready_seconds = await self._run_once()
                wait = restarts.next_wait(ready_seconds)
                if wait is None:
                    break
                again = f"Restart {restarts.words} in {wait:g} s."
                self._tell("failed", f"{trouble.rstrip('.')}. {again}")
                await asyncio.sleep(wait)
        except asyncio.CancelledError:
            self._tell("disabled")
            raise
        given_up = (
            f" Gave up after {format_count(restarts.count, 'restart')}." if restarts.count else ""
        )
        self._tell("failed", f"{trouble}{given_up}")

    async def _run_once(self) -> tuple[str, float | None]:
        """Start it and stay until it ends; returns why, and how long it was ready (None: never)."""
        self._tell("starting")
        self._status_code, ready_at = 0, None
        now = asyncio.get_running_loop().time
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.spec.settings.start_seconds) as self._patience:
                    client = await self._connect(stack)
                    await self._list(client)
                self._client, ready_at = client, now()
                self._tell("ready", self._detail)
                await self._stay(client)
        except Exception as error:  # whatever a server makes the library raise
            trouble = self._explain(error)
        else:
            trouble = "It ended."
        finally:
            self._client = None
        return trouble, None if ready_at is None else now() - ready_at

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], limit: int) -> ToolResult:
        """Call a tool that was offered as it still is.

        Raises:
            ToolError: the server is not ready, no longer offers it, or failed; for the model.
        """
        from mcp import MCPError
        from pydantic import ValidationError

        client, name = self._client, self.spec.name
        if client is None or self._state != "ready":
            raise ToolError(f"The MCP server {name} is {self._state}. {self._detail}".strip())
        if tool not in self.tools:
            raise ToolError(
                f"The MCP server {name} no longer offers {tool.name} as it was. Nothing was called."
                f" The user can accept its changed tools with: agent-tui mcp accept {name}"
            )
        seconds = self.spec.settings.call_seconds
        try:
            async with asyncio.timeout(seconds):
                answer = await client.call_tool(tool.own_name, arguments)
        except TimeoutError:
            raise ToolError(
                f"{tool.name} did not answer within {seconds:g} s (the setting call_seconds)."
            ) from None
        except MCPError as error:
            await asyncio.sleep(0)
            ending = self._process.ending if self._process else ""
            said = ending or first_line(str(error), 400)
            raise ToolError(f"{tool.name} failed: {said}.") from None
        except ValidationError:
            raise ToolError(f"{tool.name} answered with an invalid result.") from None
        except RuntimeError as error:
            raise ToolError(f"{tool.name} failed: {first_line(str(error), 400)}") from None
        return await asyncio.to_thread(read_result, answer, limit)

    def accept_changes(self) -> None:
        """Let its tools be used as they are now: a person has looked at them."""
        self._pins.accept(self.spec.pin_name, self.offered)
        self.changed = ()
        self._tell(self._state, "")

    async def _connect(self, stack: AsyncExitStack) -> Client:
        from mcp import Client, types

        from agent_tui import __version__

        transport = await self._transport(stack)
        client = await stack.enter_async_context(
            Client(
                transport,
                client_info=types.Implementation(name="agent-tui", version=__version__),
                message_handler=self._hear,
                cache=None,
            )
        )
        # The library would check results by the schema that the server gave for them: a pattern or
        # references in it that never end would hold up every server, or all of the program.
        client.session.validate_tool_result = _take_any_result  # type: ignore[method-assign]
        return client

    async def _transport(self, stack: AsyncExitStack) -> Any:
        chosen = self.spec.settings
        if chosen.url:
            from agent_tui.mcp.http import open_http

            return await open_http(
                self.spec, stack, self._log_path.parent, self._wait_for_sign_in, self._note_status
            )
        log = LogFile(self._log_path)
        stack.callback(log.close)
        self._process = StdioServer(
            (chosen.command, *chosen.args),
            environment=child_environment() | chosen.env,
            folder=self.spec.working_folder,
            log=log,
        )
        return self._process.transport()

    def _note_status(self, status: int) -> None:
        self._status_code = status

    def _wait_for_sign_in(self, url: str) -> None:
        if self._patience is not None:
            self._patience.reschedule(asyncio.get_running_loop().time() + SIGN_IN_SECONDS)
        self._tell("starting", f"Sign in with your browser: {clean(url)}")

    async def _list(self, client: Client) -> None:
        """Read its tools, page by page, and hold those back that are not as accepted."""
        listed: list[Any] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            listed += page.tools
            cursor = page.next_cursor
            if not cursor or len(listed) > MOST_TOOLS:
                break
        found = read_tools(self.spec.name, listed, self._reserved)
        wanted = self.spec.settings.tools
        self.offered = tuple(tool for tool in found.tools if not wanted or tool.own_name in wanted)
        self.changed = self._pins.changed(self.spec.pin_name, self.offered)
        missing = [name for name in wanted if name not in {tool.own_name for tool in self.offered}]
        troubles = [
            *found.refused,
            *([f"it does not offer {', '.join(missing)}"] if missing else []),
            *([_name_changes(self.changed)] if self.changed else []),
        ]
        self._detail = "; ".join(troubles[:5])

    async def _stay(self, client: Client) -> None:
        """Follow changes of its tools until it ends."""
        ended = self._process.ended if self._process else asyncio.Event()
        gone = asyncio.create_task(ended.wait())
        relist = asyncio.create_task(self._relist.wait())
        try:
            while True:
                await asyncio.wait({gone, relist}, return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    raise ToolError(f"It is no longer running: {self._process_ending()}.")
                self._relist.clear()
                await self._list(client)
                self._tell("ready", self._detail)
                await asyncio.sleep(_RELIST_SECONDS)
                relist = asyncio.create_task(self._relist.wait())
        finally:
            gone.cancel()
            relist.cancel()

    def _process_ending(self) -> str:
        return first_line(self._process.ending, 300) if self._process else "the connection ended"

    async def _hear(self, message: Any) -> None:
        from mcp.types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._relist.set()

    def _tell(self, state: ServerState, detail: str = "") -> None:
        self._state, self._detail = state, detail
        _log.info("server %s is %s %s", self.spec.name, state, detail)
        if state != "starting":
            self.settled.set()
        with suppress(RuntimeError):  # nobody listens any longer
            self._on_change()

    def _explain(self, error: BaseException) -> str:
        if isinstance(error, BaseExceptionGroup):
            return self._explain(error.exceptions[0])
        if isinstance(error, TimeoutError):
            seconds = self.spec.settings.start_seconds
            return f"It was not ready within {seconds:g} s. Raise start_seconds to wait longer."
        if self._process is not None and self._process.ending and not isinstance(error, ToolError):
            ending = self._process_ending()
            return f"{ending[:1].upper()}{ending[1:]}."
        if self._status_code in {401, 403}:
            return (
                f"It requires signing in ({self._status_code}). Set oauth = true to sign in with a "
                "browser, or give it a header with a token."
            )
        if self._status_code >= 400:
            return f"It answered with status {self._status_code}. Check its url."
        if type(error).__name__ in {"ConnectError", "ConnectTimeout"}:
            return "The connection failed. Check its url and that it is running."
        if isinstance(error, AgentTuiError):
            return first_line(str(error), 400)
        return first_line(f"{type(error).__name__}: {error}", 400)


def _name_changes(changed: Collection[OfferedTool]) -> str:
    return f"new or changed: {', '.join(reveal(tool.own_name)[:80] for tool in list(changed)[:5])}"


async def _take_any_result(name: str, result: Any) -> None:
    """A result is for a model, which reads it whatever its shape."""
