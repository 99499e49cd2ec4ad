"""A server on pipes, as the client library wants its transports, but bounded.

The library's own has no limit for a line, parses every line that a server makes up, and lets its
errors reach the terminal. Here a line has a cap, notifications that nobody waits for are dropped
unparsed, and a server that floods is ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agent_tui.core.errors import ToolError
from agent_tui.mcp.log_file import LogFile

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

LONGEST_LINE = 16_000_000
MOST_UNASKED = 20_000
MOST_UNASKED_BYTES = 64_000_000
_EXIT_SECONDS = 2.0
_WANTED = frozenset({"notifications/tools/list_changed"})


class _Envelope(msgspec.Struct):
    """Enough of a message to know what it is."""

    method: str | None = None
    id: Any = None


class StdioServer:
    """One child process and what it says; ``ending`` says in words why it is over."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path | None,
        log: LogFile,
    ) -> None:
        self.ending = ""
        self.ended = asyncio.Event()
        self._command = tuple(command)
        self._environment = dict(environment)
        self._folder = folder
        self._log = log
        self._unasked = 0
        self._unasked_bytes = 0

    @asynccontextmanager
    async def transport(self) -> AsyncIterator[TransportStreams]:
        """Start it and connect its pipes; on leaving, its whole process group is ended.

        Raises:
            ToolError: it could not be started.
        """
        import anyio
        from mcp.shared.message import SessionMessage

        process = await self._start()
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.create_task(self._read(process, incoming)),
            asyncio.create_task(self._write(process, outgoing)),
            asyncio.create_task(self._keep_errors(process)),
        ]
        try:
            yield read, write
        finally:
            for stream in (read, write, incoming, outgoing):
                stream.close()
            await asyncio.shield(asyncio.ensure_future(_end(process)))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _start(self) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                cwd=self._folder,
                limit=LONGEST_LINE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ToolError(f"{self._command[0]} could not be started: {reason}.") from None

    async def _read(self, process: asyncio.subprocess.Process, incoming: Any) -> None:
        """Pass on what the protocol needs; the stream closes when there is no more."""
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                if not self._is_wanted(line):
                    if self._floods(line):
                        self.ending = "it sent far more than it was asked for"
                        break
                    continue
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError as error:
                    await incoming.send(error)
                else:
                    await incoming.send(SessionMessage(message))
        except ValueError:
            self.ending = f"it sent a line of more than {LONGEST_LINE:,} bytes"
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return
        finally:
            await self._tell_end(process)
            incoming.close()

    async def _tell_end(self, process: asyncio.subprocess.Process) -> None:
        if not self.ending:
            with suppress(TimeoutError):
                async with asyncio.timeout(_EXIT_SECONDS):
                    await process.wait()
            code = process.returncode
            how = f"it ended with exit code {code}" if code is not None else "it closed its output"
            said = self._log.last_line
            self.ending = f"{how}: {said}" if said else how
        self.ended.set()

    def _is_wanted(self, line: bytes) -> bool:
        """Whether a line is an answer, a request, or a notification that something waits for."""
        try:
            envelope = _decode(line)
        except (msgspec.DecodeError, RecursionError):
            self._log.write(line)
            return False
        return envelope.method is None or envelope.id is not None or envelope.method in _WANTED

    def _floods(self, line: bytes) -> bool:
        self._unasked += 1
        self._unasked_bytes += len(line)
        return self._unasked > MOST_UNASKED or self._unasked_bytes > MOST_UNASKED_BYTES

    async def _write(self, process: asyncio.subprocess.Process, outgoing: Any) -> None:
        assert process.stdin is not None
        with suppress(OSError, RuntimeError):
            async for message in outgoing:
                self._unasked = self._unasked_bytes = 0
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode("utf-8", "replace") + b"\n")
                await process.stdin.drain()

    async def _keep_errors(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while data := await process.stderr.read(65_536):
            self._log.write(data)


_decode = msgspec.json.Decoder(_Envelope).decode


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close its input, wait a little, then end its process group: TERM, then KILL."""
    if process.stdin is not None:
        process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_SECONDS):
                await process.wait()
                break
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # children that it left behind
    # Nothing public closes the pipes of a child whose output was not read to its end.
    transport: asyncio.SubprocessTransport | None = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()
    await asyncio.sleep(0)
