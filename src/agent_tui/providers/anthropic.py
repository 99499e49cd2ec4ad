"""Servers of Anthropic's Messages API, over HTTP as it is: no SDK stands between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import StreamPart
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.certificates import trusted_by
from agent_tui.providers.failures import Server
from agent_tui.providers.model_facts import ModelFacts
from agent_tui.providers.secret import Secret

if TYPE_CHECKING:
    import httpx2

DEFAULT_URL = "https://api.anthropic.com"
_VERSION = "2023-06-01"
_CONNECT_SECONDS = 15.0
_WRITE_SECONDS = 60.0


class Anthropic:
    """A provider for api.anthropic.com and everything that speaks its Messages API.

    Args:
        base_url: the server, with or without ``/v1``.
        api_key: empty for servers that want none.
        facts_of: what is known of a model: its longest answer, and how hard it should think.
        name: the provider's name in settings and records.
        key_source: where the key came from, in words, for error messages.
        headers: more headers for every request.
        timeout_seconds: how long the server may be silent.
    """

    def __init__(
        self,
        *,
        base_url: str = DEFAULT_URL,
        api_key: str = "",
        facts_of: Callable[[str], ModelFacts] = lambda _: ModelFacts(),
        name: str = "anthropic",
        key_source: str = "ANTHROPIC_API_KEY",
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 300.0,
    ) -> None:
        from agent_tui.providers.anthropic_request import AnthropicBodies, Quirks

        self._name = name
        self._url = base_url.strip().rstrip("/").removesuffix("/v1")
        self._key = Secret(api_key.strip())
        self._key_source = key_source
        self._facts_of = facts_of
        self._headers = dict(headers or {})
        self._timeout_seconds = timeout_seconds
        self._quirks = Quirks()
        self._bodies = AnthropicBodies()
        self._client: httpx2.AsyncClient | None = None
        self._warming = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    def warm(self) -> None:
        """Import the HTTP library and make the client: off the event loop, before it is needed."""
        with self._warming:
            if self._client is None and self._refusal() is None:
                self._client = self._connect()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        """Ask the model and yield its reply as it arrives; see Provider."""
        from agent_tui.providers.anthropic_exchange import AnthropicExchange

        if self._client is None:
            await asyncio.to_thread(self.warm)
        if self._client is None:
            raise self._refusal() or ProviderError("The provider was closed.")
        facts = self._facts_of(request.model)
        write = partial(
            self._bodies.write, request, self._quirks, facts.thinking_level, facts.max_output_tokens
        )
        server = Server(self._url, request.model, self._key, self._key_source)
        exchange = AnthropicExchange(
            self._client, server, write, self._quirks, self._timeout_seconds
        )
        try:
            async for part in exchange.parts():
                yield part
        finally:
            await exchange.aclose()
        if exchange.failure is not None:
            raise exchange.failure

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _connect(self) -> httpx2.AsyncClient:
        import httpx2

        timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS, write=_WRITE_SECONDS)
        headers = {
            "anthropic-version": _VERSION,
            "content-type": "application/json",
            "accept": "text/event-stream",
            **self._headers,
        }
        if self._key:
            headers["x-api-key"] = self._key.reveal()
        return httpx2.AsyncClient(
            base_url=self._url, headers=headers, timeout=timeout, verify=trusted_by(self._url)
        )

    def _refusal(self) -> ProviderError | None:
        """Why a request cannot even be tried."""
        server = Server(self._url, "", self._key, self._key_source)
        parts = urlsplit(self._url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            return ProviderError(
                f"The base URL {server.quote(self._url)} is not a server address; expected one "
                f"like {DEFAULT_URL}."
            )
        if any(not "!" <= character <= "~" for character in self._key.reveal()):
            return ProviderError(
                f"The key from {self._key_source} holds spaces, line breaks or letters that no "
                "key can have: copy it again."
            )
        if not self._key and self._url == DEFAULT_URL:
            return ProviderError(f"There is no key for {server.shown_url}: set {self._key_source}.")
        return None
