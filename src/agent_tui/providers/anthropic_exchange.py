"""One request to a server of the Messages API and the listening to its reply."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import ReplyEnded, StreamPart
from agent_tui.providers import failures
from agent_tui.providers.anthropic_request import Quirks
from agent_tui.providers.anthropic_stream import MessageReader
from agent_tui.providers.bounds import TooMuch, bounded, read_bounded
from agent_tui.providers.failures import Server
from agent_tui.providers.server_events import EventReader, ServerEvent, decode_json
from agent_tui.providers.slices import as_content

if TYPE_CHECKING:
    import httpx2

END_SECONDS = 3.0
"""How long to wait for the end once a server said that its answer is finished."""
_BURST_SECONDS = 0.0015
_LESSONS = 4
_LARGEST_REFUSAL = 100_000


class AnthropicExchange:
    """Asks once. Failures are kept in ``failure`` instead of raised, without the request in them.

    ``write`` gives the body as the quirks want it; it runs in a thread.
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        server: Server,
        write: Callable[[], bytes],
        quirks: Quirks,
        timeout_seconds: float,
    ) -> None:
        self.failure: ProviderError | None = None
        self._client = client
        self._server = server
        self._write = write
        self._quirks = quirks
        self._timeout_seconds = timeout_seconds
        self._silence = timeout_seconds
        self._deadline = asyncio.get_running_loop().time() + self._silence
        self._reader = MessageReader()
        self._started = False
        self._is_over = False
        self._response: httpx2.Response | None = None

    async def parts(self) -> AsyncIterator[StreamPart]:
        """The reply as it arrives; ends without a ReplyEnded when it failed."""
        try:
            async with asyncio.timeout_at(self._deadline):
                response = await self._open()
            if response is not None:
                async for part in self._listen(response):
                    self._started = True
                    yield part
        except Exception as error:  # whatever an odd answer raises
            if not self._reader.finish_reason or isinstance(error, TooMuch):
                self.failure = self._explain(error)
        if self._reader.finish_reason and self.failure is None:
            yield ReplyEnded(self._reader.finish_reason, self._reader.usage)
        elif self.failure is None:
            self.failure = failures.explain_cut(self._server, started=self._started)

    async def aclose(self) -> None:
        """Give the connection back, or break it off where the server is still at work."""
        if self._response is not None:
            await self._response.aclose()

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

    async def _listen(self, response: httpx2.Response) -> AsyncIterator[StreamPart]:
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if kind in {"application/json", "text/html"}:
            for part in await self._read_whole(response):
                yield part
            return
        events = EventReader()
        arriving = aiter(bounded(response.aiter_bytes()))
        breathed = time.perf_counter()
        while (data := await self._next_bytes(arriving)) is not None:
            for event in events.feed(data):
                for part in self._read_event(event):
                    yield part
                if self._is_over:
                    return
                if time.perf_counter() - breathed > _BURST_SECONDS:
                    await asyncio.sleep(0)  # a burst would hold up the event loop
                    breathed = time.perf_counter()

    async def _next_bytes(self, arriving: AsyncIterator[bytes]) -> bytes | None:
        async with asyncio.timeout_at(self._deadline):
            return await anext(arriving, None)

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
        seconds = END_SECONDS if self._reader.finish_reason else self._timeout_seconds
        self._silence = seconds
        self._deadline = asyncio.get_running_loop().time() + seconds

    async def _read_whole(self, response: httpx2.Response) -> list[StreamPart]:
        """An answer in one piece, from a server that does not stream; or no answer at all."""
        async with asyncio.timeout_at(self._deadline):
            data = await read_bounded(response.aiter_bytes())
        try:
            body = decode_json(data)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            text = data[:20_000].decode("utf-8", "replace")
            self.failure = failures.explain_garbage(self._server, text, started=False)
            return []
        if body.get("type") == "error" or body.get("error"):
            said = body.get("error")
            self.failure = failures.explain_error_event(self._server, said, started=False)
            return []
        return list(self._reader.read_whole(body))

    def _explain(self, error: Exception) -> ProviderError:
        import httpx2

        server, started = self._server, self._started
        if isinstance(error, TooMuch):
            return failures.explain_too_much(server, str(error))
        if isinstance(error, TimeoutError):
            return failures.explain_silence(server, self._silence, started=started)
        if isinstance(error, httpx2.TransportError | OSError):
            if self._response is not None:
                return failures.explain_cut(server, started=started)
            return failures.explain_connection(server, error)
        sample = getattr(error, "doc", "") or f"{type(error).__name__}: {error}"
        return failures.explain_garbage(server, str(sample), started=started)
