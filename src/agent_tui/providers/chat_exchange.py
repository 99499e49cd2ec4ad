"""One request to a chat server and the listening to its reply."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import StreamPart
from agent_tui.providers import failures
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.chat_request import ChatBodies, Quirks
from agent_tui.providers.chat_stream import ChatReader
from agent_tui.providers.exchange import END_SECONDS, Exchange, as_content
from agent_tui.providers.failures import Server
from agent_tui.providers.server_events import ServerEvent, decode_json

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, AsyncOpenAI

_LESSONS = 3
_HEADERS = {"Content-Type": "application/json", "Accept": "text/event-stream"}


class ChatExchange(Exchange[ChatReader]):
    """Asks a server of the chat-completions API once."""

    def __init__(
        self,
        client: AsyncOpenAI,
        server: Server,
        request: ModelRequest,
        bodies: ChatBodies,
        quirks: Quirks,
        timeout_seconds: float,
    ) -> None:
        super().__init__(server, ChatReader(), timeout_seconds)
        self._client = client
        self._request = request
        self._bodies = bodies
        self._quirks = quirks

    def _note_habits(self) -> None:
        if self._reader.thinks_in_reasoning_content:
            self._quirks.reasoning_content = True

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

    def _read_event(self, event: ServerEvent) -> Iterator[StreamPart]:
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
            self._wait(END_SECONDS)
        elif self._started:
            self._wait(self._timeout_seconds)

    def _explain(self, error: Exception) -> ProviderError:
        import openai

        if isinstance(error, openai.APIStatusError):
            headers = error.response.headers
            return failures.explain_status(self._server, error.status_code, error.body, headers)
        if isinstance(error, openai.APIConnectionError):
            return self._explain_connection(error)
        return super()._explain(error)


def _all_words(error: APIStatusError) -> str:
    return f"{error.message} {error.body}"
