"""What stands in when no model is configured: every request is answered by how to connect one."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import StreamPart
from agent_tui.core.words import NO_PROVIDER
from agent_tui.providers.base import ModelRequest


class Unconnected:
    """A provider that refuses in words; sessions can still be browsed, reverted and exported."""

    def __init__(self, how_to_connect: str) -> None:
        self._how_to_connect = how_to_connect

    @property
    def name(self) -> str:
        return NO_PROVIDER

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        """Refuse, and say what to do."""
        raise ProviderError(self._how_to_connect)
        yield  # makes this an asynchronous generator, as the protocol wants

    def warm(self) -> None:
        """Nothing is needed."""

    async def aclose(self) -> None:
        """Nothing is held."""
