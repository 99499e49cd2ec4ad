"""What any exchange with a server is: a request, then listening, with all that can go wrong."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import ReplyEnded, StreamPart
from agent_tui.core.usage import Usage
from agent_tui.providers import failures
from agent_tui.providers.bounds import TooMuch, bounded, read_bounded
from agent_tui.providers.failures import Server
from agent_tui.providers.server_events import EventReader, ServerEvent, decode_json

if TYPE_CHECKING:
    import httpx2

END_SECONDS = 3.0
"""How long to wait for the usage, or the end, once a server said that its answer is finished."""
_BURST_SECONDS = 0.0015
_WAITED_SECONDS = 0.002
_GATHER_SECONDS = 0.025
"""What comes this soon after a piece that was waited for is read with one wake-up: no frame of the
screen is shorter, and a server that writes word by word wakes nobody a hundred times a second."""
_DRAIN_SECONDS = 0.05
_BIG_BYTES = 1_000_000
_BIG_SECONDS = 0.02
"""A pause in which a key is answered, between two pieces of work on megabytes."""
_SAMPLE_BYTES = 20_000
_SLICE_BYTES = 65_536


class Reader(Protocol):
    """Makes stream parts of what a server says; the end and the usage are kept aside."""

    finish_reason: str
    usage: Usage | None

    def read_whole(self, body: dict[str, Any]) -> Iterator[StreamPart]:
        """The parts of an answer that came in one piece."""
        ...

    def close(self) -> Iterator[StreamPart]:
        """The parts that waited for the end."""
        ...


AnyReader = TypeVar("AnyReader", bound=Reader)


class Exchange(ABC, Generic[AnyReader]):
    """Asks once. Failures are kept in ``failure`` instead of raised.

    So no exception of a library, whose request carries the key, hangs on what the caller raises.
    """

    def __init__(self, server: Server, reader: AnyReader, timeout_seconds: float) -> None:
        self.failure: ProviderError | None = None
        self._server = server
        self._reader = reader
        self._timeout_seconds = timeout_seconds
        self._started = False
        self._is_over = False
        self._response: httpx2.Response | None = None
        self._arriving: AsyncIterator[bytes] | None = None
        self._wait(timeout_seconds)

    @abstractmethod
    async def _open(self) -> httpx2.Response | None:
        """Send the request and get the answer unread; None where ``failure`` says why not."""

    @abstractmethod
    def _read_event(self, event: ServerEvent) -> Iterator[StreamPart]:
        """The parts that an event holds; one that ends the answer sets ``_is_over``."""

    async def parts(self) -> AsyncIterator[StreamPart]:
        """The reply as it arrives; ends without a ReplyEnded when it failed."""
        try:
            async with asyncio.timeout_at(self._deadline):
                response = self._response = await self._open()
            if response is not None:
                async for part in self._listen(response):
                    self._started = True
                    yield part
        except Exception as error:  # whatever an odd answer raises
            if not self._reader.finish_reason or isinstance(error, TooMuch):
                self.failure = self._explain(error)
        self._note_habits()
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

    def _note_habits(self) -> None:
        """The answer is read: remember what it showed of the server."""

    def _wait(self, seconds: float) -> None:
        """Give the server so long from now on to say the next thing."""
        self._silence = seconds
        self._deadline = asyncio.get_running_loop().time() + seconds

    async def _listen(self, response: httpx2.Response) -> AsyncIterator[StreamPart]:
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if kind in {"application/json", "text/html"}:
            for part in await self._read_whole(response):
                yield part
            return
        events = EventReader()
        self._arriving = arriving = aiter(bounded(response.aiter_bytes()))
        breathed = asked = time.perf_counter()
        while (data := await self._next_bytes(arriving)) is not None:
            was_waited_for = time.perf_counter() - asked > _WAITED_SECONDS
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
            if was_waited_for and self._started:
                await asyncio.sleep(_GATHER_SECONDS)
            asked = time.perf_counter()
        for event in events.close():
            for part in self._read_event(event):
                yield part

    async def _next_bytes(self, arriving: AsyncIterator[bytes]) -> bytes | None:
        async with asyncio.timeout_at(self._deadline):
            return await anext(arriving, None)

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
        if body.get("error") or body.get("type") == "error":
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
            return self._explain_connection(error)
        sample = getattr(error, "doc", "") or f"{type(error).__name__}: {error}"
        return failures.explain_garbage(server, str(sample), started=started)

    def _explain_connection(self, error: Exception) -> ProviderError:
        """There was none, or it broke."""
        if self._response is not None:
            return failures.explain_cut(self._server, started=self._started)
        return failures.explain_connection(self._server, error)


def as_content(body: bytes) -> tuple[bytes | AsyncIterator[bytes], dict[str, str]]:
    """A body as an HTTP client should send it, and the headers that this needs."""
    if len(body) <= _BIG_BYTES:
        return body, {}
    return _slices(body), {"Content-Length": str(len(body))}


async def _slices(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), _SLICE_BYTES):
        yield body[start : start + _SLICE_BYTES]
