"""What any provider behind an address is: connected before it is needed, asked once a reply."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar
from urllib.parse import urlsplit

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import StreamPart
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.failures import Server
from agent_tui.providers.secret import Secret

if TYPE_CHECKING:
    from agent_tui.providers.exchange import Exchange

CONNECT_SECONDS = 15.0
WRITE_SECONDS = 60.0

AnyClient = TypeVar("AnyClient")


class RemoteProvider(ABC, Generic[AnyClient]):
    """A provider behind an address; each API says how it connects and what an exchange is.

    Args:
        url: the server.
        api_key: empty for servers that want none.
        name: the provider's name in settings and records.
        key_source: where the key came from, in words, for error messages.
        headers: more headers for every request.
        timeout_seconds: how long the server may be silent: before the first token, in all, and
            between two chunks.
    """

    default_url: ClassVar[str]
    """The server that always wants a key."""
    url_examples: ClassVar[str]
    """What an address looks like, in words."""
    without_key: ClassVar[str] = ""
    """What else helps whoever has no key, as the end of a sentence."""

    def __init__(
        self,
        url: str,
        api_key: str,
        name: str,
        key_source: str,
        headers: Mapping[str, str] | None,
        timeout_seconds: float,
    ) -> None:
        self._name = name
        self._url = url
        self._key = Secret(api_key.strip())
        self._key_source = key_source
        self._headers = dict(headers or {})
        self._timeout_seconds = timeout_seconds
        self._client: AnyClient | None = None
        self._warming = threading.Lock()

    @abstractmethod
    def _connect(self) -> AnyClient:
        """Import the library that speaks to the server, and make its client."""

    @abstractmethod
    def _exchange(self, client: AnyClient, request: ModelRequest, server: Server) -> Exchange[Any]:
        """What asks for one reply and listens to it."""

    @abstractmethod
    async def _disconnect(self, client: AnyClient) -> None:
        """Close the connections of a client."""

    @property
    def name(self) -> str:
        return self._name

    def warm(self) -> None:
        """Import the library and make the client: off the event loop, before it is needed.

        Any thread may call it, any number of times. It never fails: a key or an address that
        cannot work is told by the first request.
        """
        with self._warming:
            if self._client is None and self._refusal() is None:
                self._client = self._connect()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        """Ask the model and yield its reply as it arrives; see Provider."""
        if self._client is None:
            await asyncio.to_thread(self.warm)
        if self._client is None:
            raise self._refusal() or ProviderError("The provider was closed.")
        exchange = self._exchange(self._client, request, self._server(request.model))
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
            await self._disconnect(client)

    def _server(self, model: str = "") -> Server:
        return Server(self._url, model, self._key, self._key_source)

    def _refusal(self) -> ProviderError | None:
        """Why a request cannot even be tried."""
        server = self._server()
        if not _is_web_address(self._url):
            return ProviderError(
                f"The base URL {server.quote(self._url)} is not a server address; expected one "
                f"like {self.url_examples}."
            )
        if any(not "!" <= character <= "~" for character in self._key.reveal()):
            return ProviderError(
                f"The key from {self._key_source} holds spaces, line breaks or letters that no "
                "key can have: copy it again."
            )
        if not self._key and self._url == self.default_url:
            return ProviderError(
                f"There is no key for {server.shown_url}: set {self._key_source}{self.without_key}."
            )
        return None


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
