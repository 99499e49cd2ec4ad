"""A server's tool as the agent's own tools are: described, approved, called."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeAlias

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import Display, ToolResult
from agent_tui.core.text import reveal
from agent_tui.mcp.argument_check import find_mistake
from agent_tui.mcp.offered_tool import OfferedTool
from agent_tui.mcp.results import cut_middle
from agent_tui.tools.base import PlainArguments, Tool, ToolContext
from agent_tui.tools.blobs import LARGEST_BLOB_BYTES

Call: TypeAlias = Callable[[OfferedTool, dict[str, Any], int], Awaitable[ToolResult]]
"""Calls a server's tool with arguments; the last is how many characters come back at most."""


class BorrowedTool(Tool[PlainArguments]):
    """One tool of a server. What a server says of its harmlessness is not believed: it acts."""

    parameters = PlainArguments
    acts = True

    def __init__(self, offered: OfferedTool, call: Call) -> None:
        self.offered = offered
        self.name = offered.name
        self.description = offered.description or reveal(f"{offered.own_name} of {offered.server}.")
        self._call = call

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BorrowedTool) and other.offered == self.offered

    def __hash__(self) -> int:
        return hash(self.offered.digest)

    def schema(self) -> dict[str, Any]:
        return self.offered.schema

    def title(self, arguments: PlainArguments) -> str:
        return reveal(f"{self.offered.own_name} of the MCP server {self.offered.server}")

    async def preview(self, arguments: PlainArguments, context: ToolContext) -> Display | None:
        # A model is told of wrong arguments before a person is asked about them.
        if mistake := find_mistake(self.offered.schema, arguments.model_dump(mode="json")):
            raise ToolError(f"Wrong arguments for {self.offered.name}: {mistake}.")
        return None

    async def run(self, arguments: PlainArguments, context: ToolContext) -> ToolResult:
        fields = arguments.model_dump(mode="json")
        result = await self._call(self.offered, fields, LARGEST_BLOB_BYTES)
        told = await asyncio.to_thread(
            cut_middle, result.output, context.output_limit, context.blobs
        )
        return replace(result, output=told)
