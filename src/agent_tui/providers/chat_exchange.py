"""One request to a chat server and the listening to its reply, with all that can go wrong."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import ReplyEnded, StreamPart
from agent_tui.core.records import AssistantMessage
from agent_tui.providers import failures
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.chat_request import write_messages, write_tools
from agent_tui.providers.chat_stream import ChatReader
from agent_tui.providers.failures import Server

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

USAGE_SECONDS = 3.0
"""How long to wait for the usage, or the end, once a server said that its answer is finished."""
_BURST_SECONDS = 0.004
_LESSONS = 3
_END = object()


@dataclass(slots=True)
class Quirks:
    """What a server was found to refuse or to want; learnt from its answers, kept between them."""

    stream_options: bool = True
    completion_tokens: bool = False
    reasoning_content: bool = False

    def learn(self, words: str) -> bool:
        """Take a lesson from a refusal; True when the request is worth another try."""
        if "stream_options" in words and self.stream_options:
            self.stream_options = False
        elif "max_completion_tokens" in words and not self.completion_tokens:
            self.completion_tokens = True
        elif "reasoning_content" in words:
            self.reasoning_content = not self.reasoning_content
        else:
            return False
        return True


class ChatExchange:
    """Asks once. Failures are kept in ``failure`` instead of raised.

    So no exception of the SDK, whose request carries the key, hangs on what the caller raises.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        server: Server,
        request: ModelRequest,
        quirks: Quirks,
        timeout_seconds: float,
    ) -> None:
        self.failure: ProviderError | None = None
        self._client = client
        self._server = server
        self._request = request
        self._quirks = quirks
        self._timeout_seconds = timeout_seconds
        self._silence = timeout_seconds
        self._deadline = asyncio.get_running_loop().time() + self._silence
        self._reader = ChatReader(_used_ids(request))
        self._begun = False
        self._stream: Any = None

    async def parts(self) -> AsyncIterator[StreamPart]:
        """The reply as it arrives; ends without a ReplyEnded when it failed."""
        try:
            async with asyncio.timeout_at(self._deadline):
                self._stream = await self._open()
            async for part in self._listen():
                self._begun = True
                yield part
        except Exception as error:  # whatever an odd answer makes the SDK raise
            if not self._reader.finish_reason:
                self.failure = self._explain(error)
        if self._reader.thinks_in_reasoning_content:
            self._quirks.reasoning_content = True
        if self._reader.finish_reason:
            for part in self._reader.close():
                yield part
            yield ReplyEnded(self._reader.finish_reason, self._reader.usage)
        elif self.failure is None:
            self.failure = failures.explain_cut(self._server, begun=self._begun)

    async def aclose(self) -> None:
        """Let go of the connection; after this the server's work is cancelled."""
        if self._stream is not None:
            await self._stream.close()

    async def _open(self) -> Any:
        """Send the request, a little differently where the server refuses a field by name."""
        import openai

        create: Any = self._client.chat.completions.create
        for _ in range(_LESSONS):
            try:
                return await create(**self._body())
            except openai.APIStatusError as error:
                if error.status_code not in {400, 422} or not self._quirks.learn(_all_words(error)):
                    raise
        return await create(**self._body())

    def _body(self) -> dict[str, Any]:
        request, quirks = self._request, self._quirks
        body: dict[str, Any] = {
            "model": request.model,
            "messages": write_messages(request, with_reasoning=quirks.reasoning_content),
            "stream": True,
        }
        if quirks.stream_options:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            body["tools"] = write_tools(request.tools)
        if request.max_output_tokens is not None:
            name = "max_completion_tokens" if quirks.completion_tokens else "max_tokens"
            body[name] = request.max_output_tokens
        return body

    async def _listen(self) -> AsyncIterator[StreamPart]:
        kind = self._stream.response.headers.get("content-type", "").partition(";")[0].strip()
        if kind in {"application/json", "text/html"}:
            for part in await self._read_whole():
                yield part
            return
        breathed = time.perf_counter()
        while (chunk := await self._next_chunk()) is not _END:
            for part in self._reader.read(chunk):
                yield part
            self._be_patient()
            if time.perf_counter() - breathed > _BURST_SECONDS:
                await asyncio.sleep(0)  # a burst would hold up the event loop: the SDK never yields
                breathed = time.perf_counter()

    async def _next_chunk(self) -> Any:
        async with asyncio.timeout_at(self._deadline):
            return await anext(self._stream, _END)

    def _be_patient(self) -> None:
        """Move the deadline: the first token has one of its own, and so has the end."""
        if self._reader.finish_reason:
            self._silence = USAGE_SECONDS
        elif self._begun:
            self._silence = self._timeout_seconds
        else:
            return
        self._deadline = asyncio.get_running_loop().time() + self._silence

    async def _read_whole(self) -> list[StreamPart]:
        """An answer in one piece, from a server that does not stream; or no answer at all."""
        async with asyncio.timeout_at(self._deadline):
            text = (await self._stream.response.aread()).decode("utf-8", "replace")
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self.failure = failures.explain_garbage(self._server, text, begun=False)
            return []
        if body.get("error"):
            self.failure = failures.explain_error_event(self._server, body["error"], begun=False)
            return []
        return list(self._reader.read(body))

    def _explain(self, error: Exception) -> ProviderError:
        import openai

        server, begun = self._server, self._begun
        if isinstance(error, openai.APIStatusError):
            headers = error.response.headers
            return failures.explain_status(server, error.status_code, error.body, headers)
        if isinstance(error, TimeoutError):
            return failures.explain_silence(server, self._silence, begun=begun)
        if isinstance(error, openai.APIConnectionError | OSError):
            if self._stream is not None:
                return failures.explain_cut(server, begun=begun)
            return failures.explain_connection(server, error)
        if isinstance(error, openai.APIError):
            return failures.explain_error_event(server, error.body or error.message, begun=begun)
        sample = getattr(error, "doc", "") or f"{type(error).__name__}: {error}"
        return failures.explain_garbage(server, str(sample), begun=begun)


def _used_ids(request: ModelRequest) -> frozenset[str]:
    return frozenset(_call_ids(request))


def _call_ids(request: ModelRequest) -> Iterator[str]:
    for message in request.messages:
        if isinstance(message, AssistantMessage):
            yield from (call.id for call in message.tool_calls)


def _all_words(error: APIStatusError) -> str:
    return f"{error.message} {error.body}"
