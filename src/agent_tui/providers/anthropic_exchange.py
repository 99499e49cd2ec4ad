"""One request to a server of the Messages API and the listening to its reply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from agent_tui.core.events import StreamPart
from agent_tui.providers import failures
from agent_tui.providers.anthropic_request import Quirks
from agent_tui.providers.anthropic_stream import MessageReader
from agent_tui.providers.exchange import END_SECONDS, Exchange, as_content
from agent_tui.providers.failures import Server
from agent_tui.providers.server_events import ServerEvent, decode_json

if TYPE_CHECKING:
    import httpx2

_LESSONS = 4
_LARGEST_REFUSAL = 100_000


class AnthropicExchange(Exchange[MessageReader]):
    """Asks a server of the Messages API once.

    ``write`` gives the body as the quirks want it; it runs in a thread.
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        server: Server,
        write: Callable[[], bytes],
        quirks: Quirks,
        timeout_seconds: float,
        used_ids: Callable[[], Collection[str]],
    ) -> None:
        super().__init__(server, MessageReader(used_ids), timeout_seconds)
        self._client = client
        self._write = write
        self._quirks = quirks

    async def _open(self) -> httpx2.Response | None:
        """Send the request, a little differently where the server refuses a field by name."""
        for _ in range(_LESSONS):
            body = await asyncio.to_thread(self._write)
            content, sized = as_content(body)
            request = self._client.build_request(
                "POST", "/v1/messages", content=content, headers=sized
            )
            response = self._response = await self._client.send(request, stream=True)
            if response.status_code < 300:
                return response
            said = await self._read_refusal(response)
            words = failures.read_words(said)
            if response.status_code not in {400, 422} or not self._quirks.learn(words):
                self.failure = failures.explain_status(
                    self._server, response.status_code, said, response.headers
                )
                return None
        return None

    async def _read_refusal(self, response: httpx2.Response) -> bytes:
        said = b""
        async for data in response.aiter_bytes():
            said += data
            if len(said) > _LARGEST_REFUSAL:
                break
        await response.aclose()
        return said[:_LARGEST_REFUSAL]

    def _read_event(self, event: ServerEvent) -> Iterator[StreamPart]:
        fields = decode_json(event.data)
        kind = fields.get("type") if isinstance(fields, dict) else None
        if kind == "error":
            self._is_over = True
            self.failure = failures.explain_error_event(
                self._server, fields.get("error"), started=self._started
            )
            return
        if kind == "message_stop":
            self._is_over = True
            return
        yield from self._reader.read(fields)
        self._wait(END_SECONDS if self._reader.finish_reason else self._timeout_seconds)
