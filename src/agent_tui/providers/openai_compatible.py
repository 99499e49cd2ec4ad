"""Any server that speaks OpenAI's chat completions: one streamed reply for one request."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import StreamPart
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.bounds import cut_refusal
from agent_tui.providers.certificates import trusted_by
from agent_tui.providers.deferred_import import deferring
from agent_tui.providers.failures import Server
from agent_tui.providers.secret import Secret

if TYPE_CHECKING:
    from openai import AsyncOpenAI

DEFAULT_URL = "https://api.openai.com/v1"
_NO_KEY = "no-key"
_CONNECT_SECONDS = 15.0
_WRITE_SECONDS = 60.0


class OpenAICompatible:
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

        self._name = name
        self._url = (base_url or DEFAULT_URL).strip()
        self._key = Secret(api_key.strip())
        self._key_source = key_source
        self._timeout_seconds = timeout_seconds
        self._quirks = Quirks()
        self._headers = dict(headers or {})
        self._bodies = ChatBodies(level_of)
        self._client: AsyncOpenAI | None = None
        self._warming = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    def warm(self) -> None:
        """Import the SDK and make the client: off the event loop, before it is needed.

        Any thread may call it, any number of times. It never fails: a key or an address that
        cannot work is told by the first request.
        """
        with self._warming:
            if self._client is None and self._refusal() is None:
                self._client = _make_client(self._url, self._key, self._headers)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        """Ask the model and yield its reply as it arrives; see Provider."""
        from agent_tui.providers.chat_exchange import ChatExchange

        if self._client is None:
            await asyncio.to_thread(self.warm)
        if self._client is None:
            raise self._refusal() or ProviderError("The provider was closed.")
        server = Server(self._url, request.model, self._key, self._key_source)
        exchange = ChatExchange(
            self._client, server, request, self._bodies, self._quirks, self._timeout_seconds
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
            await client.close()

    def _refusal(self) -> ProviderError | None:
        """Why a request cannot even be tried."""
        server = Server(self._url, "", self._key, self._key_source)
        if not _is_web_address(self._url):
            return ProviderError(
                f"The base URL {server.quote(self._url)} is not a server address; expected one "
                "like http://127.0.0.1:8000/v1 or https://api.openai.com/v1."
            )
        if any(not "!" <= character <= "~" for character in self._key.reveal()):
            return ProviderError(
                f"The key from {self._key_source} holds spaces, line breaks or letters that no "
                "key can have: copy it again."
            )
        if not self._key and self._url == DEFAULT_URL:
            return ProviderError(
                f"There is no key for {server.shown_url}: set {self._key_source}, or set "
                "OPENAI_BASE_URL to a server that needs none, or try agent-tui --demo."
            )
        return None


def _make_client(url: str, key: Secret, headers: Mapping[str, str]) -> AsyncOpenAI:
    """The SDK's client: it neither retries (the loop does) nor limits the time between chunks.

    Requests are finished bodies and answers are read as they come, so the SDK's models of both,
    hundreds of modules of them, are left where they are.
    """
    with deferring("openai.types", "openai.lib"):
        import openai

    timeout = openai.Timeout(None, connect=_CONNECT_SECONDS, write=_WRITE_SECONDS)
    client = openai.AsyncOpenAI(
        base_url=url,
        api_key=key.reveal() or _NO_KEY,
        max_retries=0,
        timeout=timeout,
        default_headers=headers,
        # No redirect is followed: it would take the conversation to another server.
        http_client=openai.DefaultAsyncHttpxClient(
            verify=trusted_by(url),
            follow_redirects=False,
            event_hooks={"response": [cut_refusal]},
        ),
    )
    for module in ("agent_tui.providers.chat_exchange", "anyio._backends._asyncio"):
        with contextlib.suppress(ImportError):  # else imported on the loop by the first request
            importlib.import_module(module)
    return client


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
