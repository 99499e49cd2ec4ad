"""One request to a chat server and the listening to its reply, with all that can go wrong."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import ReplyEnded, StreamPart
from agent_tui.providers import failures
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.bounds import TooMuch, bounded, read_bounded
from agent_tui.providers.chat_request import ChatBodies, Quirks
from agent_tui.providers.chat_stream import ChatReader
from agent_tui.providers.failures import Server
from agent_tui.providers.server_events import EventReader, ServerEvent, decode_json
from agent_tui.providers.slices import as_content

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, AsyncOpenAI

USAGE_SECONDS = 3.0
"""How long to wait for the usage, or the end, once a server said that its answer is finished."""
_BURST_SECONDS = 0.0015
_LESSONS = 3
_DRAIN_SECONDS = 0.05
_BIG_BYTES = 1_000_000
_BIG_SECONDS = 0.02
"""A pause in which a key is answered, between two pieces of work on megabytes."""
_SAMPLE_BYTES = 20_000
_HEADERS = {"Content-Type": "application/json", "Accept": "text/event-stream"}


class ChatExchange:
    """Asks once. Failures are kept in ``failure`` instead of raised.

    So no exception of the SDK, whose request carries the key, hangs on what the caller raises.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        server: Server,
        request: ModelRequest,
        bodies: ChatBodies,
        quirks: Quirks,
        timeout_seconds: float,
    ) -> None:
        self.failure: ProviderError | None = None
        self._client = client
        self._server = server
        self._request = request
        self._bodies = bodies
        self._quirks = quirks
        self._timeout_seconds = timeout_seconds
        self._silence = timeout_seconds
        self._deadline = asyncio.get_running_loop().time() + self._silence
        self._reader = ChatReader()
        self._started = False
        self._is_over = False
        self._response: httpx2.Response | None = None
        self._arriving: AsyncIterator[bytes] | None = None

    async def parts(self) -> AsyncIterator[StreamPart]:
        """The reply as it arrives; ends without a ReplyEnded when it failed."""
        try:
            async with asyncio.timeout_at(self._deadline):
                self._response = await self._open()
            async for part in self._listen(self._response):
                self._started = True
                yield part
        except Exception as error:  # whatever an odd answer makes the SDK raise
            if not self._reader.finish_reason or isinstance(error, TooMuch):
                self.failure = self._explain(error)
        if self._reader.thinks_in_reasoning_content:
            self._quirks.reasoning_content = True
        if self._reader.finish_reason and self.failure is None:
            for part in self._reader.close():
                yield part
            yield ReplyEnded(self._reader.finish_reason, self._reader.usage)
        elif self.failure is None:
            self.failure = failures.explain_cut(self._server, started=self._started)

    async def aclose(self) -> None:
        """Give the connection back, or break it off where the server is still at work."""
        if self._response is None:
            return
        try:
            if self._is_over and self._arriving is not None:
                with suppress(Exception):  # an answer read to its end leaves the connection usable
                    async with asyncio.timeout(_DRAIN_SECONDS):
                        while await anext(self._arriving, None) is not None:
                            pass
        finally:
            await self._response.aclose()

    async def _open(self) -> httpx2.Response:
        """Send the request, a little differently where the server refuses a field by name."""
        import openai

        for _ in range(_LESSONS):
            try:
                return await self._post()
            except openai.APIStatusError as error:
                if error.status_code not in {400, 422} or not self._quirks.learn(_all_words(error)):
                    raise
        return await self._post()

    async def _post(self) -> httpx2.Response:
        """Send a finished body, and get the answer unread.

        The SDK's own ``create`` would walk the whole history on the event loop at every step, and
        make a model object of every chunk.
        """
        import httpx2

        body, used_ids = await asyncio.to_thread(self._bodies.write, self._request, self._quirks)
        self._reader.used_ids = used_ids
        content, sized = as_content(body)
        post: Any = self._client.post
        response: httpx2.Response = await post(
            "/chat/completions",
            cast_to=httpx2.Response,
            content=content,
            options={"headers": _HEADERS | sized},
            stream=True,
        )
        return response

    async def _listen(self, response: httpx2.Response) -> AsyncIterator[StreamPart]:
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if kind in {"application/json", "text/html"}:
            for part in await self._read_whole(response):
                yield part
            return
        events = EventReader()
        self._arriving = arriving = aiter(bounded(response.aiter_bytes()))
        breathed = time.perf_counter()
        while (data := await self._next_bytes(arriving)) is not None:
            for event in events.feed(data):
                if len(event.data) > _BIG_BYTES:
                    await asyncio.sleep(_BIG_SECONDS)  # joining it took long enough
                for part in self._read_event(event):
                    yield part
                if self._is_over:
                    return
                if len(event.data) > _BIG_BYTES:
                    await asyncio.sleep(_BIG_SECONDS)  # so did reading it
                if time.perf_counter() - breathed > _BURST_SECONDS:
                    await asyncio.sleep(0)  # a burst would hold up the event loop
                    breathed = time.perf_counter()
        for event in events.close():
            for part in self._read_event(event):
                yield part

    async def _next_bytes(self, arriving: AsyncIterator[bytes]) -> bytes | None:
        async with asyncio.timeout_at(self._deadline):
            return await anext(arriving, None)

    def _read_event(self, event: ServerEvent) -> Iterator[StreamPart]:
        """The parts that an event holds; an error in it ends the answer."""
        if event.data.startswith(b"[DONE]"):
            self._is_over = True
            return
        chunk = decode_json(event.data)
        if isinstance(chunk, dict) and chunk.get("error"):
            self._is_over = True
            if not self._reader.finish_reason:
                trouble = chunk["error"]
                self.failure = failures.explain_error_event(
                    self._server, trouble, started=self._started
                )
            return
        yield from self._reader.read(chunk)
        self._be_patient()

    def _be_patient(self) -> None:
        """Move the deadline: the first token has one of its own, and so has the end."""
        if self._reader.finish_reason:
            self._silence = USAGE_SECONDS
        elif self._started:
            self._silence = self._timeout_seconds
        else:
            return
        self._deadline = asyncio.get_running_loop().time() + self._silence

    async def _read_whole(self, response: httpx2.Response) -> list[StreamPart]:
        """An answer in one piece, from a server that does not stream; or no answer at all."""
        async with asyncio.timeout_at(self._deadline):
            data = await read_bounded(response.aiter_bytes())
        try:
            body = decode_json(data)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            text = data[:_SAMPLE_BYTES].decode("utf-8", "replace")
            self.failure = failures.explain_garbage(self._server, text, started=False)
            return []
        if body.get("error"):
            self.failure = failures.explain_error_event(self._server, body["error"], started=False)
            return []
        return list(self._reader.read(body))

    def _explain(self, error: Exception) -> ProviderError:
        import httpx2
        import openai

        server, started = self._server, self._started
        if isinstance(error, TooMuch):
            return failures.explain_too_much(server, str(error))
        if isinstance(error, openai.APIStatusError):
            headers = error.response.headers
            return failures.explain_status(server, error.status_code, error.body, headers)
        if isinstance(error, TimeoutError):
            return failures.explain_silence(server, self._silence, started=started)
        if isinstance(error, openai.APIConnectionError | httpx2.TransportError | OSError):
            if self._response is not None:
                return failures.explain_cut(server, started=started)
            return failures.explain_connection(server, error)
        sample = getattr(error, "doc", "") or f"{type(error).__name__}: {error}"
        return failures.explain_garbage(server, str(sample), started=started)


def _all_words(error: APIStatusError) -> str:
    return f"{error.message} {error.body}"
