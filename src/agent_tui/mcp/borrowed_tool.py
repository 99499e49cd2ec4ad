"""A server's tool as the agent's own tools are: described, approved, called."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeAlias

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import Display, ToolResult
from agent_tui.core.text import reveal
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
        self.description = offered.description or f"{offered.own_name} of {offered.server}."
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
        _check(self.offered, arguments.model_dump(mode="json"))
        return None

    async def run(self, arguments: PlainArguments, context: ToolContext) -> ToolResult:
        fields = arguments.model_dump(mode="json")
        result = await self._call(self.offered, fields, LARGEST_BLOB_BYTES)
        told = await asyncio.to_thread(
            cut_middle, result.output, context.output_limit, context.blobs
        )
        return replace(result, output=told)


def _check(offered: OfferedTool, fields: dict[str, Any]) -> None:
    """Tell a model of wrong arguments before a person is asked about them."""
    from jsonschema import Draft202012Validator

    try:
        troubles = Draft202012Validator(_without_references(offered.schema)).iter_errors(fields)
        first = next(iter(troubles), None)
    except Exception:  # whatever an odd schema makes the library raise
        return  # what nobody can check here is the server's to check
    if first is not None:
        where = ".".join(str(each) for each in first.absolute_path) or "the object"
        raise ToolError(f"Wrong arguments for {offered.name}: {where}: {first.message[:300]}.")


def _without_references(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, refused where it points elsewhere or brings a pattern that may never end.

    Raises:
        ValueError: it cannot be checked safely.
    """
    waiting: list[Any] = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if "pattern" in each or "patternProperties" in each or "$dynamicRef" in each:
                raise ValueError("not checked")
            if not str(each.get("$ref", "#")).startswith("#"):
                raise ValueError("not checked")
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return schema
