"""What the agent asks of a provider: one request in, a stream of typed parts out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Protocol

from agent_tui.core.dataclass import dataclass
from agent_tui.core.events import StreamPart
from agent_tui.core.records import Message


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as the model is told of it; ``parameters`` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything that one call sends."""

    model: str
    system_prompt: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_output_tokens: int | None = None


class Provider(Protocol):
    """Streams one reply for one request.

    ``stream`` yields StreamParts and ends with exactly one ReplyEnded. It raises ProviderError
    (with ``retryable`` and ``retry_after_seconds`` set) and never retries by itself: the loop does.
    """

    @property
    def name(self) -> str:
        """The provider's name in config and in records."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        """Ask the model and yield its reply as it arrives."""
        ...

    def warm(self) -> None:
        """Load what the first request needs; blocks, in any thread, and never fails."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
