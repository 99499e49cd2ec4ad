"""A server on pipes, as the client library wants its transports, but bounded.

The library's own has no limit for a line, parses every line that a server makes up, and lets its
errors reach the terminal. Here a line has a cap, notifications that nobody waits for are dropped
unparsed, and a server that floods is ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
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
_REQUEST_WEIGHT = 20
_EXIT_SECONDS = 2.0
_WANTED = frozenset({"notifications/tools/list_changed"})
_ANSWER = re.compile(
    rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"\s*:'
)
"""An answer that is no JSON further on: whoever waits for it has to be told."""
_PARSE_ERROR = -32700


class _Envelope(msgspec.Struct):
    """Enough of a message to know what it is."""

    method: str | None = None
    id: Any = None

    @property
    def is_request(self) -> bool:
        """Whether it wants an answer."""
        return self.method is not None and self.id is not None

    @property
    def is_wanted(self) -> bool:
        """Whether it is an answer, a request, or a notification that something waits for."""
        return self.method is None or self.id is not None or self.method in _WANTED


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
                envelope = self._open(line)
                if self._floods(line, envelope):
                    self.ending = "it sent far more than it was asked for"
                    break
                if envelope is None or not envelope.is_wanted:
                    continue
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    message = _read_patiently(line, envelope)
                if message is not None:
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

    def _open(self, line: bytes) -> _Envelope | None:
        """What a line is; None, and it is kept in the log, where it is no message."""
        try:
            return _decode(line)
        except (msgspec.DecodeError, RecursionError):
            if (answered := _ANSWER.match(line)) is not None:
                return _Envelope(id=int(answered[1]))
            self._log.write(line)
            return None

    def _floods(self, line: bytes, envelope: _Envelope | None) -> bool:
        """Whether this is too much since it was last asked for something.

        What it asks for itself counts more, because somebody has to answer; of what it answers
        only the number counts.
        """
        self._unasked += _REQUEST_WEIGHT if envelope is not None and envelope.is_request else 1
        if envelope is None or envelope.method is not None:
            self._unasked_bytes += len(line)
        return self._unasked > MOST_UNASKED or self._unasked_bytes > MOST_UNASKED_BYTES

    async def _write(self, process: asyncio.subprocess.Process, outgoing: Any) -> None:
        assert process.stdin is not None
        with suppress(OSError, RuntimeError):
            async for message in outgoing:
                if hasattr(message.message, "method"):  # no answer, with which it could go on
                    self._unasked = self._unasked_bytes = 0
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode("utf-8", "replace") + b"\n")
                await process.stdin.drain()

    async def _keep_errors(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while data := await process.stderr.read(65_536):
            self._log.write(data)


_decode = msgspec.json.Decoder(_Envelope).decode


def _read_patiently(line: bytes, envelope: _Envelope) -> Any:
    """A message with characters that no UTF-8 has, replaced; one that cannot be read is told of.

    None for what nobody waits for.
    """
    from mcp_types import jsonrpc_message_adapter

    try:
        value = json.loads(line.decode("utf-8", "replace"))
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return jsonrpc_message_adapter.validate_json(text.encode("utf-8", "replace"), by_name=False)
    except (ValueError, RecursionError):
        # Its own requests have numbers of their own; and ours have one that is a number or text.
        if envelope.method is not None or type(envelope.id) not in (int, str):
            return None
        error = {"code": _PARSE_ERROR, "message": "it sent an answer that cannot be read"}
        told = {"jsonrpc": "2.0", "id": envelope.id, "error": error}
        return jsonrpc_message_adapter.validate_python(told, by_name=False)


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
