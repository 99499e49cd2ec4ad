"""Any server that speaks OpenAI's chat completions: one streamed reply for one request."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from agent_tui.providers.base import ModelRequest
from agent_tui.providers.bounds import cut_refusal
from agent_tui.providers.certificates import trusted_by
from agent_tui.providers.deferred_import import deferring
from agent_tui.providers.failures import Server
from agent_tui.providers.remote import CONNECT_SECONDS, WRITE_SECONDS, RemoteProvider

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from agent_tui.providers.chat_exchange import ChatExchange

DEFAULT_URL = "https://api.openai.com/v1"
_NO_KEY = "no-key"


class OpenAICompatible(RemoteProvider["AsyncOpenAI"]):
    """A provider over OpenAI's SDK, for api.openai.com and everything compatible.

    Args:
        base_url: the server, usually ending in ``/v1``; None = OpenAI.
        api_key: empty for local servers that want none.
        name: the provider's name in config and records.
        key_source: where the key came from, in words, for error messages.
        timeout_seconds: how long the server may be silent: before the first token, in all, and
            between two chunks.
        headers: more headers for every request.
        level_of: how hard a model should think; None leaves that to the server.
    """

    default_url = DEFAULT_URL
    url_examples = f"http://127.0.0.1:8000/v1 or {DEFAULT_URL}"
    without_key = ", or set OPENAI_BASE_URL to a server that needs none, or try agent-tui --demo"

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str = "",
        name: str = "openai",
        key_source: str = "OPENAI_API_KEY",
        timeout_seconds: float = 300.0,
        headers: Mapping[str, str] | None = None,
        level_of: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        from agent_tui.providers.chat_request import ChatBodies, Quirks

        url = (base_url or DEFAULT_URL).strip()
        super().__init__(url, api_key, name, key_source, headers, timeout_seconds)
        self._quirks = Quirks()
        self._bodies = ChatBodies(level_of)

    def _exchange(self, client: AsyncOpenAI, request: ModelRequest, server: Server) -> ChatExchange:
        from agent_tui.providers.chat_exchange import ChatExchange

        return ChatExchange(
            client, server, request, self._bodies, self._quirks, self._timeout_seconds
        )

    def _connect(self) -> AsyncOpenAI:
        """The SDK's client: it neither retries (the loop does) nor limits the time between chunks.

        Requests are finished bodies and answers are read as they come, so the SDK's models of both,
        hundreds of modules of them, are left where they are.
        """
        with deferring("openai.types", "openai.lib"):
            import openai

        timeout = openai.Timeout(None, connect=CONNECT_SECONDS, write=WRITE_SECONDS)
        client = openai.AsyncOpenAI(
            base_url=self._url,
            api_key=self._key.reveal() or _NO_KEY,
            max_retries=0,
            timeout=timeout,
            default_headers=self._headers,
            # No redirect is followed: it would take the conversation to another server.
            http_client=openai.DefaultAsyncHttpxClient(
                verify=trusted_by(self._url),
                follow_redirects=False,
                event_hooks={"response": [cut_refusal]},
            ),
        )
        for module in ("agent_tui.providers.chat_exchange", "anyio._backends._asyncio"):
            with contextlib.suppress(ImportError):  # else imported on the loop by the first request
                importlib.import_module(module)
        return client

    async def _disconnect(self, client: AsyncOpenAI) -> None:
        await client.close()
