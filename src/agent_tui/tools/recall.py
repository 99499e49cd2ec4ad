"""Search in what is no longer in the context."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from pydantic import Field, model_validator

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import ToolResult
from agent_tui.core.text import format_count, reveal
from agent_tui.tools.base import Arguments, Tool, ToolContext
from agent_tui.tools.output import cut_text


class Message(Protocol):
    """A message that left the context."""

    @property
    def key(self) -> str: ...
    @property
    def speaker(self) -> str: ...
    @property
    def place(self) -> str: ...
    @property
    def at(self) -> str: ...
    @property
    def text(self) -> str: ...


class Found(Protocol):
    """One message with the words that fit."""

    @property
    def message(self) -> Message: ...
    @property
    def text(self) -> str: ...


class Findings(Protocol):
    """What a search came to."""

    @property
    def snippets(self) -> Sequence[Found]: ...
    @property
    def fitting(self) -> int: ...
    @property
    def searched(self) -> int: ...


class Memory(Protocol):
    """What searches the session; both methods block."""

    def search(self, query: str, limit: int) -> Findings: ...
    def message(self, key: str) -> Message | None: ...


class RecallArguments(Arguments):
    """What to look for, or which message to read whole."""

    query: str = Field(
        default="",
        description="Words to look for: exact names, paths, numbers or error texts work best.",
    )
    message: str = Field(
        default="", description="The id of one message, to read the whole of it instead."
    )
    limit: int = Field(default=8, ge=1, le=30, description="How many messages to show at most.")

    @model_validator(mode="after")
    def _one_of_both(self) -> RecallArguments:
        if bool(self.query.strip()) == bool(self.message.strip()):
            raise ValueError("give either 'query' or 'message'")
        return self


class Recall(Tool[RecallArguments]):
    """Finds earlier messages of this session that were compacted, masked or reverted."""

    name = "recall"
    description = (
        "Search the earlier messages of this session that are no longer in your context because "
        "they were summarised, masked, reverted or left on another branch. Use it before asking "
        "the user again or redoing work. With 'message' it gives one message as it was."
    )
    parameters = RecallArguments

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def title(self, arguments: RecallArguments) -> str:
        return reveal(arguments.query or f"message {arguments.message}")

    async def run(self, arguments: RecallArguments, context: ToolContext) -> ToolResult:
        if arguments.message:
            return ToolResult(await self._read(arguments.message.strip(), context))
        found = await asyncio.to_thread(self._memory.search, arguments.query, arguments.limit)
        if not found.snippets:
            return ToolResult(
                f"Nothing found in {format_count(found.searched, 'earlier message')}. "
                "Try fewer or other words."
            )
        head = f"{found.fitting:,} of {format_count(found.searched, 'earlier message')} match."
        return ToolResult("\n\n".join([head, *map(_show, found.snippets)]))

    async def _read(self, key: str, context: ToolContext) -> str:
        message = await asyncio.to_thread(self._memory.message, key)
        if message is None:
            raise ToolError(f"There is no earlier message {key!r}: search with 'query' first.")
        return f"{_head(message)}\n{cut_text(message.text, context.output_limit, context.blobs)}"


def _head(message: Message) -> str:
    at = f", {message.at[:16]}" if message.at else ""
    return f"[{message.key}] {message.speaker} ({message.place}{at})"


def _show(found: Found) -> str:
    return f"{_head(found.message)}\n{found.text}"
