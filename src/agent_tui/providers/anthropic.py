"""Servers of Anthropic's Messages API, over HTTP as it is: no SDK stands between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from agent_tui.core.records import AssistantMessage, Message
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.certificates import trusted_by
from agent_tui.providers.failures import Server
from agent_tui.providers.model_facts import ModelFacts
from agent_tui.providers.remote import CONNECT_SECONDS, WRITE_SECONDS, RemoteProvider

if TYPE_CHECKING:
    import httpx2

    from agent_tui.providers.anthropic_exchange import AnthropicExchange

DEFAULT_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"


class Anthropic(RemoteProvider["httpx2.AsyncClient"]):
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

    default_url = DEFAULT_URL
    url_examples = DEFAULT_URL

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

        url = base_url.strip().rstrip("/").removesuffix("/v1")
        super().__init__(url, api_key, name, key_source, headers, timeout_seconds)
        self._facts_of = facts_of
        self._quirks = Quirks()
        self._bodies = AnthropicBodies()

    def _exchange(
        self, client: httpx2.AsyncClient, request: ModelRequest, server: Server
    ) -> AnthropicExchange:
        from agent_tui.providers.anthropic_exchange import AnthropicExchange

        facts = self._facts_of(request.model)
        write = partial(
            self._bodies.write, request, self._quirks, facts.thinking_level, facts.max_output_tokens
        )
        used = partial(_call_ids, request.messages)
        return AnthropicExchange(client, server, write, self._quirks, self._timeout_seconds, used)

    def _connect(self) -> httpx2.AsyncClient:
        import httpx2

        timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS, write=WRITE_SECONDS)
        headers = {
            "anthropic-version": API_VERSION,
            "content-type": "application/json",
            "accept": "text/event-stream",
            **self._headers,
        }
        if self._key:
            headers["x-api-key"] = self._key.reveal()
        return httpx2.AsyncClient(
            base_url=self._url, headers=headers, timeout=timeout, verify=trusted_by(self._url)
        )

    async def _disconnect(self, client: httpx2.AsyncClient) -> None:
        await client.aclose()


def _call_ids(messages: Iterable[Message]) -> set[str]:
    answers = (message for message in messages if isinstance(message, AssistantMessage))
    return {call.id for message in answers for call in message.tool_calls}
